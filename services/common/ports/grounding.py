"""Judging whether a text is supported by passages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class GroundingRequest:
    """A text to check, and what it is checked against.

    Attributes:
        claim: the text.
        passages: what should bear it out.
        query: the question that it answers; ``None`` = there is none.
        max_windows: windows of passages to read at most, at least 1; ``None`` = as many as the model is made for.
    """

    claim: str
    passages: tuple[str, ...]
    query: str | None = None
    max_windows: int | None = None


@dataclass(frozen=True, slots=True)
class UnsupportedSpan:
    """A part of the claim that nothing read supports: ``claim[start:end]``, offsets in Unicode code points."""

    start: int
    end: int
    score: float
    """Mean over its tokens of the probability of being unsupported, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class GroundingVerdict:
    """What the model says of one request."""

    support: float
    """Calibrated probability that the passages support the claim, in [0, 1]."""
    supported: bool
    """``support`` is at or above the model's threshold, and the verdict is not undecided."""
    encoder_support: float | None
    """What the encoder says alone, in [0, 1]; ``None`` when there was no passage to read."""
    signals: tuple[tuple[str, float], ...]
    """The aligned lexical, number, entity and negation signals, by name, in the order of the combiner's file."""
    spans: tuple[UnsupportedSpan, ...]
    """Ordered by start, not overlapping."""
    evidence: tuple[int, ...]
    """Indexes of the passages that the encoder read, nearest first."""
    undecided: bool = False
    """``support`` lies between the model's bounds, where it is right too seldom to say either (ADR 0151)."""


class GroundingModel(Protocol):
    """An encoder and a calibrated combiner behind one door. Task-safe; concurrent calls are batched together."""

    @property
    def fingerprint(self) -> str:
        """Name, version and digest of weights, tokenizer and combiner."""
        ...

    @property
    def threshold(self) -> float:
        """At or above this ``support`` a claim counts as supported; from the manifest."""
        ...

    async def judge(self, requests: Sequence[GroundingRequest]) -> list[GroundingVerdict]:
        """Return one verdict per request, in order.

        Long passages are read in windows, the nearest windows first, never cut silently. A request without passages
        is not supported and has no ``encoder_support``.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE; also when the backend returns NaN or another shape.
        """
        ...
