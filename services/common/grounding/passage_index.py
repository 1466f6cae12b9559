"""Which sentence of the passages holds which word: built once per context, asked once per claim.

What only some signals need (word pairs, character sequences, figures) is made when it is first asked for. Sets of
sentences are integers with one bit per sentence, so that "occur together" is one ``&``.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.grounding.numbers import Quantity, days, quantities
from services.common.grounding.words import STOP_WORDS, sentences, stems

Scores: TypeAlias = NDArray[np.float64]
SentenceSet: TypeAlias = int
"""Bit ``i`` stands for sentence ``i``."""

CHARACTERS: Final = 5
"""Length of the character sequences that are compared."""


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
        passages: the texts; what holds no word (an empty passage, a row of dashes) makes no sentence.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        spans = (
            (number, passage[start:end]) for number, passage in enumerate(passages) for start, end in sentences(passage)
        )
        cut = (Sentence(number, text, tuple(stems(text))) for number, text in spans)
        self.sentences: tuple[Sentence, ...] = tuple(sentence for sentence in cut if sentence.stems)
        self.postings: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for stem in set(sentence.stems):
                self.postings.setdefault(stem, []).append(number)
        self.words = sum(len(sentence.stems) for sentence in self.sentences)
        """Words of the context, stop words included."""
        self._most = math.log1p(max(1, len(self.sentences)))
        self._weights: dict[str, float] = {}
        self._holders: dict[str, SentenceSet] = {}

    def weight(self, stem: str) -> float:
        """Return the stem's inverse document frequency over sentences, in (0, 1]; 1 for a stem that does not occur.

        Stop words weigh nothing.
        """
        known = self._weights.get(stem)
        if known is None:
            held = self.postings.get(stem)
            rarity = 1.0 if held is None else math.log1p(len(self.sentences) / len(held)) / self._most
            known = self._weights[stem] = 0.0 if stem in STOP_WORDS else rarity
        return known

    def scores(self, weights: Iterable[tuple[str, float]]) -> Scores:
        """Return for each sentence the sum of the weights of the stems that it holds; shape ``(sentences,)``."""
        totals = [0.0] * len(self.sentences)
        for stem, weight in weights:
            if weight > 0.0:
                for number in self.postings.get(stem, ()):
                    totals[number] += weight
        return np.array(totals)

    def holders(self, stem: str) -> SentenceSet:
        """Return the sentences that hold a stem."""
        known = self._holders.get(stem)
        if known is None:
            known = 0
            for number in self.postings.get(stem, ()):
                known |= 1 << number
            self._holders[stem] = known
        return known

    @cached_property
    def pairs(self) -> dict[tuple[str, str], list[int]]:
        """Stems that follow one another within a sentence, with the positions in the context where they do."""
        found: dict[tuple[str, str], list[int]] = {}
        position = 0
        for sentence in self.sentences:
            for pair in pairwise(sentence.stems):
                found.setdefault(pair, []).append(position)
                position += 1
            position += 2  # so that no run crosses a sentence
        return found

    @cached_property
    def sequences(self) -> frozenset[str]:
        """Sequences of ``CHARACTERS`` characters within the context's stems."""
        return frozenset(character_sequences(self.postings))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The context's figures, in order."""
        return tuple(quantity for text in self._with_numbers for quantity in quantities(text))

    @cached_property
    def values(self) -> frozenset[float]:
        """Values of the context's figures."""
        return frozenset(quantity.value for quantity in self.quantities)

    @cached_property
    def days(self) -> frozenset[tuple[str, int]]:
        """Days of the year that the context names."""
        return frozenset().union(*map(days, self._with_numbers))

    @cached_property
    def _with_numbers(self) -> tuple[str, ...]:
        return tuple(
            sentence.text for sentence in self.sentences if any(stem[0].isdecimal() for stem in sentence.stems)
        )


def character_sequences(known: Iterable[str]) -> set[str]:
    """Return the sequences of ``CHARACTERS`` characters of stems, a space before and after each; no stop words.

    Forms of a word that have different stems still share most of them, and so do misspelt names.
    """
    return {
        padded[start : start + CHARACTERS]
        for padded in (f" {stem} " for stem in known if stem not in STOP_WORDS)
        for start in range(max(1, len(padded) - CHARACTERS + 1))
    }
