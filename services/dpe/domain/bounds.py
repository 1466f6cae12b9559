"""On which side of a value a statement lies: "up to 5 euros" and "at least 5 euros" name one value and differ.

Only words that say nothing else are read: "by" is left open, and so are "from" and "over" before a length of time.
"""

import re
from enum import StrEnum, unique
from typing import Final

from services.common.ports.recognition import EntityKind
from services.dpe.domain.text_types import Value

_REACH_CHARS: Final = 32
_AT_MOST: Final = re.compile(
    r"\b(?:up to|at (?:the )?most|(?:no|not|never) (?:more|later|longer|higher|greater) than"
    r"|(?:not|never) exceed(?:ing)?|within|(?:a )?maximum(?: of)?|less than|fewer than|lower than|shorter than|below"
    r"|under|until|before|prior to)\s+(?:the |an? )?$",
    re.IGNORECASE,
)
_AT_LEAST: Final = re.compile(
    r"\b(?:at (?:the )?least|(?:no|not|never) (?:less|fewer|earlier|lower|shorter) than|(?:a )?minimum(?: of)?"
    r"|more than|longer than|higher than|greater than|above|exceed(?:s|ed|ing)?|in excess of|beyond"
    r"|after)\s+(?:the |an? )?$",
    re.IGNORECASE,
)
_OVER: Final = re.compile(r"\b(?:over|from)\s+$", re.IGNORECASE)
_RANGE_BEHIND: Final = re.compile(r"(?<!\s)\s*+(?:to|until|[-–—])\s*+[\d€£$]", re.IGNORECASE)  # noqa: RUF001 - dashes of ranges
_OR_LESS: Final = re.compile(
    r"(?<!\s)\s*+(?:old )?(?:or (?:less|fewer|below|under|younger|earlier|shorter)\b|at (?:the )?(?:most|latest)\b)",
    re.IGNORECASE,
)
_OR_MORE: Final = re.compile(
    r"(?<!\s)\s*+(?:old )?(?:or (?:more|above|over|longer|older|later|higher|greater)\b"
    r"|at (?:the )?(?:least|earliest)\b)",
    re.IGNORECASE,
)


@unique
class Bound(StrEnum):
    """The side of a value."""

    AT_MOST = "AT_MOST"
    AT_LEAST = "AT_LEAST"


def bound_of(text: str, offset: int, value: Value) -> Bound | None:
    """Return the side that the words around a value name; ``text`` starts at ``offset``."""
    start, end = value.start - offset, value.end - offset
    before, behind = text[max(0, start - _REACH_CHARS) : start], text[end : end + _REACH_CHARS]
    if _AT_MOST.search(before) or _OR_LESS.match(behind):
        return Bound.AT_MOST
    counted = value.kind in {EntityKind.MONEY, EntityKind.PERCENT, EntityKind.NUMBER}
    if _AT_LEAST.search(before) or _OR_MORE.match(behind) or (counted and _is_over(before, behind)):
        return Bound.AT_LEAST
    return None


def _is_over(before: str, behind: str) -> bool:
    return bool(_OVER.search(before)) and not _RANGE_BEHIND.match(behind)
