"""Numbers of list items as people see them: ``c``, ``iv``, ``XII``, ``1st``."""

from typing import Final

_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")),
    *((9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LETTERS: Final = 26
_MAX: Final = 32_767
"""Word's own bound; what a file says beyond it is written in digits."""
_TEENS: Final = range(11, 14)


def letters(number: int) -> str:
    """Return ``a`` for 1, ``z`` for 26, ``aa`` for 27, ``bb`` for 28, as word processors count."""
    if not 1 <= number <= _MAX:
        return str(number)
    repeated, letter = divmod(number - 1, _LETTERS)
    return chr(ord("a") + letter) * (repeated + 1)


def roman(number: int) -> str:
    """Return ``iv`` for 4."""
    if not 1 <= number <= _MAX:
        return str(number)
    parts = []
    for value, text in _ROMAN:
        count, number = divmod(number, value)
        parts.append(text * count)
    return "".join(parts)


def ordinal(number: int) -> str:
    """Return ``2nd`` for 2."""
    ending = "th" if number % 100 in _TEENS else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
