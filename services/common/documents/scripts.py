"""Superscripts and subscripts in plain text: ``10^6`` and ``x_1``, never ``106`` and ``x1``.

What is raised only as a habit of print (``2nd``, ``Mme``) and what is lowered in a chemical formula (``CO2``) is
written as everybody writes it in plain text.
"""

import re
from typing import Final

_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th|er|re|e|ème|o|a|º|ª|te|ter|me|lle|r|TM|SM|®|©|™)\.?", re.IGNORECASE)
_FORMULA: Final = re.compile(r"[A-Za-z)\]]\Z")
_SIMPLE: Final = re.compile(r"[+\-\u2212\u2013]?\w+|[+\-\u2212\u2013*°†‡§¶#]+")


def raised(before: str, text: str) -> str:
    """Return a superscript as it stands after ``before``."""
    mark = text.strip()
    if not mark or mark in {"°", "º", "ª", "™", "®", "©"}:
        return text
    if before[-1:].isalnum() and _ORDINAL.fullmatch(mark):
        return text
    return f"^{mark}" if _SIMPLE.fullmatch(mark) else f"^({mark})"


def lowered(before: str, text: str) -> str:
    """Return a subscript as it stands after ``before``."""
    mark = text.strip()
    if not mark:
        return text
    if mark.isdecimal() and _FORMULA.search(before):
        return text
    return f"_{mark}" if _SIMPLE.fullmatch(mark) else f"_({mark})"
