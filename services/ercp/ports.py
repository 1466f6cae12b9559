"""What the ERCP service needs of the other services, of models and of its node key, in its own words.

The generator is the shared port ``services.common.ports.language_model.LanguageModel``; embedder and entailment model
are shared ports too. The clients of the other services speak for the running call: credential, request id, trace and
deadline go along. They raise the peer's own ``CrpError``; ``UnavailableError`` (SERVICE_UNAVAILABLE) when it does not
answer and ``DeadlineError`` when the call's time is up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from services.ercp.domain.constraint_checks import ConstraintVerdict
from services.ercp.domain.findings import ClaimSupport, Finding
from services.ercp.domain.records import Claim, Passage, Sentence


@dataclass(frozen=True, slots=True)
class TraceSession:
    """The session that keeps a trace.

    Attributes:
        token: opens its next window; empty when it has ended.
        pending: windows that were opened and neither committed nor given up.
        windows: how many it has, given up ones included.
    """

    session_id: str
    token: str
    pending: tuple[str, ...] = ()
    windows: int = 0

    @property
    def ended(self) -> bool:
        """Whether no window can be opened any more."""
        return not self.token


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One ERCP_OPERATOR event as dag keeps it: ``data`` is what ``TraceSessions.append`` was given."""

    window_id: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """What dag keeps of a trace: its events in order, and why its session ended (empty = it has not)."""

    session_id: str
    events: tuple[StoredEvent, ...]
    end_reason: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """A PENDING window of a trace's session, for one candidate."""

    session_id: str
    window_id: str
    window_number: int


@dataclass(frozen=True, slots=True)
class WindowDraft:
    """What a window is committed with.

    Attributes:
        envelope: the ``crp.envelope.v1.ContextEnvelope`` that the candidate was written from, serialised.
        report: the ``crp.dpe.v1.DpeReport`` of this very text, serialised.
    """

    text: str
    envelope: bytes
    report: bytes
    model_fingerprint: str


class TraceSessions(Protocol):
    """The dag service: keeps traces, one session each (ADR 0073). Every write is idempotent by its request id."""

    async def find(self, trace_id: str) -> StoredTrace | None:
        """Return what is kept of a trace of this tenant, or ``None``."""
        ...

    async def join(self, trace_id: str) -> TraceSession:
        """Return the trace's session, begun now if it was not there.

        Raises:
            UnauthenticatedError: TOKEN_SCOPE_MISMATCH: another credential began it.
        """
        ...

    async def open_window(self, request_id: str, session: TraceSession) -> Window:
        """Open a window for one candidate."""
        ...

    async def commit_window(self, request_id: str, window: Window, draft: WindowDraft) -> TraceSession:
        """Commit a candidate's window and return the session with its next token."""
        ...

    async def fail_window(self, request_id: str, session_id: str, window_id: str, reason: str) -> None:
        """Give a window up; ``reason`` is a stable token, never content."""
        ...

    async def candidate(self, session_id: str, window_id: str) -> tuple[str, bytes]:
        """Return text and serialised report of a committed window."""
        ...

    async def append(self, request_id: str, session_id: str, window_id: str, data: Mapping[str, Any]) -> None:
        """Append an ERCP_OPERATOR event; ``window_id`` may be empty."""
        ...

    async def end(self, request_id: str, session_id: str, reason: str) -> None:
        """End the session for good."""
        ...


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What candidates are written from and held against.

    Attributes:
        envelope: the serialised ``crp.envelope.v1.ContextEnvelope``.
        passages: its facts, best first.
        scores: their relevance, 0.0-1.0, in the same order.
    """

    envelope: bytes
    passages: tuple[Passage, ...]
    scores: tuple[float, ...]


class KnowledgeSource(Protocol):
    """The envelope service."""

    async def retrieve(self, query: str) -> Knowledge:
        """Return the tenant's facts on the query; none is an answer too."""
        ...

    def given(self, passages: Sequence[Passage]) -> Knowledge:
        """Return the caller's own passages as knowledge; nothing is asked."""
        ...


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How faithful a report finds a text, and what the constraints cost it (CRP-SPEC-005 §5.5, ADR 0078).

    Attributes:
        score: 0.0-1.0; ``None`` = not computed.
        score_without: what it would be with no constraint violated; ``None`` without constraints.
        constraints: how many the text was held against.
        violated: ids of those that it denies.
        unknown: ids of those that were not decided.
    """

    score: float | None = None
    score_without: float | None = None
    constraints: int = 0
    violated: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the dpe service says of a candidate: its report, serialised, the findings in it, the models that ran.

    Attributes:
        supports: of each claim, whether the facts bear it out.
    """

    report: bytes
    findings: tuple[Finding, ...]
    models: tuple[str, ...]
    fidelity: Fidelity = Fidelity()
    supports: tuple[ClaimSupport, ...] = ()


@dataclass(frozen=True, slots=True)
class Segments:
    """A text in sentences and claims; ``models`` took part."""

    sentences: tuple[Sentence, ...]
    claims: tuple[Claim, ...]
    models: tuple[str, ...] = ()


class Provenance(Protocol):
    """The dpe service."""

    async def segment(self, text: str) -> Segments:
        """Split a text that is not empty into sentences and claims."""
        ...

    async def analyze(
        self, query: str, text: str, knowledge: Knowledge, window: Window, verdicts: Sequence[ConstraintVerdict] = ()
    ) -> Analysis:
        """Analyse a candidate against the knowledge; ``window`` may be one that is opened nowhere.

        A violated constraint of ``verdicts`` lowers the fidelity and is no finding: it is an error already.
        """
        ...

    def read(self, report: bytes, knowledge: Knowledge) -> Analysis:
        """Return the analysis that a stored report holds."""
        ...


class Redactor(Protocol):
    """Takes personal data out of texts (§11)."""

    async def redact(self, texts: Sequence[str]) -> list[str]:
        """Return the texts with personal data replaced by its kind in angle brackets; one batch.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        ...


class NodeSigner(Protocol):
    """Signs for this deployment with a key that never leaves it (§2, §5; ADR 0073)."""

    def sign(self, session_id: str, document: Mapping[str, Any]) -> str:
        """Return ``hmac:`` and 64 hex digits over the document's canonical JSON without ``node_signature``."""
        ...

    def key_ids(self, session_id: str) -> tuple[str, str]:
        """Return what the node key and the trace's own key are called by, 16 hex digits each (ADR 0115)."""
        ...

    def holds(self, session_id: str, document: Mapping[str, Any]) -> bool:
        """Say whether the document's ``node_signature`` is this deployment's, under a present or a former key."""
        ...
