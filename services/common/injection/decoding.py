r"""Encodings that hide a text inside a text, a layer at a time; what was decoded is looked through again. Linear.

Two ways: characters written as escapes are read where they stand (``%69gnore``, ``&#105;gnore``, ``\u0069gnore``);
stretches that are a code as a whole (base64, hexadecimal, binary, decimal, marks nobody sees) become a view of their
own. A stretch that decodes to no text is no hiding place: pictures, digests and keys give nothing.
"""

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from typing import Final

import re2

from services.common.injection.views import Edit, View

MAX_DECODED_CHARS: Final = 200_000
"""All that is decoded of one text, at every depth together."""
_MIN_TEXT_CHARS: Final = 6
_MIN_READABLE: Final = 0.9
_ESCAPED: Final = re.compile(
    r"(?:%[0-9a-fA-F]{2})+"
    r"|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|\\u\{[0-9a-fA-F]{1,6}\}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}"
    r"|(?:=[0-9A-F]{2}){2,}|\\[nrt](?![A-Za-z]:)"
)
_MAY_ESCAPE: Final = re.compile(r"[%&\\=]")
_HIGHEST: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)
_WHITE: Final = {"\\n": "\n", "\\r": "\n", "\\t": " "}

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:[ \t]?\r?\n[ \t]?[A-Za-z0-9+/_-]{4,})*={0,2}")
_HEX: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{2}(?:(?:[ :,]|, |\\x|0x|, ?0x)?[0-9a-fA-F]{2}){7,}")
_BINARY: Final = re.compile(r"[01]{7,8}(?:[ ,]?[01]{7,8}){5,}")
_DECIMAL: Final = re.compile(r"\b[0-9]{2,3}(?:[ ,]{1,2}[0-9]{2,3}){7,}\b")
_MORSE: Final = re.compile(r"[.\-\u2022\u2013\u2212]{1,6}(?:[ /|]{1,3}[.\-\u2022\u2013\u2212]{1,6}){9,}")
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]{3,}")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{6,}")
_MAY_BE_CODE: Final = re2.compile(
    r"[A-Za-z0-9+/_-]{16}|(?:[0-9a-fA-F]{2}[ :,x\\]{0,3}){8}|[01]{7}|(?:[0-9]{2,3}[ ,]{1,2}){7}"
    r"|(?:[.\-\x{2022}\x{2013}\x{2212}]{1,6}[ /|]{1,3}){9}|[\x{e0020}-\x{e007e}]{3}|"
    r"[\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}]{6}"
)
"""Without one of these there is no code; most texts have none, and pay for one search."""
_NOT_HEX: Final = re.compile(r"0x|\\x|[^0-9a-fA-F]")
_SPACES: Final = re.compile(r"\s+")
_LETTERS: Final = re.compile(r"[^\W\d_]")
_MORSE_WORDS: Final = re.compile(r"\s*[/|]\s*|\s{2,}")
_MORSE_CODES: Final = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
)
_MORSE_LETTERS: Final = dict(zip(_MORSE_CODES.split(" "), "abcdefghijklmnopqrstuvwxyz0123456789", strict=True))
_BITS: Final = 8
_DASHES: Final = str.maketrans({"\u2013": "-", "\u2212": "-", "\u2022": "."})


def unescaped(view: View) -> View:
    """Return the view with characters that are written as escapes read as what they mean; itself where none is."""
    if _MAY_ESCAPE.search(view.text) is None:
        return view
    return view.rewritten(_unescaping(view.text), "escapes")


def _unescaping(text: str) -> Iterator[Edit]:
    for found in _ESCAPED.finditer(text):
        written = found.group()
        meant = _meant(written)
        if meant != written:
            yield found.start(), found.end(), meant


def _meant(written: str) -> str:
    if written in _WHITE:
        return _WHITE[written]
    if written[0] == "%":
        return _utf8(bytes.fromhex(written.replace("%", ""))) or written
    if written[0] == "=":
        return _utf8(bytes.fromhex(written.replace("=", ""))) or written
    if written[0] == "&":
        return html.unescape(written)
    code = int(written[2:].strip("{}"), 16)
    return chr(code) if code <= _HIGHEST and code not in _SURROGATES else written


def _utf8(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def hidden_texts(view: View, budget: int) -> Iterator[View]:
    """Yield what stretches of the view hold once they are decoded, while there is budget left, in characters."""
    if _MAY_BE_CODE.search(view.text) is None:
        return
    for layer, pattern, decode in _CODES:
        for found in pattern.finditer(view.text):
            if budget <= 0:
                return
            text = decode(found.group())
            if is_readable(text):
                budget -= len(text)
                yield view.decoded(found.start(), found.end(), text, layer)


def is_readable(text: str) -> bool:
    """Return whether what was decoded is a text that somebody could have meant."""
    if len(text) < _MIN_TEXT_CHARS:
        return False
    readable = sum(map(str.isprintable, text)) + text.count("\n") + text.count("\t")
    return readable >= _MIN_READABLE * len(text) and len(_LETTERS.findall(text)) >= len(text) / 2


def _from_base64(written: str) -> str:
    digits = _SPACES.sub("", written).rstrip("=").replace("-", "+").replace("_", "/")
    digits = digits[: len(digits) - (len(digits) % 4 == 1)]
    try:
        return _utf8(base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True))
    except binascii.Error:
        return ""


def _from_hex(written: str) -> str:
    digits = _NOT_HEX.sub("", written)
    return _utf8(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_binary(written: str) -> str:
    parts = re.split("[ ,]", written)
    if len(parts) == 1:
        parts = [written[at : at + _BITS] for at in range(0, len(written) // _BITS * _BITS, _BITS)]
    return _utf8(bytes(int(part, 2) for part in parts if part and len(part) <= _BITS))


def _from_decimal(written: str) -> str:
    codes = [int(part) for part in re.split("[ ,]+", written)]
    return "".join(map(chr, codes)) if all(9 <= code <= 126 for code in codes) else ""  # noqa: PLR2004 - ASCII's range


def _from_morse(written: str) -> str:
    words = _MORSE_WORDS.split(written.translate(_DASHES))
    return " ".join("".join(_MORSE_LETTERS.get(code, "?") for code in word.split()) for word in words)


def _from_tags(written: str) -> str:
    return "".join(chr(ord(char) - 0xE0000) for char in written)


def _from_selectors(written: str) -> str:
    """Return the bytes that variation selectors stand for: 1 to 16 for the first ones, 17 to 256 for the others."""
    values = (code - 0xFE00 if (code := ord(char)) < 0xE0000 else code - 0xE0100 + 16 for char in written)  # noqa: PLR2004
    return _utf8(bytes(values))


Decode = Callable[[str], str]
_CODES: Final[tuple[tuple[str, re.Pattern[str], Decode], ...]] = (
    ("base64", _BASE64, _from_base64),
    ("hexadecimal", _HEX, _from_hex),
    ("binary", _BINARY, _from_binary),
    ("decimal", _DECIMAL, _from_decimal),
    ("morse", _MORSE, _from_morse),
    ("tag characters", _TAGS, _from_tags),
    ("variation selectors", _SELECTORS, _from_selectors),
)
