"""What a dispatch is asked to do, in the gateway's own words, and what it comes to."""

import hashlib
import uuid
from dataclasses import dataclass, field, fields
from typing import Final, TypeAlias

from services.common.envelope_request import EnvelopeWishes
from services.common.taxonomy import BreakerState, DispatchStrategy, GroundingMode, QualityTier
from services.gateway.domain.agent_state import AgentState
from services.gateway.domain.completion import Completion, ModelCall
from services.gateway.domain.headers import Header
from services.gateway.domain.outcome import PolicyRequest, Verdict
from services.gateway.domain.quality import QualityUpgrade
from services.gateway.domain.remedies import Focus, RemedyRound
from services.gateway.domain.summaries import CarriedTransfer
from services.gateway.domain.suspicion import Suspicion
from services.gateway.domain.tools import ToolCall
from services.gateway.domain.vocabulary import FanInPolicy, OversightMode, RemedyMode
from services.gateway.domain.window import CommittedWindow, EnvelopeSummary, ReportSummary, WindowPlace


@dataclass(frozen=True, slots=True)
class Continuation:
    """Where the query continues: nothing of it given = a new session (SPEC-004 §4.1).

    Attributes:
        branch: beside the reflexive window that continues there (§1.2).
    """

    session_token: str = ""
    session_id: str = ""
    continuation_ids: tuple[str, ...] = ()
    fan_in_policy: FanInPolicy | None = None
    branch: bool = False
    agent_sessions: tuple[str, ...] = ()

    @property
    def merges(self) -> int:
        """Count the windows that are continued or merged; agents' sessions count as one each (SPEC-004 §7, §15.1)."""
        named = len(self.continuation_ids)
        return max(1, named) + len(self.agent_sessions) if self.agent_sessions else named

    @property
    def is_root(self) -> bool:
        """Say whether a new session is asked for."""
        return not self.session_token and not self.continuation_ids


@dataclass(frozen=True, slots=True)
class Agent:
    """What a calling agent says about itself (SPEC-004 §15); ``None`` = nothing."""

    session_parent: str = ""
    loop_depth: int | None = None
    safety_budget: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWishes(EnvelopeWishes):
    """How the envelope shall be built, and the ETag that may stand in for it (SPEC-003 §11)."""

    if_match: str = ""


@dataclass(frozen=True, slots=True)
class Generation:
    """How the model is called; ``None`` and empty = the deployment's defaults."""

    model: str = ""
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    system_prompt: str = ""


@dataclass(frozen=True, slots=True)
class DispatchCommand:
    """One query.

    Attributes:
        body_hash: digest of the whole request without its id; another body under the same id is refused.
        strategies: most wanted first; empty = no wish.
        tools: that strategy agentic may have called; empty = all that there are.
        earlier_questions: of the user, in a conversation that the caller keeps, oldest first.
    """

    request_id: str
    body_hash: str
    query: str
    continuation: Continuation = field(default_factory=Continuation)
    strategies: tuple[DispatchStrategy, ...] = ()
    grounding_mode: GroundingMode = GroundingMode.CONTEXT_PREFERRED
    generation: Generation = field(default_factory=Generation)
    context: ContextWishes = field(default_factory=ContextWishes)
    policy: PolicyRequest = field(default_factory=PolicyRequest)
    agent: Agent = field(default_factory=Agent)
    ai_system_id: str = ""
    tools: tuple[str, ...] = ()
    safety_report_uri: str = ""
    remedies: RemedyMode | None = None
    earlier_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepIds:
    """Request ids of one try's steps, derived from the caller's: the same request and try give the same ids.

    They look like random UUIDs (version 4), which is what the services take, and are as hard to guess as the caller's.
    """

    open: str
    commit: str
    fail: str
    draft: str
    event: str
    classified: str
    remedies: str
    degraded: str
    injected: str
    review: str
    decided: str
    tools: str

    @classmethod
    def of(cls, request_id: str, attempt: int) -> "StepIds":
        """Derive the ids of the 0-based ``attempt``."""
        return cls(*(_derived(f"{request_id}/{attempt}/{step.name}") for step in fields(cls)))


