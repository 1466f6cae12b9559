"""The trace being written: each operator that ran becomes a signed event in the trace's session (ERCP 1.0 §4.3, §5).

A trace that is there already is read first. Its events are given back in order, not written again, so that a run that
was broken off goes on after the last of them (ADR 0073). Texts are redacted before they are signed and sent (§11).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.common.clock import Clock
from services.common.errors import ErrorReason, PreconditionError
from services.ercp.domain import trace
from services.ercp.domain.identifiers import derived_uuid
from services.ercp.domain.trace import TraceEvent
from services.ercp.domain.unknown import UnknownFields, told
from services.ercp.domain.vocabulary import Operator
from services.ercp.operator_results import OperatorResult
from services.ercp.ports import NodeSigner, Redactor, StoredEvent, StoredTrace, TraceSession, TraceSessions

EVENT: Final = "trace_event"
REQUEST: Final = "request"
RUN: Final = "Run"


@dataclass(frozen=True, slots=True)
class RequestMark:
    """Which request an event belongs to: what makes a repeat recognisable.

    Attributes:
        rpc: ``Run`` for both forms of a run.
        request_id: the caller's.
        body_sha256: of the request without its ids.
    """

    rpc: str
    request_id: str
    body_sha256: str

    @property
    def is_run(self) -> bool:
        """Whether the request is a whole run."""
        return self.rpc == RUN


@dataclass(frozen=True, slots=True)
class Recorded:
    """A stored event and the request that it belongs to."""

    event: TraceEvent
    mark: RequestMark


@dataclass(frozen=True, slots=True)
class TraceWriter:
    """What events are written with."""

    sessions: TraceSessions
    signer: NodeSigner
    redactor: Redactor
    clock: Clock


class Journal:
    """One trace, for one request; ``unknown`` is what the request holds beyond what this version knows (§10)."""

    def __init__(self, scribe: TraceWriter, trace_id: str, mark: RequestMark, session_id: str) -> None:
        self._scribe = scribe
        self._mark = mark
        self.trace_id = trace_id
        self.session_id = session_id
        self.events: list[TraceEvent] = []
        self.recorded: list[TraceEvent] = []
        self.unknown: Sequence[UnknownFields] = ()
        self.end_reason = ""
        self._session: TraceSession | None = None

    @classmethod
    async def opened(
        cls, scribe: TraceWriter, trace_id: str, mark: RequestMark, stored: StoredTrace | None
    ) -> "Journal":
        """Return the journal of a trace; the session of one that is not stored yet is begun."""
        if stored is not None:
            return cls(scribe, trace_id, mark, stored.session_id)
        session = await scribe.sessions.join(trace_id)
        journal = cls(scribe, trace_id, mark, session.session_id)
        journal.moved(session)
        return journal

    def resume(self, stored: StoredTrace) -> None:
        """Take up what is stored of a run.

        Raises:
            PreconditionError: TRACE_MISMATCH: it is of another request, or not signed by this deployment.
        """
        for each in read_all(stored, self.trace_id, self._scribe.signer):
            if (each.mark.rpc, each.mark.body_sha256) != (self._mark.rpc, self._mark.body_sha256):
                raise mismatch(self.trace_id, each.mark, self._mark)
            self.recorded.append(each.event)
        self.end_reason = stored.end_reason

    @property
    def next_recorded(self) -> TraceEvent | None:
        """The event that the next step has been recorded with, if it has."""
        at = len(self.events)
        return self.recorded[at] if at < len(self.recorded) else None

    @property
    def step(self) -> int:
        """Number of the next step, from 0."""
        return len(self.events)

    def name(self) -> str:
        """Return the name of the next step: ids follow from it."""
        return f"{self.trace_id}/{self.step}"

    async def session(self) -> TraceSession:
        """Return the trace's session, begun or joined now; windows that an earlier try left open are given up."""
        if self._session is None:
            joined = await self._scribe.sessions.join(self.trace_id)
            for window_id in joined.pending:
                request_id = derived_uuid(window_id, "fail")
                await self._scribe.sessions.fail_window(request_id, joined.session_id, window_id, "ABANDONED")
            self._session = joined
        return self._session

    def moved(self, session: TraceSession) -> None:
        """Note the session after a window was committed."""
        self._session = session

    async def record(self, operator: Operator, performed: OperatorResult[Any]) -> TraceEvent:
        """Write the next event, or give the recorded one back.

        Raises:
            PreconditionError: TRACE_MISMATCH: another operator stands there.
        """
        known = self.next_recorded
        if known is not None:
            self._check_same(known, operator)
            self.events.append(known)
            return known
        await self.session()
        event = await self._event(operator, performed)
        signed = trace.signed(event, self._scribe.signer.sign(self.session_id, trace.document(event)))
        data = {
            EVENT: trace.document(signed),
            REQUEST: {
                "rpc": self._mark.rpc,
                "request_id": self._mark.request_id,
                "body_sha256": self._mark.body_sha256,
            },
        }
        request_id = derived_uuid(signed.event_id, "append")
        await self._scribe.sessions.append(request_id, self.session_id, signed.window_id, data)
        self.events.append(signed)
        return signed

    async def end(self, reason: str) -> None:
        """End the session; once."""
        if not self.end_reason:
            await self.session()
            await self._scribe.sessions.end(derived_uuid(self.trace_id, "end"), self.session_id, reason)
            self.end_reason = reason

    async def _event(self, operator: Operator, performed: OperatorResult[Any]) -> TraceEvent:
        beside = {} if self.events else told(self.unknown)  # §10: a request's first event tells what else it asked
        whole = trace.bounded({"input": {**performed.inputs, **beside}, "output": performed.outputs})
        texts = await self._scribe.redactor.redact(trace.told_texts(whole))
        clean = trace.with_texts(whole, list(texts))
        return TraceEvent(
            event_id=derived_uuid(self.trace_id, self._mark.request_id, "event", str(self.step)),
            trace_id=self.trace_id,
            timestamp=self._scribe.clock.now(),
            operator=operator,
            input_summary=clean["input"],
            output_summary=clean["output"],
            identity=performed.identity,
            decoding=performed.decoding,
            window_id=performed.window_id,
        )

    def _check_same(self, known: TraceEvent, operator: Operator) -> None:
        if known.operator is not operator:
            text = f"step {self.step} is {known.operator}, this run would {operator}: start a new trace"
            raise PreconditionError(ErrorReason.TRACE_MISMATCH, text, trace_id=self.trace_id, step=str(self.step))


