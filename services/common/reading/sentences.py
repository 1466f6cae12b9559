"""Sentence boundaries (SPEC-005 §3): where a claim can begin and end.

A rule segmenter in the domain, and not spaCy's: boundaries are part of the evidence (offsets are hashed into the
report), so they must be the same with every model installed, and a sentence must not vanish when a model is swapped.
It knows Markdown layout (headings, lists, tables, fences), abbreviations, initials, decimals, quotations and citation
marks, and prefers a boundary too many to one too few. Linear in the text, whatever the text is. The rules of lines and
marks are ``groundtrail.reading``'s, which knows the same boundaries in a text that is still being written (ADR 0173).
"""

import re
from collections.abc import Iterator
from typing import Final

from groundtrail.reading.boundaries import (
    CLOSERS,
    FENCE,
    MARKS_AFTER,
    TERMINATOR,
    classify_line,
    is_boundary,
    trimmed,
    wraps,
)

from services.common.reading.languages import has_english, is_other_language
from services.common.reading.text_types import Sentence, SentenceKind

_LINE: Final = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_LANGUAGE_CHARS: Final = 20_000
"""So much of a text shows which language it is in."""


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order; they do not overlap and hold all of its words but layout marks.

    One in another language than English says so by its kind.
    """
    is_other = is_other_language(text[:_LANGUAGE_CHARS])
    found: list[Sentence] = []
    for start, end, kind in _blocks(text):
        spans = (
            _prose_spans(text, start, end) if kind in {SentenceKind.PROSE, SentenceKind.LIST_ITEM} else [(start, end)]
        )
        for left, right in spans:
            span = trimmed(text, left, right)
            if span is not None:
                found.append(Sentence(len(found), *span, _kind(text[slice(*span)], kind, is_other=is_other)))
    return found


def _kind(sentence: str, kind: SentenceKind, *, is_other: bool) -> SentenceKind:
    if kind is SentenceKind.CODE:
        return kind
    # Around a sentence that is plainly English nothing matters; in a text of another language a short one follows it.
    if is_other:
        other = is_other_language(sentence) or not has_english(sentence)
    else:
        other = is_other_language(sentence, within_english=True)
    return SentenceKind.OTHER_LANGUAGE if other else kind


def _blocks(text: str) -> Iterator[tuple[int, int, SentenceKind]]:
    """Yield the stretches that no sentence crosses: paragraphs, list items, headings, rows and lines of code."""
    pending: tuple[int, int, SentenceKind] | None = None
    in_fence = False
    previous_end = 0
    for match in _LINE.finditer(text):
        line, start, end = match.group(), match.start(), match.end()
        blank_between = text.count("\n", previous_end, start) > 1
        previous_end = end
        if FENCE.match(line):
            in_fence = not in_fence
            kind: SentenceKind | None = None
        elif not line.strip():
            kind = None
        else:
            start, kind = classify_line(line, start, in_fence=in_fence)
        if pending and (blank_between or kind is not SentenceKind.PROSE or not _continues(text, pending, start)):
            yield pending
            pending = None
        if kind in {SentenceKind.PROSE, SentenceKind.LIST_ITEM}:
            pending = (pending[0], end, pending[2]) if pending else (start, end, kind)
        elif kind is not None:
            yield start, end, kind
    if pending:
        yield pending


def _continues(text: str, pending: tuple[int, int, SentenceKind], start: int) -> bool:
    line_start = max(text.rfind("\n", pending[0], pending[1]) + 1, pending[0])
    return wraps(text[line_start : pending[1]], text[start : start + 1])


def _prose_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    left = start
    for match in TERMINATOR.finditer(text, start, end):
        stop = match.end()
        if stop <= left:
            continue
        while stop < end and text[stop] in CLOSERS:
            stop += 1
        marks = MARKS_AFTER.match(text, stop, end)
        if marks:
            stop = marks.end()
        if stop < end and not is_boundary(text, left, match.start(), stop):
            continue
        yield left, stop
        left = stop
    if left < end:
        yield left, end
