"""How nearly a claim repeats the sentence that it departs from (ADR 0166).

Of the claim's neighbouring words of content, those that differ aside, the share that stand near each other in the
source, in either order. A misquote keeps nearly all of them, an inference in other words hardly any. The cells of a row
stand beside one another by chance: of a row it is the share of the claim's words that counts.
"""

import re
from itertools import pairwise
from typing import Final

from services.common.reading.text_types import Span
from services.common.reading.words import words
from services.dpe.domain.rules.reading import is_content, root

_STEP: Final = 3
"""Words of content within which two stand near each other."""
_ROW: Final = re.compile(r"\s\|\s|;\s[^;:\n]{1,60}:\s")


def nearness(claim: str, claimed: Span, source: str, known: Span) -> float:
    """Return the share, in [0, 1]; 1.0 where nothing but the differing words is left of the claim.

    Args:
        claim: the claim.
        claimed: its words that differ, with offsets in it; words that are the whole claim are no such words.
        source: the sentence or row.
        known: the words that stand there instead, with offsets in it.
    """
    told, listed = _content(_without(claim, claimed)), _content(_without(source, known))
    if _ROW.search(source):
        return len(set(told) & set(listed)) / len(set(told)) if told else 1.0
    near = {pair for step in range(1, _STEP + 1) for pair in zip(listed, listed[step:], strict=False)}
    pairs = [pair for pair in pairwise(told) if pair[0] != pair[1]]
    beside = sum(1 for left, right in pairs if (left, right) in near or (right, left) in near)
    return beside / len(pairs) if pairs else 1.0


def _content(text: str) -> list[str]:
    return [root(word.text) for word in words(text) if is_content(word, text)]


def _without(text: str, span: Span) -> str:
    """Return the text without the words that differ, where more is left of it than they are."""
    return text if 2 * (span.end - span.start) >= len(text) else f"{text[: span.start]} {text[span.end :]}"
