"""Which sentence of the passages holds which word: built once per context, asked once per claim."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.grounding.words import STOP_WORDS, sentences, stems

Scores: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the context."""

    passage: int
    """Index of its passage."""
    text: str
    stems: tuple[str, ...]
    """Of all its words, stop words included, in order."""


class PassageIndex:
    """Sentences of all passages in document order and, per stem, the sentences that hold it.

    Args:
        passages: the texts; empty ones are allowed and hold no sentence.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        self.sentences: tuple[Sentence, ...] = tuple(
            Sentence(number, passage[start:end], tuple(stems(passage[start:end])))
            for number, passage in enumerate(passages)
            for start, end in sentences(passage)
        )
        self.postings: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for stem in set(sentence.stems):
                self.postings.setdefault(stem, []).append(number)
        self.words = sum(len(sentence.stems) for sentence in self.sentences)
        """Words of the context, stop words included."""
        self._most = math.log1p(max(1, len(self.sentences)))

    def weight(self, stem: str) -> float:
        """Return the stem's inverse document frequency over sentences, in (0, 1]; 1 for a stem that does not occur.

        Stop words weigh nothing.
        """
        if stem in STOP_WORDS:
            return 0.0
        held = self.postings.get(stem)
        return 1.0 if held is None else math.log1p(len(self.sentences) / len(held)) / self._most

    def scores(self, weights: Iterable[tuple[str, float]]) -> Scores:
        """Return for each sentence the sum of the weights of the stems that it holds; shape ``(sentences,)``."""
        totals = np.zeros(len(self.sentences))
        for stem, weight in weights:
            held = self.postings.get(stem)
            if held is not None and weight > 0.0:
                totals[held] += weight
        return totals