def read_all(stored: StoredTrace, trace_id: str, signer: NodeSigner) -> list[Recorded]:
    """Return a stored trace's events.

    Raises:
        PreconditionError: TRACE_MISMATCH: an event is not signed by this deployment, or is of another trace.
    """
    return [_recorded(each, stored.session_id, trace_id, signer) for each in stored.events]


def _recorded(stored: StoredEvent, session_id: str, trace_id: str, signer: NodeSigner) -> Recorded:
    try:
        value: Mapping[str, Any] = stored.data[EVENT]
        event = trace.from_document(value, stored.window_id)
        mark = RequestMark(**stored.data[REQUEST])
        holds = event.trace_id == trace_id and signer.holds(session_id, value)
    except (KeyError, TypeError, ValueError):
        holds = False
    if not holds:
        text = "the trace holds an event that this deployment did not sign; it cannot be read or continued"
        raise PreconditionError(ErrorReason.TRACE_MISMATCH, text, trace_id=trace_id)
    return Recorded(event, mark)


def mismatch(trace_id: str, held: RequestMark, asked: RequestMark) -> PreconditionError:
    """Return the error of a request that does not fit what its trace was begun with."""
    if held.request_id == asked.request_id and held.rpc == asked.rpc:
        text = f"request_id {asked.request_id} was used for another {asked.rpc} request; take a fresh UUID"
        return PreconditionError(
            ErrorReason.REQUEST_ID_REUSED, text, request_id=asked.request_id, rpc=asked.rpc, trace_id=trace_id
        )
    text = (
        f"the trace was begun by {held.rpc} with another problem, config or constraints; repeat that request, "
        "or leave trace_id empty to start a new trace"
    )
    return PreconditionError(ErrorReason.TRACE_MISMATCH, text, trace_id=trace_id, begun_by=held.rpc)
