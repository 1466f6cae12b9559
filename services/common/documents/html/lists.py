"""What a list calls its items: numbers, letters, Roman figures, from ``start``, ``reversed``, ``type``, ``value``."""

from collections.abc import Mapping
from typing import Final

from services.common.documents.html.styles import Declarations

_STYLES: Final = {
    "1": "decimal",
    "a": "lower-alpha",
    "A": "upper-alpha",
    "i": "lower-roman",
    "I": "upper-roman",
}
_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MAX_ROMAN: Final = 3_999
_LETTERS: Final = 26
_MAX_DIGITS: Final = 9


class ListNumbers:
    """Counts the items of one list.

    Args:
        tag: ``ol`` or ``ul``.
        attributes: the list's.
        style: what holds for it.
        items: how many items it has.
    """

    def __init__(self, tag: str, attributes: Mapping[str, str | None], style: Declarations, items: int) -> None:
        kind = style.get("list-style-type") or style.get("list-style", "").split(" ")[0]
        self.style = kind or _STYLES.get(attributes.get("type") or "", "decimal")
        self.ordered = tag == "ol" and self.style != "none"
        self._step = -1 if "reversed" in attributes else 1
        start = _whole(attributes.get("start"))
        self._next = start if start is not None else (items if self._step < 0 else 1)

    def number(self, value: str | None) -> str:
        """Return what the next item is called; empty for a bullet."""
        if not self.ordered:
            return ""
        given = _whole(value)
        here = self._next if given is None else given
        self._next = here + self._step
        return f"{numeral(here, self.style)}."


def numeral(number: int, style: str) -> str:
    """Return a number as a list of a style shows it."""
    if number > 0 and style in {"lower-alpha", "upper-alpha", "lower-latin", "upper-latin"}:
        text = ""
        while number > 0:
            number, rest = divmod(number - 1, _LETTERS)
            text = chr(ord("a") + rest) + text
    elif 0 < number <= _MAX_ROMAN and style in {"lower-roman", "upper-roman"}:
        text = ""
        for worth, letters in _ROMAN:
            count, number = divmod(number, worth)
            text += letters * count
    else:
        text = str(number)
    return text.upper() if style.startswith("upper") else text


def _whole(text: str | None) -> int | None:
    plain = (text or "").strip()
    return int(plain) if plain.lstrip("-").isdecimal() and len(plain) <= _MAX_DIGITS else None
