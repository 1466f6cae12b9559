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
from services.dpe.domain.rules.reading import is_content, root, roots, share
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
_FEW: Final = 2
"""A short answer with fewer words besides those that differ has the rest of its sentence from its question."""
_STEP: Final = 3
"""Words of content within which two stand near each other."""
_ROW: Final = re.compile(r"\s\|\s|;\s[^;:\n]{1,60}:\s")


def repeats(claim: str, claimed: Span, source: str, known: Span, asked: str = "") -> bool:
    """Say whether a claim is its source with other words in one place.

    Args:
        claim: the claim.
        claimed: its words that differ, with offsets in it; words that are the whole claim are no such words.
        source: the sentence or row.
        known: the words that stand there instead, with offsets in it.
        asked: the question, whose words a short answer leaves out.
    """
    if _covers(roots(claim), roots(source), ALIKE, ALIKE):
        return True
    if len(roots(claim)) <= _SHORT and len(roots(f"{claim[: claimed.start]} {claim[claimed.end :]}")) < _FEW:
        return share(roots(asked), roots(source)) >= SHARED
    told, listed = _content(_without(claim, claimed)), _content(_without(source, known))
    if _ROW.search(source):
        return share(told, frozenset(listed)) >= NEAR and _is_named(source, claim)
    return _beside(told, listed) >= NEAR and _covers(told, listed, SHARED, COVERED)


def _covers(told: Collection[str], listed: Collection[str], shared: float, covered: float) -> bool:
    """Say whether so much of the claim stands in the source, and so much of the source in the claim."""
    return share(told, frozenset(listed)) >= shared and share(listed, frozenset(told)) >= covered


def _is_named(row: str, claim: str) -> bool:
    """Say whether a claim has every word of what names a row by which it is told from other rows."""
    cells = labelled_row(row)
    label = cells[0].label if cells else _ROW.split(row, maxsplit=1)[0].rpartition(": ")[2]
    telling = TELLING.intersection(word.text for word in words(label))
    return bool(roots(label)) and roots(label) <= roots(claim) and telling <= {word.text for word in words(claim)}


def _beside(told: Sequence[str], listed: Sequence[str]) -> float:
    """Return which share of neighbouring words stands near each other in the source, in [0, 1]."""
    near = {pair for step in range(1, _STEP + 1) for pair in zip(listed, listed[step:], strict=False)}
    pairs = [pair for pair in pairwise(told) if pair[0] != pair[1]]
    beside = sum(1 for left, right in pairs if (left, right) in near or (right, left) in near)
    return beside / len(pairs) if pairs else 1.0


def _content(text: str) -> list[str]:
    return [root(word.text) for word in words(text) if is_content(word, text)]


def _without(text: str, span: Span) -> str:
    """Return the text without the words that differ, where more is left of it than they are."""
    return text if 2 * (span.end - span.start) >= len(text) else f"{text[: span.start]} {text[span.end :]}"
