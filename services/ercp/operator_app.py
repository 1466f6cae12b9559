"""The operators one by one, and reading traces (ERCP 1.0 §3.2-§3.7).

Each call appends one event to its trace. A repeat under the same request id is recognised by that event: the operator
is carried out again without writing, from the same window where it generated, and answers as the first time.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from services.common.computing import compute
from services.common.concurrency import KeyedLock, remaining_s
from services.common.context import current_call
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, NotFoundError
from services.common.progress import at, stored
from services.ercp.deciding import ExtractCommand, Extraction, MutateCommand, Mutation, Stability
from services.ercp.domain import readings
from services.ercp.domain.constraint_checks import check_constraints
from services.ercp.domain.identifiers import derived_uuid
from services.ercp.domain.records import Constraint, Decoding, Passage, Problem, Reasoning
from services.ercp.domain.trace import TraceEvent
from services.ercp.domain.unknown import UnknownFields
from services.ercp.domain.vocabulary import Operator
from services.ercp.generating import Candidate, GenerateCommand
from services.ercp.journal import Journal, RequestMark, TraceWriter, mismatch, read_all
from services.ercp.operator_results import OperatorResult
from services.ercp.ports import Knowledge, Provenance, TraceSession, Window
from services.ercp.run_counts import RunCounts
from services.ercp.run_parts import OperatorParts
from services.ercp.verifying import Verification, VerifyCommand

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Call:
    """What makes a call recognisable; ``trace_id`` empty lets it follow from the request id.

    Attributes:
        body_sha256: of the request without its ids.
        unknown: what the request holds beyond what this version knows (§10).
    """

    rpc: str
    request_id: str
    body_sha256: str
    trace_id: str = ""
    unknown: tuple[UnknownFields, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer(Generic[ResultT]):
    """An operator's result with the event that records it."""

    result: ResultT
    session_id: str
    event: TraceEvent


@dataclass(frozen=True, slots=True)
class TraceRead:
    """A whole trace."""

    trace_id: str
    session_id: str
    events: tuple[TraceEvent, ...]
    timestamp: datetime


@dataclass(slots=True)
class _Turn:
    """One call under way; ``known`` is the event of an earlier one under the same request id."""

    journal: Journal
    name: str
    known: TraceEvent | None


