"""Two encoders for one question: the first reads everything, the second what the first leaves open (ADR 0206).

A small encoder is sure of most of what it reads, and a large one costs several times as much. What the first is unsure
of goes to the second in one batch, and the second's answer stands alone: the two are not mixed, so that each answer is
one model's, with its own calibration. The second is loaded when it is first asked.
"""

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from services.common.ports.entailment import NEUTRAL, EntailmentModel
from services.common.ports.grounding import GroundingModel, GroundingRequest, GroundingVerdict
from services.common.ports.on_demand import LoadedOnDemand
from services.common.queue_counts import QueueCounts
from services.common.reading_counts import ReadingCounts
from services.common.settings.second_reading import SecondReadingSettings


class Reader(LoadedOnDemand, Protocol):
    """What both kinds of model say of their backend."""

    @property
    def queue_counts(self) -> QueueCounts:
        """What the queue in front of it counts."""
        ...


class Judge(GroundingModel, Reader, Protocol):
    """A grounding model over a backend."""


class Classifier(EntailmentModel, Reader, Protocol):
    """An entailment model over a backend."""


ReaderT = TypeVar("ReaderT", bound=Reader)


class _TwoReaders(Generic[ReaderT]):
    """Two encoders of a kind; belongs to one event loop. Both are closed by whoever opened them.

    Args:
        first: reads everything.
        second: reads again what the first leaves open.
        terms: say what is open.
        counts: told how many were read, and how many again.
    """

    def __init__(self, first: ReaderT, second: ReaderT, terms: SecondReadingSettings, counts: ReadingCounts) -> None:
        self._first, self._second = first, second
        self._terms = terms
        self._counts = counts

    @property
    def first(self) -> ReaderT:
        """The one that reads everything."""
        return self._first

    @property
    def queue_counts(self) -> QueueCounts:
        """What the queue in front of the first counts; the second has a queue of its own."""
        return self._first.queue_counts

    @property
    def at_rest(self) -> bool:
        """Whether a call may load one of them."""
        return self._first.at_rest or self._second.at_rest

    async def check(self) -> None:
        """Return when both can serve, as far as can be said without loading them.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        await self._first.check()
        await self._second.check()


class SecondReadGrounding(_TwoReaders[Judge]):
    """``GroundingModel`` of two: the second judges again the claims of which the first is not sure."""

    @property
    def fingerprint(self) -> str:
        """Both fingerprints and the bounds: another of any of them may give another verdict."""
        return _both(self._first.fingerprint, self._second.fingerprint, f"{self._terms.low:g}-{self._terms.high:g}")

    @property
    def threshold(self) -> float:
        """The first one's; a verdict of the second has met the second's own."""
        return self._first.threshold

    async def judge(self, requests: Sequence[GroundingRequest]) -> list[GroundingVerdict]:
        """Return one verdict per request, in order.

        Open is what the first encoder read and whose support lies from ``low`` up to, not including, ``high``.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE; the second one's is not hidden, for other verdicts would come of it.
        """
        verdicts = await self._first.judge(requests)
        again = [
            place
            for place, verdict in enumerate(verdicts)
            if verdict.encoder_support is not None and self._terms.low <= verdict.support < self._terms.high
        ]
        self._counts.read("grounding", len(requests), len(again))
        if again:
            second = await self._second.judge([requests[place] for place in again])
            for place, verdict in zip(again, second, strict=True):
                verdicts[place] = verdict
        return verdicts


class SecondReadEntailment(_TwoReaders[Classifier]):
    """``EntailmentModel`` of two: the second reads again the pairs that the first does not surely call neutral."""

    @property
    def fingerprint(self) -> str:
        """Both fingerprints and the bound."""
        return _both(self._first.fingerprint, self._second.fingerprint, f"{self._terms.neutral_below:g}")

    @property
    def max_tokens(self) -> int:
        """Longest premise + hypothesis, special tokens included, that both encoders read at once."""
        return min(self._first.max_tokens, self._second.max_tokens)

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return for each (premise, hypothesis) entailment, neutral, contradiction: shape ``(n, 3)``.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE; the second one's is not hidden.
        """
        scores = await self._first.classify(pairs)
        again = np.flatnonzero(scores[:, NEUTRAL] < self._terms.neutral_below).tolist()
        self._counts.read("entailment", len(pairs), len(again))
        if again:
            scores[again] = await self._second.classify([pairs[place] for place in again])
        return scores


def _both(first: str, second: str, terms: str) -> str:
    return f"{first} {second} read again {terms}"
