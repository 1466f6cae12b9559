"""Numbers of list items: as formats write them down, and as people see them: ``c``, ``iv``, ``XII``, ``1st``."""

from typing import Final

_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")),
    *((9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LETTERS: Final = 26
_MAX: Final = 32_767
"""Word's own bound; what a file says beyond it is written in digits."""
_TEENS: Final = range(11, 14)
_MAX_DIGITS: Final = 9


def whole(text: str | None, otherwise: int) -> int:
    """Return a number of digits alone, at most nine of them; ``otherwise`` where the text is none."""
    plain = (text or "").strip()
    return int(plain) if plain.isdecimal() and len(plain) <= _MAX_DIGITS else otherwise


def letters(number: int) -> str:
    """Return ``a`` for 1, ``z`` for 26, ``aa`` for 27, ``bb`` for 28, as word processors count."""
    if not 1 <= number <= _MAX:
        return str(number)
    repeated, letter = divmod(number - 1, _LETTERS)
    return chr(ord("a") + letter) * (repeated + 1)


def alphabetic(number: int) -> str:
    """Return ``a`` for 1, ``z`` for 26, ``aa`` for 27, ``ab`` for 28, as pages count."""
    if number < 1:
        return str(number)
    text = ""
    while number > 0:
        number, letter = divmod(number - 1, _LETTERS)
        text = chr(ord("a") + letter) + text
    return text


def roman(number: int, most: int = _MAX) -> str:
    """Return ``iv`` for 4; digits beyond ``most``."""
    if not 1 <= number <= most:
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
