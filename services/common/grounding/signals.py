"""Aligned signals: what can be told of a claim and its passages without a model.

Each is a number in [0, 1] (``SIGNALS`` says what it means); a signal that has nothing to measure has the value that
speaks for support, since the combiner learns from its absence through the signals of form. "Aligned" means that words
count where the claim's other words are: that a number occurs somewhere supports nothing.

Signals of form (length, question, sentences, kind of text) are no evidence. They are there because the same recall
means one thing for a short answer and another for a paragraph.
"""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.grounding.claim_view import ClaimSentence, ClaimView
from services.common.grounding.numbers import NO_UNIT, days, quantities, states
from services.common.grounding.passage_index import PassageIndex, character_sequences
from services.common.grounding.polarity import NEGATIONS, QUANTIFIERS, opposites_met
from services.common.grounding.statements import is_short_answer
from services.common.grounding.words import STOP_WORDS, stems

SIGNALS: Final = (
    "token_recall",
    "idf_recall",
    "character_recall",
    "bigram_recall",
    "longest_run",
    "sentence_recall",
    "weakest_sentence_recall",
    "window_recall",
    "pairs_apart",
    "anchors_together",
    "numbers",
    "novel_numbers",
    "numbers_elsewhere",
    "unit_mismatch",
    "novel_days",
    "novel_names",
    "many_novel_names",
    "names_elsewhere",
    "negation_mismatch",
    "opposites",
    "novel_quantifiers",
    "dangling_in_several",
    "question",
    "copied_from_question",
    "answer_recall",
    "claim_length",
    "short_answer",
    "claim_sentences",
    "context_length",
    "sentence_answer",
    "long_context",
    "brief_context",
    "several_sentences",
)
"""Names in the order of ``signals``."""

_MANY_NAMES: Final = 5
_MANY_NUMBERS: Final = 3
_MANY_SENTENCES: Final = 6
_MANY_WORDS: Final = 100
_MUCH_CONTEXT: Final = 20_000
LONG_CONTEXT_WORDS: Final = 200
"""From here on the passages are an article rather than a paragraph."""
_PRONOUNS: Final = frozenset({"he", "she", "they", "it", "them", "him", "her", "his", "their", "its"})


def signals(index: PassageIndex, claim: str, query: str | None) -> NDArray[np.float64]:
    """Return the signals of a claim, in the order of ``SIGNALS``; each in [0, 1].

    Args:
        index: the passages.
        claim: the text to check.
        query: the question that it answers, if there is one.
    """
    view = ClaimView(index, claim)
    found: dict[str, float] = {}
    for part in _PARTS:
        found.update(part(view))
    found.update(_question(view, query))
    return np.array([found[name] for name in SIGNALS])


def _share(part: float, whole: float, *, empty: float) -> float:
    return part / whole if whole > 0 else empty


def _logarithmic(count: int, most: int) -> float:
    return min(1.0, math.log1p(count) / math.log1p(most))


def _lexical(view: ClaimView) -> Iterator[tuple[str, float]]:
    index = view.index
    total = sum(view.weights.values())
    novel = sum(view.weights[stem] for stem in view.novel)
    sequences = character_sequences(view.content)
    yield "token_recall", _share(len(view.content) - len(view.novel), len(view.content), empty=0.0)
    yield "idf_recall", _share(total - novel, total, empty=0.0)
    yield "character_recall", _share(len(sequences & index.sequences), len(sequences), empty=0.0)
    pairs = list(pairwise(view.stems))
    yield "bigram_recall", _share(sum(pair in index.pairs for pair in pairs), len(pairs), empty=0.0)
    yield "longest_run", _share(_longest_run(index, pairs), len(view.stems), empty=0.0)


def _longest_run(index: PassageIndex, pairs: list[tuple[str, str]]) -> int:
    """Return how many words of the claim follow one another in the context just so; 0 when no two do."""
    longest = 0
    running: dict[int, int] = {}
    for pair in pairs:
        running = {position: running.get(position - 1, 1) + 1 for position in index.pairs.get(pair, ())}
        if running:
            longest = max(longest, *running.values())
    return longest


def _aligned(view: ClaimView) -> Iterator[tuple[str, float]]:
    parts = view.sentences
    sizes = [len(part.content) for part in parts]

    def mean(values: list[float]) -> float:
        return _share(sum(v * n for v, n in zip(values, sizes, strict=True)), sum(sizes), empty=0.0)

    yield "sentence_recall", mean([part.sentence_recall for part in parts])
    yield "weakest_sentence_recall", min((part.sentence_recall for part in parts), default=0.0)
    yield "window_recall", mean([part.window_recall for part in parts])
    yield "pairs_apart", mean([_pairs_apart(view, part) for part in parts])
    yield "anchors_together", _anchors_together(view)


def _pairs_apart(view: ClaimView, part: ClaimSentence) -> float:
    """Return the share of a sentence's neighbouring words that both occur and never in one sentence of the context."""
    order = [word.stem for word in part.words if word.stem not in STOP_WORDS]
    holders = [view.index.holders(stem) for stem in order]
    apart = sum(bool(one and other and not one & other) for one, other in pairwise(holders))
    return _share(apart, len(order) - 1, empty=0.0)


