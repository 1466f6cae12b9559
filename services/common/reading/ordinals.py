"""Ordinals in words that count days: "the fifth day" is the 5th one (SPEC-005 §5).

Only before what is counted by itself, a day or a day of the week: "first" and "second" mean too much elsewhere.
"""

import re
from typing import Final

ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth",
)  # fmt: skip
_DAYS: Final = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"

ORDINAL_DAY: Final = re.compile(
    rf"\b(?P<ordinal>{'|'.join(sorted(ORDINALS, key=len, reverse=True))})"
    rf"(?=\s{{1,4}}(?:(?:(?:working|business|banking|bank|trading|calendar)\s{{1,4}})?day|{_DAYS})\b)",
    re.IGNORECASE,
)
"""An ordinal; ``ordinal`` is its word."""


def read_ordinal(word: str) -> int:
    """Return the number of an ordinal, 1 and up."""
    return ORDINALS.index(word.lower()) + 1
