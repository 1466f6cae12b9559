"""What the encoder reads of the passages: a few windows of whole sentences, each within a token budget.

The first window is *composed*: the sentences of the whole context that are nearest to the claim, in document order.
It brings together what lies far apart. The others are *contiguous*: the stretches of text around the nearest
sentences, which keep what a pronoun refers to. Training cuts its premises with the same function, so that the encoder
meets at run time what it has learnt from.

Nearness is the sum of inverse document frequencies of the claim's words that a sentence holds; words of the question
count less. A context that fits into the budget is one window, unchanged. Ties go to the earlier sentence: the result is
a function of the arguments alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from services.common.grounding.passage_index import PassageIndex, Scores
from services.common.grounding.words import stems

TokenCounter: TypeAlias = Callable[[Sequence[str]], Sequence[int]]
"""Tokens of each of several texts, without special tokens."""

QUERY_WEIGHT: Final = 0.5
"""What a word counts that only the question has."""
REPEATED_WEIGHT: Final = 0.25
"""What a word still counts that a sentence chosen before holds already."""
NEIGHBOUR_WEIGHT: Final = 0.5
"""What the sentences before and after count in choosing the middle of a contiguous window."""
CANDIDATES: Final = 48
"""Sentences that are considered for the composed window, nearest first."""


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """How much the encoder reads.

    Attributes:
        premise_tokens: longest window, in tokens of the encoder without special ones.
        max_windows: windows per claim, the composed one included.
    """

    premise_tokens: int = 160
    max_windows: int = 3

    def __post_init__(self) -> None:
        if self.premise_tokens < 1 or self.max_windows < 1:
            msg = f"window settings must be at least 1: {self.premise_tokens} tokens, {self.max_windows} windows"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Window:
    """A text for the encoder to read as premise."""

    text: str
    passages: tuple[int, ...]
    """Indexes of the passages that its sentences come from, the one with the nearest sentence first."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, or a part of one that alone is longer than the budget."""

    sentence: int
    text: str
    tokens: int


def premises(
    passages: Sequence[str], claim: str, query: str | None, counter: TokenCounter, settings: WindowSettings
) -> list[Window]:
    """Cut from the passages what the encoder should read to judge a claim; see ``WindowCutter.cut``."""
    return WindowCutter(PassageIndex(passages), counter).cut(claim, query, settings)


class WindowCutter:
    """Cuts windows out of one context, for one claim after another.

    Args:
        index: the context.
        counter: counts tokens as the encoder does; asked once about each sentence that comes into question.
    """

    def __init__(self, index: PassageIndex, counter: TokenCounter) -> None:
        self._index = index
        self._counter = counter
        self._tokens: dict[int, int] = {}
        self._about: tuple[str, dict[str, float]] = ("", {})

    def cut(self, claim: str, query: str | None, settings: WindowSettings) -> list[Window]:
        """Return at most ``max_windows`` windows, the composed one first, then contiguous ones, nearest first.

        Args:
            claim: the text to check.
            query: the question that it answers, or other text that tells what the claim is about.
            settings: the budget.

        Returns:
            Distinct windows; empty when the passages hold no word.
        """
        if not self._index.sentences:
            return []
        weights = self._weights(claim, query or "")
        scores = self._index.scores(weights.items())
        reader = _Reader(self._index, self._counter, self._tokens, scores, settings.premise_tokens)
        whole = reader.whole()
        if whole is not None:
            return [reader.window(whole)]
        chosen = _composed(reader, weights)
        found = [reader.window(chosen)]
        if settings.max_windows == 1:
            return found
        for run in _contiguous(reader, {unit.sentence for unit in chosen}):
            if len(found) >= settings.max_windows:
                break
            found.append(reader.window(run))
        return list(dict.fromkeys(found[: settings.max_windows]))

    def _weights(self, claim: str, query: str) -> dict[str, float]:
        if query != self._about[0]:  # the parts of a long claim come with the same one, one after the other
            self._about = (query, _weighed(self._index, query, QUERY_WEIGHT))
        weights = _weighed(self._index, claim, 1.0)
        for stem, weight in self._about[1].items():
            weights.setdefault(stem, weight)
        return weights


