"""What the gateway needs of the other services and of its own store, in its own words.

The clients of the other services speak for the running call: credential, request id, trace and deadline go along. They
raise the peer's own ``CrpError``; ``UnavailableError`` (SERVICE_UNAVAILABLE) when it does not answer and
``DeadlineError`` when the call's time is up.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol

from services.common.envelope_request import EnvelopeRequest
from services.common.ports.credentials import AiSystemRecord
from services.common.ports.reviews import ReviewRecord
from services.common.taxonomy import (
    BreakerState,
    DispatchStrategy,
    GroundingMode,
    QualityTier,
    RiskLevel,
    WindowStatus,
)
from services.gateway.domain.command import (
    Agent,
    Continuation,
    DispatchCommand,
    DispatchDraft,
    DispatchResult,
    Notice,
    StepIds,
)
from services.gateway.domain.completion import Completion, ModelCall
from services.gateway.domain.summaries import Span, SummaryCheck
from services.gateway.domain.window import (
    Analysis,
    BuiltEnvelope,
    CommittedWindow,
    EnvelopeMessage,
    OpenedWindow,
    PriorWindow,
    ReportSummary,
    WindowPlace,
)


@dataclass(frozen=True, slots=True)
class OpenWindow:
    """What is asked of ``SessionClient.open_window``; the available budget decides the transfer (SPEC-004 §8.2).

    Attributes:
        summariser_available: a summary can be made and verified (SPEC-004 §12); else no edge is opened as SUMMARY.
        policy: the text that ``policy_hash`` is over.
        compared: hashes of the policies that this one was found to be at least as strict as (ADR 0093).
    """

    request_id: str
    continuation: Continuation
    strategy: DispatchStrategy
    policy_hash: str
    agent: Agent
    available_budget_tokens: int
    summariser_available: bool = False
    policy: str = ""
    compared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Analyze:
    """What is asked of ``ProvenanceClient.analyze``; ``envelope`` is the message that the envelope service made.

    Attributes:
        incomplete_level: the least level of an analysis that the deadline cut short (directive incomplete-risk).
        stands_alone: nobody was given an answer of any window before this one (ADR 0160).
    """

    place: WindowPlace
    query: str
    prompt: str
    response_text: str
    envelope: EnvelopeMessage
    prior_windows: tuple[PriorWindow, ...]
    grounding_mode: GroundingMode
    ai_system_id: str
    ai_system: AiSystemRecord | None
    cache_directives: tuple[str, ...]
    sub_queries: tuple[str, ...]
    audit_trail_id: str = ""
    incomplete_level: RiskLevel | None = None
    leans_on: tuple[str, ...] = ()
    stands_alone: bool = False


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about a held answer.

    Attributes:
        request_id: of the audit event.
        decision: APPROVED, REJECTED or EXPIRED.
        decided_by, author: subjects of credentials; nobody decided what expired.
        comment_sha256: of the reviewer's words; empty for none.
    """

    request_id: str
    place: WindowPlace
    review_id: str
    decision: str
    decided_by: str
    author: str
    comment_sha256: str


