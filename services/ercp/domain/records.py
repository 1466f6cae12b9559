"""What the operators take and give (ERCP 1.0 §3, §4); immutable, in the document's own words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from services.common.encoding import canonical_json, sha256_hex
from services.ercp.domain import vocabulary as words
from services.ercp.domain.vocabulary import ConstraintType, Detector, ErrorType, Priority, Standing, Undecided

LLM: Final = "llm"
EXTRACTIVE: Final = "extractive"
"""Who made a claim (§3.2); otherwise the id of the fact that it repeats."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The question that a run reasons about (§3.1).

    Attributes:
        metadata: a JSON object of the caller's.
        origin: the message that it was read from: fields that this version does not know are kept (§10).
    """

    description: str
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    origin: bytes = field(default=b"", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement and who made it (§3.2)."""

    claim: str
    source: str = LLM


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text: ``text[start:end]`` in code points.

    Attributes:
        states: it says how things are; an instruction or an opinion denies nothing.
    """

    start: int
    end: int
    text: str
    states: bool = True


@dataclass(frozen=True, slots=True)
class Reasoning:
    """One candidate (§3.1)."""

    reasoning_id: str
    text: str
    sentences: tuple[Sentence, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class PredicateForm:
    """A predicate as it is written: operator and JSON arguments (§8).

    Attributes:
        understood_by: who understood the constraint's words (ADR 0116); empty when the caller brought the predicate.
    """

    name: str
    args: Mapping[str, Any]
    understood_by: str = ""

    @property
    def key(self) -> str:
        """The same for two predicates that were written alike."""
        return f"{self.name}{canonical_json(dict(self.args)).decode()}"


@dataclass(frozen=True, slots=True)
class Source:
    """What made a constraint (§4.1)."""

    detected_by: Detector
    error_id: str = ""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule in words and as a predicate (§2 constraint duality, §4.1).

    Attributes:
        confidence: 0.0-1.0; ``None`` when the caller brought it.
        origin: as of ``Problem``.
    """

    constraint_id: str
    type: ConstraintType
    nl_text: str
    predicate: PredicateForm
    priority: Priority = Priority.MEDIUM
    source: Source = field(default_factory=lambda: Source(Detector.CALLER))
    confidence: float | None = None
    immutable: bool = False
    origin: bytes = field(default=b"", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a draft says something, and the sentence that it begins in; offsets in code points."""

    start: int
    end: int
    sentence_start: int
    sentence_end: int
    sentence: str


@dataclass(frozen=True, slots=True)
class ConstraintOutcome:
    """How a draft stands to one constraint (ADR 0115).

    Attributes:
        reason: why it is undecided; ``None`` otherwise.
        why: one sentence for people.
        places: what decided it, in text order; empty when undecided, or decided by what the draft lacks.
    """

    constraint_id: str
    standing: Standing
    why: str
    reason: Undecided | None = None
    places: tuple[Place, ...] = ()
    immutable: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason to believe that an error is one (§4.2).

    Attributes:
        source: a detector, or the id of a fact or constraint.
        score: 0.0-1.0; ``None`` when the detector decides yes or no.
        excerpt: the text that it rests on.
    """

    source: str
    score: float | None = None
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """One error that a verifier found (§4.2); named so that it is not taken for an exception.

    Attributes:
        span: first code point and one past the last; ``None`` when it has no single place.
    """

    error_id: str
    type: ErrorType
    confidence: float
    detected_by: tuple[Detector, ...]
    evidence: tuple[Evidence, ...]
    span: tuple[int, int] | None = None
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two statements that may be at odds, while nothing decides it: less than an error (ADR 0179).

    Attributes:
        type: what it would be.
        confidence: 0.0-1.0, below what an error is reported from.
        span: of the draft's sentence; ``None`` when it has no single place.
        excerpt: what stands there.
        source: of the passage that it may deny; empty where that is the draft itself.
        against: the other statement.
        why: one sentence for people.
    """

    type: ErrorType
    confidence: float
    span: tuple[int, int] | None
    excerpt: str
    source: str
    against: str
    why: str


@dataclass(frozen=True, slots=True)
class OpenGround:
    """A statement of a draft that nothing given bears out (ADR 0185).

    Attributes:
        key: the same for the same statement in another draft.
        span: of its sentence.
        excerpt: what stands there.
        why: one sentence for people.
        is_confirmed: it was put before the answerer with the demand for its ground, and was written again.
    """

    key: str
    span: tuple[int, int]
    excerpt: str
    why: str
    is_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that candidates are held against (§7): a fact, or one of ``retrieval_context``."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """How text is decoded (§2, §5)."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    max_tokens: int = words.MAX_TOKENS
    deterministic: bool = True


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What a fingerprint is computed from (§6).

    Attributes:
        provider_metadata: what an opaque provider says about itself; empty otherwise.
        response_sha256: of its response; set with ``provider_metadata``.
    """

    model_name: str
    version: str = ""
    weights_sha256: str = ""
    provider_metadata: Mapping[str, Any] = field(default_factory=dict)
    response_sha256: str = ""

    @property
    def fingerprint(self) -> str:
        """``sha256:`` and SHA-256 of the canonical JSON list of name, version and weights (§6, ADR 0073)."""
        named = [self.model_name, self.version, self.weights_sha256]
        return f"sha256:{sha256_hex(canonical_json(named))}"


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How a run is done (§3.1); ``max_duration_s`` ``None`` takes the deployment's."""

    model: str = ""
    max_iterations: int = words.MAX_ITERATIONS
    max_constraints: int = words.MAX_CONSTRAINTS
    similarity_threshold: float = words.SIMILARITY_THRESHOLD
    verify_threshold: float = words.VERIFY_THRESHOLD
    candidate_threshold: float = words.CANDIDATE_THRESHOLD
    nli_threshold: float = words.NLI_THRESHOLD
    run_fact_check: bool = True
    max_constraints_per_error: int = words.MAX_CONSTRAINTS_PER_ERROR
    max_duration_s: float | None = None
    allow_undecided: bool = False
    grounds: words.Grounds = words.Grounds.CONFIRMED
    decoding: Decoding = field(default_factory=Decoding)
