"""From bytes to text: UTF-8, UTF-16 and UTF-32 with a byte order mark, a declared charset, Windows-1252 as a guess.

A wrong guess makes wrong words, so one is made only where every character of it is one that Western European texts
have, and a warning says so. UTF-8 is tried first: what is valid in it is hardly ever anything else.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Final

from services.common.documents.refusals import unsupported_media

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAX_CONTROL_RATIO: Final = 0.001
_WESTERN: Final = frozenset(
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüŒœŠšŽžÿ"
    "€£¥§©®°±²³µ·¹º»«¼½¾¿¡ª¬\u00d7÷\u2013\u2014\u2018\u2019\u201a“”„†‡•…‰\u2039\u203a™\u00b4¨\u00b8\u00a0\u00ad"
)
_FOREIGN_RUN: Final = re.compile(r"[^\W\x00-\x7f]{3,}")
_UTF8: Final = frozenset({"", "utf-8", "utf8", "utf-8-sig", "us-ascii", "ascii"})
_SHOWN_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and what is to be said of how it was decoded."""

    text: str
    warning: str = ""


def decode(content: bytes, charset: str, *, guess: bool) -> Decoded:
    """Return the text of a document.

    Args:
        content: the bytes.
        charset: as declared; empty = not.
        guess: whether Windows-1252 may be tried: the caller says, or the name does, that it is text.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: no text, or none in a known encoding.
    """
    marked = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), "")
    encoding = marked or ("utf-8-sig" if charset.lower() in _UTF8 else charset)
    try:
        decoded = Decoded(content.decode(encoding))
    except (UnicodeDecodeError, LookupError) as error:
        western = _western(content) if guess and encoding == "utf-8-sig" else ""
        if not western:
            shown = "utf-8" if encoding == "utf-8-sig" else encoding[:_SHOWN_CHARS]
            raise unsupported_media(
                f"the document is neither of a binary kind that is read nor text in {shown}; save it as UTF-8, or "
                "declare its charset",
                detail=shown,
            ) from error
        decoded = Decoded(western, "the text is not UTF-8 and was read as Windows-1252")
    if "\x00" in decoded.text or len(_CONTROL.findall(decoded.text)) > len(decoded.text) * _MAX_CONTROL_RATIO:
        raise unsupported_media("the document is binary data, not text")
    return decoded


def _western(content: bytes) -> str:
    """Return the bytes as Windows-1252, or nothing where that gives what Western European texts do not have."""
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return ""
    foreign = {character for character in set(text) if ord(character) > 0x7F}  # noqa: PLR2004 - the end of ASCII
    if not foreign <= _WESTERN or _FOREIGN_RUN.search(text):
        return ""
    return text
