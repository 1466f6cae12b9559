"""Letters that are not ASCII's and that a pattern without regard to case takes for ASCII's all the same.

``re.IGNORECASE`` finds "six" also where its s is a long one, or its I has a dot. What is found so is looked up
only after this, or it is not there to be found.
"""

from typing import Final

_ASCII: Final = str.maketrans({"\u017f": "s", "\u212a": "K", "\u0130": "I", "\u0131": "i"})
"""Long s, the sign of kelvin, the Turkish dotted capital and dotless small i."""


def ascii_cased(text: str) -> str:
    """Return the text with each of these letters as the one of ASCII that it matches; offsets stay."""
    return text if text.isascii() else text.translate(_ASCII)