class _Reader:
    """Sentences with their token counts, for one claim and one budget; each is counted once per context."""

    def __init__(
        self, index: PassageIndex, counter: TokenCounter, tokens: dict[int, int], scores: Scores, budget: int
    ) -> None:
        self.index = index
        self.scores = scores
        self.budget = budget
        self._counter = counter
        self._tokens = tokens

    def units(self, numbers: Sequence[int]) -> list[_Unit]:
        """Return the sentences with their token counts; one beyond the budget comes in parts that fit."""
        unknown = [number for number in numbers if number not in self._tokens]
        if unknown:
            counts = self._counter([self.index.sentences[number].text for number in unknown])
            self._tokens.update(zip(unknown, counts, strict=True))
        return [
            unit
            for number in numbers
            for unit in self._parts(number, self.index.sentences[number].text, self._tokens[number])
        ]

    def whole(self) -> list[_Unit] | None:
        """Return the whole context if it fits into one window."""
        if self.index.words > self.budget:  # no word is less than a token
            return None
        units = self.units(range(len(self.index.sentences)))
        return units if sum(unit.tokens for unit in units) <= self.budget else None

    def neighbour(self, number: int, left: int) -> list[_Unit]:
        """Return a whole sentence if there is one of that number and it fits into what is left."""
        if not 0 <= number < len(self.index.sentences):
            return []
        units = self.units([number])
        return units if sum(unit.tokens for unit in units) <= left else []

    def window(self, units: Sequence[_Unit]) -> Window:
        nearest = sorted(units, key=lambda unit: (-self.scores[unit.sentence], unit.sentence))
        passages = dict.fromkeys(self.index.sentences[unit.sentence].passage for unit in nearest)
        return Window(" ".join(unit.text for unit in units), tuple(passages))

    def _parts(self, number: int, text: str, tokens: int) -> Iterator[_Unit]:
        if tokens <= self.budget or len(text) == 1:
            yield _Unit(number, text, tokens)
            return
        middle = len(text) // 2
        space = text.find(" ", middle)
        cut = space if 0 < space < len(text) - 1 else middle
        halves = [half for half in (text[:cut].strip(), text[cut:].strip()) if half]
        for half, size in zip(halves, self._counter(halves), strict=True):
            yield from self._parts(number, half, size)


def _weighed(index: PassageIndex, text: str, share: float) -> dict[str, float]:
    """Return what the words of a text weigh that the passages hold; the others bring no sentence nearer."""
    weights = {stem: share * index.weight(stem) for stem in stems(text) if stem in index.postings}
    return {stem: weight for stem, weight in weights.items() if weight > 0.0}


def _composed(reader: _Reader, weights: dict[str, float]) -> list[_Unit]:
    """Choose sentence after sentence the one that adds most of the claim's words, while the budget lasts."""
    nearest = [int(number) for number in np.argsort(-reader.scores, kind="stable")[:CANDIDATES]]
    units = reader.units(nearest)
    known: dict[int, set[str]] = {number: set() for number in nearest}
    for stem in weights:
        for number in reader.index.postings.get(stem, ()):
            if number in known:
                known[number].add(stem)
    held = [known[unit.sentence] for unit in units]
    seen: set[str] = set()
    chosen: list[int] = []
    left = reader.budget
    open_ = list(range(len(units)))
    while open_ := [number for number in open_ if units[number].tokens <= left]:
        gains = [
            sum(weights[stem] * (REPEATED_WEIGHT if stem in seen else 1.0) for stem in held[number]) for number in open_
        ]
        best = open_[gains.index(max(gains))]
        open_.remove(best)
        chosen.append(best)
        seen |= held[best]
        left -= units[best].tokens
    # Parts of one sentence are consecutive in ``units``, so that their number keeps their order.
    return [units[number] for number in sorted(chosen, key=lambda number: (units[number].sentence, number))]


def _contiguous(reader: _Reader, composed: set[int]) -> Iterator[list[_Unit]]:
    """Yield stretches around the nearest sentences; each brings at least one sentence that was not read before."""
    scores = reader.scores
    padded = np.pad(scores, 1)
    smoothed = scores + NEIGHBOUR_WEIGHT * (padded[:-2] + padded[2:])
    read: set[int] = set()
    for middle in np.argsort(-smoothed, kind="stable"):
        if scores[middle] <= 0.0 or int(middle) in read:
            continue
        run = _grown(reader, int(middle))
        numbers = {unit.sentence for unit in run}
        if not numbers <= composed:
            yield run
        read |= numbers


def _grown(reader: _Reader, middle: int) -> list[_Unit]:
    """Grow a stretch from its middle, a sentence before and a sentence after in turn, while the budget lasts."""
    parts = reader.units([middle])
    if len(parts) > 1:
        return [parts[0]]
    run, left = parts, reader.budget - parts[0].tokens
    first, last = middle, middle
    growing = True
    while growing:
        growing = False
        for number in (first - 1, last + 1):
            units = reader.neighbour(number, left)
            if units:
                run = units + run if number < first else run + units
                first, last = min(first, number), max(last, number)
                left -= sum(unit.tokens for unit in units)
                growing = True
    return run
