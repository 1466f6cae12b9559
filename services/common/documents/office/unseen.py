"""What hides text in Office files, and what it is called: one measure for Word, PowerPoint and Excel."""

import re
from typing import Final

TOO_SMALL: Final = "text too small to read"
WHITE_ON_WHITE: Final = "white text on white"
_UNREADABLE_POINTS: Final = 2.0
_COLOUR: Final = re.compile(r"(?:[0-9A-F]{2})?([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2})", re.IGNORECASE)
"""RRGGBB, or with the opacity, which Excel does not heed, before it."""
_WHITE_FROM: Final = 0xFC


def is_unreadable(points: float) -> bool:
    """Say whether type of a size is too small to read."""
    return points <= _UNREADABLE_POINTS


def is_white(colour: str) -> bool:
    """Say whether a colour, in hexadecimal digits, is white or as good as white."""
    found = _COLOUR.fullmatch(colour)
    return found is not None and all(int(part, 16) >= _WHITE_FROM for part in found.groups())
