"""Messages of OverseeStream: in, and out."""

from typing import Any, Final

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.settings.guard.oversight import OversightSettings
from services.common.streaming.halting import Halt
from services.common.streaming.oversight import Step, TokenState
from services.common.streaming.rules import HaltMode, HaltReason, HaltRules
from services.dpe.convert.findings import span_message
from services.dpe.convert.guard.grounding_texts import FACT, ids_of
from services.dpe.convert.report import models_messages
from services.dpe.domain.guard.coherence import Exhibit, Origin
from services.dpe.domain.guard.coherence_grounds import GroundText
from services.dpe.domain.guard.stream_messages import End, Ended, Event, Halted, Message, Resume, Start, Token

_STATES: Final[dict[TokenState, Any]] = {
    state: guard_pb2.TokenState.Value(f"TOKEN_STATE_{state}") for state in TokenState
}
_REASONS: Final[dict[HaltReason, Any]] = {
    reason: guard_pb2.HaltReason.Value(f"HALT_REASON_{reason}") for reason in HaltReason
}
_MODES: Final = {
    guard_pb2.HALT_MODE_UNSPECIFIED: HaltMode.HARD,
    guard_pb2.HALT_MODE_HARD: HaltMode.HARD,
    guard_pb2.HALT_MODE_SOFT: HaltMode.SOFT,
}
_LIMITS: Final = (
    "hard_limit",
    "window_tokens",
    "window_threshold",
    "trend_window_tokens",
    "trend_threshold",
    "soft_limit",
    "soft_halt_cap_tokens",
)


def message_of(request: pb.OverseeStreamRequest, settings: OversightSettings) -> Message:
    """Return what a validated message says."""
    match request.WhichOneof("message"):
        case "token":
            return Token(request.token.index, request.token.text)
        case "end":
            return End()
        case "resume":
            return Resume(request.resume.oversight_id, request.resume.resume_after)
        case _:
            return _start(request.start, settings)


def rules_of(start: guard_pb2.StartOversight, settings: OversightSettings) -> HaltRules:
    """Return the rules of a stream: its own, and the server's where it gives none.

    Raises:
        HaltRuleError: a rule is out of its range.
    """
    given = {name: getattr(start if start.HasField(name) else settings, name) for name in _LIMITS}
    return HaltRules(mode=_MODES[start.halt_mode], **given)


def response_of(event: Event) -> pb.OverseeStreamResponse:
    """Return an event as a message."""
    told = event.told
    if type(told) is Step:
        return pb.OverseeStreamResponse(verdict=_verdict(told), event=event.number)
    if isinstance(told, Halted):
        return pb.OverseeStreamResponse(halt=_halt(told.halt, told.evidence), event=event.number)
    assert isinstance(told, Ended)
    return pb.OverseeStreamResponse(summary=_summary(told), event=event.number)


def _start(start: guard_pb2.StartOversight, settings: OversightSettings) -> Start:
    names = ids_of(start.facts, FACT)
    return Start(
        start.prompt,
        tuple(GroundText(name, fact.content) for name, fact in zip(names, start.facts, strict=True)),
        rules_of(start, settings),
        start.score_every_tokens if start.HasField("score_every_tokens") else 1,
        start.oversight_id,
        start.strict,
    )


def _verdict(step: Step) -> guard_pb2.TokenVerdict:
    index, coherence, mean, drop, warning = step.verdict
    return guard_pb2.TokenVerdict(
        index=index,
        coherence=coherence,
        window_mean=mean,
        trend_drop=drop,
        warning=warning,
        state=_STATES[step.state],
        released_index=_place(step.released),
    )


def _halt(halt: Halt, evidence: tuple[Exhibit, ...]) -> guard_pb2.StreamHalt:
    return guard_pb2.StreamHalt(
        reason=_REASONS[halt.reason],
        last_index=_place(halt.last_index),
        broken_at_index=halt.broken_at,
        evidence=[_evidence(one) for one in evidence if one.origin is Origin.FACT],
    )


def _evidence(one: Exhibit) -> guard_pb2.GroundingEvidence:
    return guard_pb2.GroundingEvidence(
        id=one.text_id,
        span=span_message(one.span.start, one.span.end),
        answer_span=span_message(one.answer_span.start, one.answer_span.end),
        similarity=one.similarity,
        contradiction_probability=one.contradiction,
    )


def _summary(ended: Ended) -> guard_pb2.StreamSummary:
    summary = ended.summary
    status = taxonomy_pb2.STAGE_STATUS_DEGRADED if ended.reason else taxonomy_pb2.STAGE_STATUS_COMPLETED
    return guard_pb2.StreamSummary(
        halted=summary.halt is not None,
        tokens=summary.tokens,
        mean_coherence=summary.mean_coherence,
        minimum_coherence=summary.minimum_coherence,
        warnings=summary.warnings,
        status=status,
        reason=ended.reason,
        released_index=_place(ended.released),
        scored_sentences=ended.sentences,
        models=models_messages(ended.models),
    )


def _place(index: int) -> int | None:
    """Return an index as the contract has it: absent where there is none."""
    return None if index < 0 else index
