"""Text that nothing can take for more than text: controls, invisible and direction characters are spelled out."""

import unicodedata
from typing import Final

MAX_CHARS: Final = 160
_HIDDEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def plain(text: str, limit: int = MAX_CHARS) -> str:
    """Return the text with every character that draws nothing of its own as ``<U+XXXX>``, cut after ``limit``.

    Line breaks, escape sequences, bidirectional overrides and lone surrogates are among them.
    """
    shown = text if len(text) <= limit else f"{text[:limit]}…"
    return "".join(_visible(character) for character in shown)


def _visible(character: str) -> str:
    if unicodedata.category(character) in _HIDDEN:
        return f"<U+{ord(character):04X}>"
    return character
