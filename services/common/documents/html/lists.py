"""What a list calls its items: numbers, letters, Roman figures, from ``start``, ``reversed``, ``type``, ``value``."""

from collections.abc import Mapping
from typing import Final

from services.common.documents.html.styles import Declarations
from services.common.documents.numerals import alphabetic, roman, whole

_STYLES: Final = {
    "1": "decimal",
    "a": "lower-alpha",
    "A": "upper-alpha",
    "i": "lower-roman",
    "I": "upper-roman",
}
_MAX_ROMAN: Final = 3_999


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
        self._next = _signed(attributes.get("start"), items if self._step < 0 else 1)

    def number(self, value: str | None) -> str:
        """Return what the next item is called; empty for a bullet."""
        if not self.ordered:
            return ""
        here = _signed(value, self._next)
        self._next = here + self._step
        return f"{numeral(here, self.style)}."


def numeral(number: int, style: str) -> str:
    """Return a number as a list of a style shows it."""
    if style in {"lower-alpha", "upper-alpha", "lower-latin", "upper-latin"}:
        text = alphabetic(number)
    elif style in {"lower-roman", "upper-roman"}:
        text = roman(number, _MAX_ROMAN)
    else:
        text = str(number)
    return text.upper() if style.startswith("upper") else text


def _signed(text: str | None, otherwise: int) -> int:
    plain = (text or "").strip()
    size = whole(plain.removeprefix("-"), -1)
    return otherwise if size < 0 else -size if plain.startswith("-") else size