def _anchors_together(view: ClaimView) -> float:
    """Return the share of names and numbers that the context mentions close to the word beside them in the claim."""
    names = set(view.names)
    met = total = 0
    for part in view.sentences:
        order = [word.stem for word in part.words if word.stem not in STOP_WORDS]
        for first, second in pairwise(order):
            named = (first in names) + (second in names)
            if named == 1 or (not named and (first[0].isdecimal() or second[0].isdecimal())):
                other = view.index.holders(second)
                met += bool(view.index.holders(first) & (other | other << 1 | other >> 1))
                total += 1
    return _share(met, total, empty=1.0)


def _numbers(view: ClaimView) -> Iterator[tuple[str, float]]:
    stated = [stem for stem in view.content if stem[0].isdecimal()]
    yield "numbers", min(1.0, len(stated) / _MANY_NUMBERS)
    if not stated:
        yield from ((name, 0.0) for name in _NUMBER_SIGNALS)
        return
    index = view.index
    figures = quantities(view.text)
    novel = [figure for figure in figures if not states(index.values, figure.value)]
    yield "novel_numbers", _share(len(novel), len(figures), empty=0.0)
    held = [stem for stem in stated if stem in index.postings]
    yield "numbers_elsewhere", float(any(not index.holders(stem) & view.near for stem in held))
    units = {(quantity.value, quantity.unit) for quantity in index.quantities}
    odd = [f for f in figures if f.unit != NO_UNIT and f.value in index.values and (f.value, f.unit) not in units]
    yield "unit_mismatch", float(bool(odd))
    named = days(view.text)
    yield "novel_days", _share(len(named - index.days), len(named), empty=0.0)


_NUMBER_SIGNALS: Final = (
    "novel_numbers",
    "numbers_elsewhere",
    "unit_mismatch",
    "novel_days",
)


def _names(view: ClaimView) -> Iterator[tuple[str, float]]:
    names, index = view.names, view.index
    novel = sum(name not in index.postings for name in names)
    elsewhere = sum(name in index.postings and not index.holders(name) & view.near for name in names)
    yield "novel_names", _share(novel, len(names), empty=0.0)
    yield "many_novel_names", min(1.0, novel / _MANY_NAMES)
    yield "names_elsewhere", _share(elsewhere, len(names), empty=0.0)


def _polarity(view: ClaimView) -> Iterator[tuple[str, float]]:
    index = view.index
    worst = 0.0
    opposites = 0
    for part in view.sentences:
        if part.best is not None:
            source = set(index.sentences[part.best].stems)
            own = {word.stem for word in part.words}
            differs = bool(own & NEGATIONS) != bool(source & NEGATIONS)
            worst = max(worst, part.sentence_recall if differs else 0.0)
            opposites += opposites_met(own, source)
    yield "negation_mismatch", worst
    yield "opposites", min(1.0, opposites / 2)
    present = set(view.stems)
    quantifiers = present & QUANTIFIERS
    yield "novel_quantifiers", float(any(stem not in index.postings for stem in quantifiers))
    dangling = bool(view.stems) and view.stems[0] in _PRONOUNS
    yield "dangling_in_several", float(dangling and len(view.sentences) > 1)


def _form(view: ClaimView) -> Iterator[tuple[str, float]]:
    yield "claim_length", _logarithmic(len(view.stems), _MANY_WORDS)
    yield "claim_sentences", min(1.0, len(view.sentences) / _MANY_SENTENCES)
    yield "context_length", _logarithmic(view.index.words, _MUCH_CONTEXT)


def _question(view: ClaimView, query: str | None) -> Iterator[tuple[str, float]]:
    asked = set(stems(query or ""))
    yield "question", float(bool(asked))
    yield from _kind(view, asked=bool(asked))
    if not asked:
        yield from (("copied_from_question", 0.0), ("answer_recall", 1.0))
        return
    answer = [stem for stem in view.content if stem not in asked]
    novel = sum(stem not in view.index.postings for stem in answer)
    yield "copied_from_question", _share(len(view.content) - len(answer), len(view.content), empty=0.0)
    yield "answer_recall", _share(len(answer) - novel, len(answer), empty=1.0)


def _kind(view: ClaimView, *, asked: bool) -> Iterator[tuple[str, float]]:
    """Say what kind of text it is; the first four exclude one another."""
    brief = is_short_answer(view.text)
    long = view.index.words >= LONG_CONTEXT_WORDS
    yield "short_answer", float(asked and brief)
    yield "sentence_answer", float(asked and not brief)
    yield "long_context", float(not asked and long)
    yield "brief_context", float(not asked and not long)
    yield "several_sentences", float(not asked and len(view.sentences) > 1)


_PARTS: Final[tuple[Callable[[ClaimView], Iterator[tuple[str, float]]], ...]] = (
    _lexical,
    _aligned,
    _numbers,
    _names,
    _polarity,
    _form,
)
