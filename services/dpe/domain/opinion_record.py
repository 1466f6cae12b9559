"""What is asked, spent and recorded of a second opinion (ADR 0119)."""

from dataclasses import dataclass, replace
from enum import StrEnum, unique
from typing import TypeVar

from services.common.ports.second_opinion import OpinionKind, TypedSpan, Vote
from services.dpe.domain.findings import Basis, Verdict

NumberT = TypeVar("NumberT", int, float)


@unique
class Scope(StrEnum):
    """Which claims are asked about, from few to many."""

    OFF = "OFF"
    UNDECIDED = "UNDECIDED"
    ALL = "ALL"

    @property
    def rank(self) -> int:
        """0 for OFF, and up."""
        return tuple(Scope).index(self)


@unique
class Gap(StrEnum):
    """Why a claim has no vote."""

    ENDPOINT_FAILED = "ENDPOINT_FAILED"
    ANSWER_REFUSED = "ANSWER_REFUSED"
    NO_VOTE = "NO_VOTE"
    OUT_OF_CALLS = "OUT_OF_CALLS"
    OUT_OF_TOKENS = "OUT_OF_TOKENS"
    OUT_OF_TIME = "OUT_OF_TIME"


@dataclass(frozen=True, slots=True)
class Limits:
    """What an analysis may spend; ``max_call_tokens`` is the deployment's alone."""

    scope: Scope = Scope.UNDECIDED
    max_calls: int = 4
    max_tokens: int = 32_000
    max_call_tokens: int = 8_000
    max_seconds: float = 20.0

    def narrowed(self, asked: "AskedLimits | None") -> "Limits":
        """Return the limits with what the request lowers; nothing is raised."""
        if asked is None:
            return self
        return replace(
            self,
            scope=self.scope if asked.scope is None else min(self.scope, asked.scope, key=lambda one: one.rank),
            max_calls=_lower(self.max_calls, asked.max_calls),
            max_tokens=_lower(self.max_tokens, asked.max_tokens),
            max_seconds=_lower(self.max_seconds, asked.max_seconds),
        )


@dataclass(frozen=True, slots=True)
class AskedLimits:
    """What a request asks to keep to; ``None`` = the deployment's limit."""

    scope: Scope | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ClaimOpinion:
    """The vote on a claim, with the first verdict."""

    claim_id: str
    vote: Vote
    first_verdict: Verdict
    first_basis: Basis | None
    moved: bool
    cached: bool
    model: str
    spans: tuple[TypedSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class OpinionCall:
    """One call; ``reason`` is empty when its votes were taken."""

    claims: int
    reason: str = ""
    model: str = ""
    answer_sha256: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class OpinionRecord:
    """What is recorded of a second opinion; ``left`` has the claims without a vote, in the order of ``Gap``."""

    kind: OpinionKind
    model: str
    prompt_version: str
    scope: Scope
    votes: tuple[ClaimOpinion, ...] = ()
    left: tuple[tuple[Gap, tuple[str, ...]], ...] = ()
    calls: tuple[OpinionCall, ...] = ()


def _lower(own: NumberT, asked: NumberT | None) -> NumberT:
    return own if asked is None else min(own, asked)