def derived_id(request_id: str, step: str) -> str:
    """Return the request id of a further step of a request; the same step gives the same id."""
    return _derived(f"{request_id}/{step}")


def _derived(name: str) -> str:
    digest = hashlib.sha256(f"groundtrail-dispatch/{name}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the caller should know and that broke nothing; ``code`` in upper snake case, never content."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class DispatchDraft:
    """An analysed answer on the eve of its commit: kept before it, so that a retry commits the very same one.

    Attributes:
        report_message: the serialised ``crp.dpe.v1.DpeReport``.
        inputs_message: the serialised ``crp.dpe.v1.AnalysisInputs``; empty when they are not to be kept.
        tier: the envelope's tier lowered by the answer's quality (SPEC-005 §18.4).
        verdict: with a halt reason the window is given up instead of committed (SPEC-004 §16.3).
        transfers: what flowed along edges that were opened as SUMMARY.
        calls: calls of the model, in the order in which they ended.
        rounds: what was tried to better the answer, in order.
        focus: what the gateway shall continue with by itself; ``None`` = nothing.
        upgrade: the attempt that reached a tier which the caller accepts; ``None`` = none was needed (SPEC-003 §8.4).
        suspicions: what of the window speaks to a model: query, what earlier windows handed on, facts (ADR 0145).
        tool_calls: that were to be made.
        sub_queries: the parts of the query, as the envelope was searched for them.
        agent: how far its strategy came in steps; ``None`` = it is answered in one.
    """

    place: WindowPlace
    envelope: EnvelopeSummary
    report: ReportSummary
    report_message: bytes
    written: Completion
    tier: QualityTier
    strategy: DispatchStrategy
    verdict: Verdict
    policy_applied: str
    oversight: OversightMode
    notices: tuple[Notice, ...]
    inputs_message: bytes = b""
    transfers: tuple[CarriedTransfer, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    rounds: tuple[RemedyRound, ...] = ()
    focus: Focus | None = None
    upgrade: QualityUpgrade | None = None
    suspicions: tuple[Suspicion, ...] = ()
    agent: AgentState | None = None
    sub_queries: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One committed window of an answer."""

    draft: DispatchDraft
    committed: CommittedWindow


PART_BREAK: Final = "\n\n"
"""What stands between two windows' answers (SPEC-005 §10.3, 4)."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer is delivered (200): one window's, or that of several which the gateway continued (SPEC-005 §10.3)."""

    parts: tuple[Part, ...]

    @property
    def last(self) -> Part:
        """The window that the session goes on from."""
        return self.parts[-1]

    @property
    def text(self) -> str:
        """The whole answer."""
        return PART_BREAK.join(part.draft.written.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Halted:
    """The answer is withheld (451); ``report`` is ``None``, and its message empty, when it came to no answer."""

    place: WindowPlace
    halt_reason: str
    retry_condition: str
    report: ReportSummary | None = None
    report_message: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class NotModified:
    """The presented ETag still holds (304)."""

    etag: str
    cache_status: str


@dataclass(frozen=True, slots=True)
class HeldForReview:
    """The answer waits for a person (202); ``reason`` is what asked for that."""

    place: WindowPlace
    review_id: str
    reason: str


Outcome: TypeAlias = Answered | Halted | NotModified | HeldForReview


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """What a dispatch came to, with the headers that say so.

    Attributes:
        breaker: circuit breaker of the safety budget after the window, or as it was opened; ``None`` without one.
        place: the window; ``None`` without one.
        report: of the answer, delivered or not; ``None`` without one.
        policy_applied: the policy in force, as headers show it.
        tool_calls: of all of its windows.
    """

    outcome: Outcome
    headers: tuple[Header, ...]
    verdict: Verdict
    notices: tuple[Notice, ...]
    rounds: tuple[RemedyRound, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    upgrades: tuple[tuple[str, QualityUpgrade], ...] = ()
    breaker: BreakerState | None = None
    place: WindowPlace | None = None
    report: ReportSummary | None = None
    policy_applied: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
