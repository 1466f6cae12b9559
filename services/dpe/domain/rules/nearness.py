"""Whether a claim repeats the sentence that it departs from, the words that differ aside (ADR 0166, 0215).

A misquote keeps nearly all words of its source and their neighbours, an inference in other words hardly any, and a
reply that speaks of something else keeps nouns. So three shares are asked together: of the claim's neighbouring words
of content those that stand near each other in the source, in either order; of its words those that the source has; and
of the source's words those that the claim has. The cells of a row stand beside one another by chance, and no claim
says them all: of a row the claim has to have the name, and words.
"""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from services.common.reading.labelled_rows import labelled_row
from services.common.reading.text_types import Span
from services.common.reading.words import words
from services.dpe.domain.rules.reading import is_content, root, roots, share, without_lead
from services.dpe.domain.rules.rows import TELLING

NEAR: Final = 0.6
"""Share of the claim's neighbours that are the source's, or of its words that are a row's."""
SHARED: Final = 0.5
"""Share of the claim's words that are the source's."""
COVERED: Final = 0.4
"""Share of the source's words that are the claim's; fitted, as the others, to development answers (ADR 0215)."""
ALIKE: Final = 0.75
"""Both shares, of whole sentences, from which on what changed its place or its link is one sentence all the same."""
_SHORT: Final = 4
_ENOUGH: Final = 3
"""A short answer that is nothing but what differs has the rest of its sentence from a question of so many words."""
_FEW: Final = 2
_STEP: Final = 3
"""Words of content within which two stand near each other."""
_ROW: Final = re.compile(r"\s\|\s|;\s[^;:\n]{1,60}:\s")


def repeats(claim: str, claimed: Span, source: str, known: Span, asked: frozenset[str] = frozenset()) -> bool:
    """Say whether a claim is its source with other words in one place.

    Args:
        claim: the claim.
        claimed: its words that differ, with offsets in it; words that are the whole claim are no such words.
        source: the sentence or row.
        known: the words that stand there instead, with offsets in it.
        asked: roots of the question, whose words a short answer leaves out.
    """
    rest, there = (_content(_cut(text, span)) for text, span in ((claim, claimed), (source, known)))
    if not rest and len(roots(claim)) <= _SHORT:
        return len(asked) >= _ENOUGH and share(asked, roots(source)) >= SHARED
    told, listed = rest or _content(claim), there or _content(source)
    if _covers(roots(claim), roots(source), ALIKE, ALIKE) or _covers(told, listed, ALIKE, ALIKE):
        return True
    if _ROW.search(source):
        return _is_named(source, claim) and share(frozenset(told) - _PRICED, frozenset(listed)) >= NEAR
    beside = _beside(told, listed)
    if beside == 1.0 and _is_part(claim, claimed, source, known):
        return True
    said = frozenset(_content(without_lead(_cut(source, known)))) or frozenset(listed)
    return (
        len(told) >= _FEW
        and beside >= NEAR
        and share(told, frozenset(listed)) >= SHARED
        and share(said, frozenset(told)) >= COVERED
    )


def _is_part(claim: str, claimed: Span, source: str, known: Span) -> bool:
    """Say whether a claim is part of a longer sentence: each word on that side of what differs on which it is there.

    A single word has to stand right before or behind it: "the fee is 9 euros" beside "the fee is 5 euros and is due".
    """
    sides = ((claim[: claimed.start], source[: known.start]), (claim[claimed.end :], source[known.end :]))
    (before, there_before), (behind, there_behind) = ([_content(text) for text in side] for side in sides)
    if len(before) + len(behind) < _FEW:
        return before == there_before[-1:] if before else behind == there_behind[:1]
    return frozenset(before) <= frozenset(there_before) and frozenset(behind) <= frozenset(there_behind)


def _covers(told: Collection[str], listed: Collection[str], shared: float, covered: float) -> bool:
    """Say whether so much of the claim stands in the source, and so much of the source in the claim."""
    return share(told, frozenset(listed)) >= shared and share(listed, frozenset(told)) >= covered


def _is_named(row: str, claim: str) -> bool:
    """Say whether a claim has every word of what names a row by which it is told from other rows.

    That is its first cell that has words, and no mere number; what stands there in brackets explains it.
    """
    cells = labelled_row(row)
    texts = list(cells[0].row) if cells else [_ROW.split(row, maxsplit=1)[0].rpartition(": ")[2]]
    label = next((text for each in texts if _WORD.search(text := _BRACKETS.sub(" ", each))), "")
    telling = TELLING.intersection(word.text for word in words(label))
    return bool(roots(label)) and roots(label) <= roots(claim) and telling <= {word.text for word in words(claim)}


_PRICED: Final = roots("it costs and you pay the price or charge")
"""Verbs for what a column calls by a noun of its own: "Express costs £18"."""
_BRACKETS: Final = re.compile(r"\([^()]{0,80}\)")
_WORD: Final = re.compile(r"[^\W\d_]")


def _beside(told: Sequence[str], listed: Sequence[str]) -> float:
    """Return which share of neighbouring words stands near each other in the source, in [0, 1]."""
    near = {pair for step in range(1, _STEP + 1) for pair in zip(listed, listed[step:], strict=False)}
    pairs = [pair for pair in pairwise(told) if pair[0] != pair[1]]
    beside = sum(1 for left, right in pairs if (left, right) in near or (right, left) in near)
    return beside / len(pairs) if pairs else 1.0


def _content(text: str) -> list[str]:
    return [root(word.text) for word in words(text) if is_content(word, text)]


def _cut(text: str, span: Span) -> str:
    """Return the text without the words that differ."""
    return f"{text[: span.start]} {text[span.end :]}"