class SessionClient(Protocol):
    """The dag service. Every write is idempotent by its request id."""

    async def open_window(self, command: OpenWindow) -> OpenedWindow:
        """Open a PENDING window, or return the one that this request id opened."""
        ...

    async def window_status(self, session_id: str, window_id: str) -> WindowStatus:
        """Return how far a window has come."""
        ...

    async def commit_window(self, request_id: str, draft: DispatchDraft) -> CommittedWindow:
        """Commit the draft's window, or return what this request id's commit answered."""
        ...

    async def fail_window(self, request_id: str, place: WindowPlace, reason: str) -> None:
        """Give a PENDING window up; ``reason`` is a stable token of at most 500 characters, never content."""
        ...

    async def record_halt(self, request_id: str, draft: DispatchDraft, halt_reason: str) -> None:
        """Append to the audit chain that the draft's answer was withheld and why: ids, levels and directives only."""
        ...

    async def record_prohibited(self, request_ids: tuple[str, str], place: WindowPlace, system: AiSystemRecord) -> None:
        """Append that a registered system is one that no call may be made for (SPEC-005 §14): class, rows, halt.

        Args:
            request_ids: of the classification's event and of the halt's.
            place: the window that was opened for the call.
            system: what is registered.
        """
        ...

    async def record_depletion(self, request_id: str, opened: OpenedWindow) -> None:
        """Append that a window was opened with a spent budget, so that no model was called (ADR 0103)."""
        ...

    async def record_remedies(self, request_id: str, draft: DispatchDraft) -> None:
        """Append the events of every round of remedies, in order (SPEC-005 §19.3); ids, levels and counts only."""
        ...

    async def record_agent(self, request_id: str, draft: DispatchDraft) -> None:
        """Append each tool that was called for the draft's window, then the turn of the loop that the window is.

        Names, digests, counts and fact ids only; nothing for a window that is no agent's.
        """
        ...

    async def record_degradation(self, request_id: str, draft: DispatchDraft, committed: CommittedWindow) -> None:
        """Append that the quality of the session's envelopes keeps falling (SPEC-003 §14.3): levels, no content."""
        ...

    async def record_injections(self, request_id: str, draft: DispatchDraft) -> None:
        """Append what of the draft's window speaks to a model, and what was done: rules, places, counts (ADR 0145)."""
        ...

    async def grounded_spans(self, session_id: str, window_id: str) -> tuple[Span, ...]:
        """Return where a committed window's report found claims CONTEXT_GROUNDED and not CONTRADICTED.

        Raises:
            NotFoundError: REPORT_NOT_FOUND, WINDOW_NOT_FOUND: it cannot be had.
        """
        ...

    async def holding_key(self, session_id: str, window_id: str) -> bytes:
        """Return the key that a window's held answer is sealed with, until the session is erased (ADR 0148).

        Raises:
            PreconditionError: SESSION_CLOSED: it was erased.
        """
        ...

    async def record_decision(self, decided: Decided) -> None:
        """Append to the audit chain what was decided about a held answer, and by whom."""
        ...

    async def record_classification(self, request_id: str, draft: DispatchDraft) -> None:
        """Append to the audit chain how the draft's AI system was classified, and by which rows."""
        ...


class EnvelopeClient(Protocol):
    """The envelope service."""

    async def build(self, request: EnvelopeRequest) -> BuiltEnvelope:
        """Build an envelope, or find that the presented ETag still stands."""
        ...

    async def compare(self, request: EnvelopeRequest) -> BuiltEnvelope | str:
        """Return the envelope that still stands, or the CRP-Context-Cache-Status that says why none does."""
        ...


class ProvenanceClient(Protocol):
    """The dpe service."""

    async def analyze(self, command: Analyze) -> Analysis:
        """Analyse an answer."""
        ...

    async def verify_summary(self, summary: str, original: str, grounded: tuple[Span, ...]) -> SummaryCheck:
        """Check a summary against the text that it condenses; ``grounded`` are stretches of that text."""
        ...


@dataclass(frozen=True, slots=True)
class SummaryAsk:
    """What is asked of a summariser.

    Attributes:
        window_id: the window that the summary is made for.
        response: the answer to condense.
        grounded: its stretches that a report found grounded.
        tokens: N of SPEC-004 §12.2, at least 1.
        model: target model.
        timeout_s: seconds that it may take; ``None`` = the adapter's default.
    """

    window_id: str
    response: str
    grounded: tuple[Span, ...]
    tokens: int
    model: str
    timeout_s: float | None = None


class Summariser(Protocol):
    """Condenses an earlier answer (SPEC-004 §12.2)."""

    async def summarise(self, ask: SummaryAsk) -> tuple[Completion, ModelCall]:
        """Return what was written, and the call as it counts; the text may be empty or too long.

        Raises:
            UnavailableError: LLM_UNAVAILABLE.
            DeadlineError: the time was up.
        """
        ...


@dataclass(frozen=True, slots=True)
class DraftSlot:
    """Where one try's draft is kept.

    Attributes:
        body_hash: digest of the request that it is made for.
    """

    tenant_id: str
    draft_id: str
    body_hash: str


