"""Characters that a provider cut in two: JSON lets one event end between the halves of a surrogate pair."""

from typing import Final

_HIGH: Final = ("\ud800", "\udbff")
_UTF16: Final = "utf-16-le"


class Halves:
    """Joins the halves of what comes piece by piece; a half that stays alone becomes U+FFFD."""

    def __init__(self) -> None:
        self._waiting = ""

    def joined(self, piece: str) -> str:
        """Return the next piece in whole characters; a first half at its end waits for the second."""
        if not piece:
            return ""
        text = self._waiting + piece
        self._waiting = text[-1] if _HIGH[0] <= text[-1] <= _HIGH[1] else ""
        return whole_characters(text[: len(text) - len(self._waiting)])

    def rest(self) -> str:
        """Return what stands for a half that nothing followed."""
        left, self._waiting = self._waiting, ""
        return whole_characters(left)


def whole_characters(text: str) -> str:
    """Return a text whose surrogate pairs are the characters that they stand for, and whose lone halves are U+FFFD."""
    if text.isascii():
        return text
    return text.encode(_UTF16, "surrogatepass").decode(_UTF16, "replace")