class OperatorApp:
    """Carries single operators out; ``counts`` takes how verified texts stand to their constraints."""

    def __init__(
        self,
        parts: OperatorParts,
        provenance: Provenance,
        scribe: TraceWriter,
        turns: KeyedLock,
        counts: RunCounts,
    ) -> None:
        self._parts = parts
        self._provenance = provenance
        self._scribe = scribe
        self._clock = scribe.clock
        self._turns = turns
        self._counts = counts

    async def generate(
        self, call: Call, problem: Problem, constraints: tuple[Constraint, ...], model: str, decoding: Decoding
    ) -> Answer[Reasoning]:
        """Write one candidate (§3.2).

        Raises:
            InvalidRequestError: INVALID_FIELD: immutable constraints cannot hold together; names them.
            PreconditionError: REQUEST_ID_REUSED, TRACE_MISMATCH.
            UnavailableError: LLM_UNAVAILABLE and others.
        """
        await self._refuse_contradictory(constraints)
        knowledge = await self._parts.knowledge.retrieve(problem.description)

        async def perform(turn: _Turn) -> OperatorResult[Candidate]:
            ask = GenerateCommand(turn.name, problem, constraints, knowledge, decoding, model, remaining_s())
            if turn.known is not None:
                session = TraceSession(turn.journal.session_id, "")
                was_cut = bool(turn.known.output_summary.get("was_cut"))
                again = await self._parts.generating.again(ask, session, turn.known.window_id, was_cut=was_cut)
                return OperatorResult(again, {}, {}, turn.known.identity)
            return await self._parts.generating.generate(ask, await turn.journal.session())

        answer = await self._once(call, Operator.GENERATE, perform)
        return Answer(answer.result.reasoning, answer.session_id, answer.event)

    async def verify(self, call: Call, ask: VerifyCommand, passages: tuple[Passage, ...]) -> Answer[Verification]:
        """Find the errors of a text (§3.3); ``ask.knowledge`` says whether facts are checked, and is filled here."""

        async def perform(turn: _Turn) -> OperatorResult[Verification]:
            knowledge = await self._knowledge(ask, passages)
            held = knowledge or self._parts.knowledge.given(())
            window = Window(turn.journal.session_id, derived_uuid(turn.name, "window")[:36], 1)
            segments = await self._parts.generating.segmented(ask.text)
            sentences = segments.sentences or await compute(readings.sentences_of, ask.text)
            question = ask.question or (sentences[0].text if sentences else "text")
            obeyed = await compute(check_constraints, ask.text, sentences, ask.constraints)
            analysis = await self._provenance.analyze(question, ask.text, held, window, obeyed.verdicts)
            whole = replace(
                ask,
                name=turn.name,
                sentences=sentences,
                analysis=analysis,
                knowledge=knowledge,
                facts=obeyed.facts,
            )
            verified = await self._parts.verifying.verify(whole)
            if turn.known is None:
                self._counts.stood(verified.result.outcomes)
            return verified

        return await self._once(call, Operator.VERIFY, perform)

    async def extract(self, call: Call, ask: ExtractCommand) -> Answer[Extraction]:
        """Derive constraints from errors (§3.4)."""

        async def perform(turn: _Turn) -> OperatorResult[Extraction]:
            return await self._parts.deciding.extract(replace(ask, name=turn.name))

        return await self._once(call, Operator.EXTRACT, perform)

    async def stabilize(self, call: Call, previous: str, current: str, threshold: float) -> Answer[Stability]:
        """Compare two candidates (§3.5)."""

        async def perform(_: _Turn) -> OperatorResult[Stability]:
            return await self._parts.deciding.stabilize(previous, current, threshold)

        return await self._once(call, Operator.STABILIZE, perform)

    async def mutate(self, call: Call, ask: MutateCommand) -> Answer[Mutation]:
        """Change a problem (§3.6)."""

        async def perform(_: _Turn) -> OperatorResult[Mutation]:
            return await self._parts.deciding.mutate(ask)

        return await self._once(call, Operator.MUTATE, perform)

    async def trace(self, trace_id: str) -> TraceRead:
        """Read a whole trace (§3.7).

        Raises:
            NotFoundError: TRACE_NOT_FOUND.
            PreconditionError: TRACE_MISMATCH: it holds an event that this deployment did not sign.
        """
        stored = await self._scribe.sessions.find(trace_id)
        if stored is None:
            text = "there is no such trace; check the id"
            raise NotFoundError(ErrorReason.TRACE_NOT_FOUND, text, trace_id=trace_id)
        events = tuple(each.event for each in read_all(stored, trace_id, self._scribe.signer))
        return TraceRead(trace_id, stored.session_id, events, self._clock.now())

    async def _once(
        self, call: Call, operator: Operator, perform: Callable[[_Turn], Awaitable[OperatorResult[ResultT]]]
    ) -> Answer[ResultT]:
        """Carry an operator out and record it, or answer as the first time."""
        trace_id = call.trace_id or derived_uuid("trace", call.request_id)
        async with self._turns.lock(current_call().caller.tenant_id, trace_id):
            at(f"the operator {operator.value}")
            turn = await self._turn(call, trace_id)
            performed = await perform(turn)
            event = turn.known or await turn.journal.record(operator, performed)
            stored()
        return Answer(performed.result, turn.journal.session_id, event)

    async def _turn(self, call: Call, trace_id: str) -> _Turn:
        mark = RequestMark(call.rpc, call.request_id, call.body_sha256)
        stored = await self._scribe.sessions.find(trace_id)
        known = None
        for each in read_all(stored, trace_id, self._scribe.signer) if stored is not None else []:
            if each.mark.is_run or (each.mark.request_id == call.request_id and each.mark != mark):
                raise mismatch(trace_id, each.mark, mark)
            if each.mark == mark:
                known = each.event
        journal = await Journal.opened(self._scribe, trace_id, mark, stored)
        journal.unknown = call.unknown
        return _Turn(journal, f"{trace_id}/{call.request_id}", known)

    async def _knowledge(self, ask: VerifyCommand, passages: tuple[Passage, ...]) -> Knowledge | None:
        if ask.knowledge is None:
            return None
        if passages:
            return self._parts.knowledge.given(passages)
        return await self._parts.knowledge.retrieve(ask.question or ask.text)

    async def _refuse_contradictory(self, constraints: tuple[Constraint, ...]) -> None:
        fixed = [each for each in constraints if each.immutable]
        answer = await self._parts.deciding.consistency(fixed)
        if answer.core:
            text = f"immutable constraints cannot hold together: {', '.join(answer.core)}. {answer.reason}"
            raise InvalidRequestError.of(FieldViolation("constraints", text))