@dataclass(frozen=True, slots=True)
class DraftOwner:
    """The window that a draft is of; ``key`` seals it and goes when the window's session is erased (ADR 0055)."""

    window_id: str
    key: bytes = field(repr=False)


class DraftStore(Protocol):
    """AnalyzedAnswer answers on the eve of their commit, for the retention of request ids (24 h)."""

    async def holds(self, slot: DraftSlot) -> bool:
        """Say whether there is a draft, readable or not.

        Raises:
            PreconditionError: REQUEST_ID_REUSED, the draft was made for another body.
        """
        ...

    async def find(self, slot: DraftSlot, owner: DraftOwner) -> DispatchDraft | None:
        """Return the window's draft or ``None``.

        Raises:
            PreconditionError: REQUEST_ID_REUSED, the draft was made for another body; SESSION_CLOSED, it was made for
                another window than this id now has: the session was erased since, or the 24 h are over.
        """
        ...

    async def keep(self, slot: DraftSlot, owner: DraftOwner, draft: DispatchDraft) -> DispatchDraft:
        """Keep the draft durably and return it, or the one that came first."""
        ...


@dataclass(frozen=True, slots=True)
class ToHold:
    """An answer that shall wait for a person; ``committed`` where its window is in the chain already.

    ``breaker`` is the circuit breaker as the window was opened.
    """

    draft: DispatchDraft
    committed: CommittedWindow | None
    steps: StepIds
    breaker: BreakerState = BreakerState.CLOSED


class HeldAnswers(Protocol):
    """The queue of answers that wait for a person (ADR 0148)."""

    async def hold(self, answer: ToHold) -> DispatchResult:
        """Hold the answer durably, and return what its caller gets now: of a repeat what was decided meanwhile."""
        ...

    async def holds(self, tenant_id: str, review_id: str) -> bool:
        """Say whether an answer is held, or was, under this id."""
        ...


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of a stored report: its session, and the verdict as its name without prefix."""

    session_id: str
    verdict: str


@dataclass(frozen=True, slots=True)
class StoredSignals:
    """What a policy reads of a stored window; ``report`` is ``None`` where it cannot be read, or was erased."""

    session_id: str
    window_id: str
    report_id: str
    report: ReportSummary | None


class ReportReads(Protocol):
    """Stored reports, for the running call."""

    def signals(self) -> AsyncIterator[list[StoredSignals]]:
        """Yield what policies read of all of the tenant's reports, page by page, by report id."""
        ...

    async def tiers(self, session_id: str) -> dict[str, QualityTier]:
        """Return the tiers of a session's committed windows, by their ids."""
        ...

    async def claim(self, report_id: str, claim_id: str) -> JudgedClaim:
        """Return the verdict on a claim.

        Raises:
            NotFoundError: REPORT_NOT_FOUND.
            InvalidRequestError: INVALID_FIELD: the report has no such claim.
        """
        ...


class ViolationReports(Protocol):
    """Where violations are reported to (CRP-SPEC-006 facts)."""

    async def file(self, tenant_id: str, command: DispatchCommand, result: DispatchResult) -> tuple[Notice, ...]:
        """Queue what is to be reported of a dispatch, and return what its caller should know of that.

        Nothing is sent here; a repeat of the dispatch queues nothing twice. Raises nothing but cancellation.
        """
        ...


class HeldAnnouncements(Protocol):
    """Who is told that an answer waits for a person (ADR 0148)."""

    async def announce(self, review: ReviewRecord) -> tuple[Notice, ...]:
        """Queue what is told of a held answer, and return what its caller should know of that.

        Nothing is sent here; a repeat queues nothing twice. Raises nothing but cancellation.
        """
        ...


class TenantRegistry(Protocol):
    """What is registered of a tenant."""

    async def sink_hosts(self, tenant_id: str) -> tuple[str, ...]:
        """Return the hosts on the tenant's allow-list."""
        ...

    async def safety_policy(self, tenant_id: str) -> str:
        """Return the tenant's policy as text; empty when there is none."""
        ...

    async def ai_system(self, tenant_id: str, ai_system_id: str) -> AiSystemRecord | None:
        """Return a registered system or ``None``."""
        ...
