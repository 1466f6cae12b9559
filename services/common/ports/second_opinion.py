"""A second opinion on claims, from an endpoint that the operator runs (ADR 0119).

Whoever answers sees texts that others wrote and may be told anything by them: what comes back is votes on the claims
that were asked about, and nothing else of it is used.
"""

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Protocol


@unique
class OpinionKind(StrEnum):
    """What stands behind the endpoint."""

    JUDGE = "JUDGE"
    SPANS = "SPANS"


@unique
class Vote(StrEnum):
    """What is said of one claim."""

    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"
    CONTRADICTED = "CONTRADICTED"


@dataclass(frozen=True, slots=True)
class AskedClaim:
    """A claim with what it is to be held against.

    Attributes:
        claim_id: by which the vote names it to the caller; the endpoint sees another id.
        start, end: offsets of its words in the answer.
        context: the words before it, for what its pronouns stand for; may be empty.
        facts: places in ``OpinionRequest.facts``.
    """

    claim_id: str
    text: str = field(repr=False)
    start: int
    end: int
    facts: tuple[int, ...]
    context: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class OpinionRequest:
    """What one call asks.

    Attributes:
        question: that the answer answers; may be empty.
        answer: the whole answer; offsets are in it.
        facts: texts, each once.
        claims: in the order of the answer.
        nonce: drawn anew for each call, 32 letters and digits; nobody who wrote a text of the request knows it.
        timeout_s: seconds that the call may take; ``None`` = the adapter's own limit.
    """

    question: str = field(repr=False)
    answer: str = field(repr=False)
    facts: tuple[str, ...] = field(repr=False)
    claims: tuple[AskedClaim, ...]
    nonce: str = field(repr=False)
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class TypedSpan:
    """A stretch of the answer that a detector calls unsupported, with its type in the detector's words."""

    start: int
    end: int
    category: str
    subcategory: str


@dataclass(frozen=True, slots=True)
class GivenVote:
    """The vote on a claim; ``spans`` are the stretches of it that a detector named."""

    vote: Vote
    spans: tuple[TypedSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class OpinionReply:
    """What came back.

    Attributes:
        votes: by claim id; claims without a vote are not in it.
        model: provider and model, as the endpoint named it.
        answer_sha256: of the text that came.
        prompt_tokens, completion_tokens: as the endpoint counted; ``None`` when it gave no sensible number.
        refusal: why the answer was refused whole, a stable word such as ``not_json``; empty when it was taken.
    """

    votes: dict[str, GivenVote]
    model: str
    answer_sha256: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    refusal: str = ""


class SecondOpinion(Protocol):
    """One endpoint; makes one attempt for each call. Task-safe."""

    @property
    def kind(self) -> OpinionKind:
        """What stands behind it."""
        ...

    @property
    def model(self) -> str:
        """The model that is asked for."""
        ...

    @property
    def prompt_version(self) -> str:
        """Name and digest of the fixed part of the prompt."""
        ...

    def tokens(self, request: OpinionRequest) -> tuple[int, int]:
        """Return what the prompt takes, by an estimate that is seldom too low, and what the answer may take."""
        ...

    async def ask(self, request: OpinionRequest) -> OpinionReply:
        """Return the votes.

        Raises:
            UnavailableError: LLM_UNAVAILABLE, with ``cause`` in the metadata, ``retry_after_s`` when a retry can help.
            DeadlineError: ``timeout_s`` was over.
        """
        ...

    async def check(self) -> None:
        """Return when the endpoint answers; raise ``UnavailableError`` otherwise."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
