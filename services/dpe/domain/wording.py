"""The words on both sides of a distortion: as few as show it, each with its own text's offsets (ADR 0097).

What finds a turned negation or a turned bound knows that two statements differ, not by which words. Here its spans are
drawn to those words; where none can be named the whole statements stay.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from services.common.reading.lexicon import NEGATORS
from services.common.reading.polarity import compared
from services.common.reading.text_types import Span
from services.common.reading.words import Word, stem, words
from services.dpe.domain.findings import Distortion, DistortionType

_BOUND_WORDS: Final = 3
"""Words before a value in which its bound stands: "no later than"."""
_BOUNDS: Final = frozenset({DistortionType.MAGNITUDE_ALTERED, DistortionType.DATE_SHIFTED})
_LONGEST: Final = 4_000
"""Characters of a statement that is read for single words."""


def worded(answer: str, distortions: Sequence[Distortion], contents: Mapping[str, str]) -> tuple[Distortion, ...]:
    """Return the distortions with spans that hold the words that differ.

    Args:
        answer: the analysed text.
        distortions: as the rules found them.
        contents: of the facts, by id.
    """
    return tuple(_worded(answer, item, contents[item.fact_id]) for item in distortions)


def _worded(answer: str, item: Distortion, content: str) -> Distortion:
    if item.values is not None:
        return item
    if item.type is DistortionType.NEGATION_FLIP:
        return _turned(answer, item, content)
    if item.type in _BOUNDS:
        return replace(
            item, answer_span=_with_bound(answer, item.answer_span), fact_span=_with_bound(content, item.fact_span)
        )
    return item


def _turned(answer: str, item: Distortion, content: str) -> Distortion:
    """Draw the spans to a pair of opposites, or to the one negating word; the side that lacks it stays whole."""
    said, known = (_cut(text, span) for text, span in ((answer, item.answer_span), (content, item.fact_span)))
    if max(len(said), len(known)) > _LONGEST:
        return item
    ours, theirs = words(said), words(known)
    for one, other in compared(said, known).instead.items():
        left, right = _with_stem(ours, one), _with_stem(theirs, other)
        if left is not None and right is not None:
            return _drawn(item, left, right)
    left, right = _negator(ours), _negator(theirs)
    return item if (left is None) == (right is None) else _drawn(item, left, right)


def _drawn(item: Distortion, left: Word | None, right: Word | None) -> Distortion:
    return replace(item, answer_span=_within(item.answer_span, left), fact_span=_within(item.fact_span, right))


def _within(span: Span, word: Word | None) -> Span:
    return span if word is None else Span(span.start + word.start, span.start + word.end)


def _with_stem(among: Sequence[Word], wanted: str) -> Word | None:
    return next((word for word in among if stem(word.text) == wanted), None)


def _negator(among: Sequence[Word]) -> Word | None:
    return next((word for word in among if word.text in NEGATORS), None)


def _with_bound(text: str, span: Span) -> Span:
    """Return the span with the words before it in which its bound stands."""
    start = max(0, span.start - 40 * _BOUND_WORDS)
    before = words(text[start : span.start])[-_BOUND_WORDS:]
    line = max(text.rfind(mark, start, span.start) for mark in ".;:\n") - start
    near = [word for word in before if word.start > line]
    return Span(start + near[0].start, span.end) if near else span


def _cut(text: str, span: Span) -> str:
    return text[span.start : span.end]
