"""A text as the classifier reads it: one spelling for what looks alike, and nothing that cannot be seen (ADR 0227).

Linear in the text's length. What it makes of a text is never shown; offsets into it mean nothing outside.
"""

import re
import unicodedata
from typing import Final

_LOOK_ALIKE: Final = str.maketrans(
    "аеорсухіјѕԁһкмтвнАВЕКМНОРСТХУІЈЅαεορυχικντΑΒΕΖΗΙΚΜΝΟΡΤΥΧɡıℓ",
    "aeopcyxijsdhkmtbhABEKMHOPCTXYIJSaeopuxikvtABEZHIKMNOPTYXgil",
)
"""Letters of other scripts that look like Latin ones; only where they stand beside Latin ones."""
_MIXED: Final = re.compile(r"[^\W\d_]+")
_OTHER_SCRIPT: Final = re.compile(r"[\u0370-\u052f]")
_LATIN: Final = re.compile(r"[A-Za-z]")
_UNSEEN: Final = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    r"\U000e0100-\U000e01ef]"
)
_TAGS: Final = re.compile(r"[\U000e0020-\U000e007e]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MOJIBAKE: Final = re.compile(r"[\u00c2-\u00f4][\u0080-\u00bf]")
_BLANKS: Final = re.compile(r"[^\S\n]+")


def readable(text: str) -> str:
    """Return the text with one spelling for what looks alike, without what nobody sees, lines kept, in its own case."""
    if not text.isascii():
        text = _plain_letters(_UNSEEN.sub("", _TAGS.sub(_tagged, _mended(text))))
    return _BLANKS.sub(" ", _CONTROLS.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")))


def _tagged(found: re.Match[str]) -> str:
    """Return the ASCII character that an invisible tag stands for."""
    return chr(ord(found[0]) - 0xE0000)


def _mended(text: str) -> str:
    """Return a text whose UTF-8 bytes were read as Latin-1 as it was meant."""
    if _MOJIBAKE.search(text) is None:
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _plain_letters(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text)
    if _OTHER_SCRIPT.search(composed) is not None:
        composed = _MIXED.sub(_one_script, composed)
    marks = unicodedata.normalize("NFD", composed)
    return "".join(each for each in marks if not unicodedata.combining(each))


def _one_script(found: re.Match[str]) -> str:
    word = found[0]
    if _OTHER_SCRIPT.search(word) is None or _LATIN.search(word) is None:
        return word
    return word.translate(_LOOK_ALIKE)
