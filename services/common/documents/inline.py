"""Running text with raised, lowered and struck parts: ``10<sup>6</sup>`` is 10^6, ``30<sup>1</sup> days`` has a note.

Readers write the parts between marks of the Unicode private use area, which ``plain_of`` keeps out of what they read.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from services.common.documents.text import collapse

SUP, SUP_END, SUB, SUB_END = "\ue000\ue001\ue002\ue003"
BREAK, NOTE, NOTE_END = "\ue004\ue005\ue006"
STRUCK, STRUCK_END, BOLD, BOLD_END = "\ue007\ue008\ue009\ue00a"
PICTURE, PICTURE_END, LINK, LINK_END = "\ue00b\ue00c\ue00d\ue00e"
_MARKS: Final = "\ue000-\ue00e"
_UNSEEN: Final = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff\ue000-\ue00f]")

_RAISED: Final = re.compile(f"{SUP}([^{SUP}{SUP_END}]*){SUP_END}")
_LOWERED: Final = re.compile(f"{SUB}([^{SUB}{SUB_END}]*){SUB_END}")
_NOTED: Final = re.compile(f"\\s*{NOTE}([^{NOTE}{NOTE_END}]*){NOTE_END}")
_STRUCK_PART: Final = re.compile(f"{STRUCK}[^{STRUCK}{STRUCK_END}]*{STRUCK_END}")
_BOLD_PART: Final = re.compile(f"{BOLD}[^{BOLD}{BOLD_END}]*{BOLD_END}")
_LINK_PART: Final = re.compile(f"{LINK}[^{LINK}{LINK_END}]*{LINK_END}")
_PICTURE_PART: Final = re.compile(f"{PICTURE}([^{PICTURE}{PICTURE_END}]*){PICTURE_END}")
_ANY_MARK: Final = re.compile(f"[{_MARKS}]")
_LAYERS: Final = 4
"""Powers of powers are read to this depth."""

_SYMBOLS: Final = re.compile(r"[*\u2020\u2021\u00a7\u00b6#\u2022]{1,4}")
_BRACKETED: Final = re.compile(r"[\[(]\s*([\w*\u2020\u2021]{1,4}(?:\s*[,\u2013-]\s*\w{1,3})*)\s*[\])]|(\w{1,3})\)")
_SEVERAL: Final = re.compile(r"\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})+")
_ORDINAL: Final = frozenset(
    {"st", "nd", "rd", "th", "er", "re", "e", "\u00e8re", "\u00e8me", "eme", "nde", "ers", "es"}
)
_SHORTENED: Final = frozenset(
    {"o", "os", "a", "as", "me", "mes", "lle", "mlle", "r", "gr", "t", "ts", "te", "ve", "\u00ba"}
)
_TRADE: Final = {
    "tm": "\u2122",
    "sm": "\u2120",
    "\u00ae": "\u00ae",
    "\u2122": "\u2122",
    "(r)": "\u00ae",
    "\u00a9": "\u00a9",
}
_POWER: Final = re.compile(r"[-+\u2212\u2013]\s*[\w.]+|\d*[+\u2212-]|[\w.]+")
_UNITS: Final = frozenset(
    {
        *(
            "m",
            "mm",
            "cm",
            "dm",
            "km",
            "nm",
            "\u00b5m",
            "\u03bcm",
            "pm",
            "in",
            "ft",
            "yd",
            "mi",
            "s",
            "ms",
            "ns",
            "h",
            "hr",
        ),
        *(
            "kg",
            "g",
            "mg",
            "l",
            "ml",
            "a",
            "ha",
            "hz",
            "khz",
            "mhz",
            "k",
            "v",
            "w",
            "j",
            "n",
            "pa",
            "mol",
            "min",
            "sec",
        ),
        *(
            "inch",
            "foot",
            "metre",
            "meter",
            "sq",
            "cu",
            "r",
            "x",
            "y",
            "z",
            "c",
            "d",
            "t",
            "u",
            "p",
            "q",
            "e",
            "i",
            "b",
        ),
    }
)
_TOKEN: Final = re.compile(r"[^\s]+$")
_LAST_WORD: Final = re.compile(r"[^\W\d_]+$")
_LAST_NUMBER: Final = re.compile(r"\d[\d.,]*$")
_MATH: Final = re.compile(
    r"[\w\s+\-\u2212\u2013*/^.,\u00b7\u00d7=]*[+\-\u2212\u2013*/^\u00b7\u00d7][\w\s+\-\u2212\u2013*/^.,\u00b7\u00d7=]*|\w|\d+(?:\^\w+)?"
)
_WORD_FOLLOWS: Final = re.compile(r"\s+[^\W\d_]{3,}")
_BASE_CHARS: Final = 60
_RAISED_DIGITS: Final = str.maketrans(
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u207a", "0123456789-+"
)
_UNICODE_POWER: Final = re.compile(r"(?<=\d)[\u207b\u207a]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")


@dataclass(frozen=True, slots=True)
class Line:
    """Running text as it is read.

    Attributes:
        notes: marks of footnotes: (offset in the text, mark).
        current: the text without what is struck out; as ``text`` where nothing is.
        opens_with: the mark that stands first, as that of a footnote's own text does; empty otherwise.
        bold: all of it is.
        links: so many links make up all of it; 0 when other words stand beside them.
        pictures: descriptions of pictures that stand apart from the text.
    """

    text: str
    notes: tuple[tuple[int, str], ...] = ()
    current: str = ""
    opens_with: str = ""
    bold: bool = False
    links: int = 0
    pictures: tuple[str, ...] = ()


def plain_of(text: str) -> str:
    """Return text as it is read: without soft hyphens, zero widths and characters that are our own marks."""
    return _UNSEEN.sub("", text)


def read_line(raw: str, defined: frozenset[str]) -> Line:
    """Return running text.

    Args:
        raw: with marks.
        defined: marks for which the document has footnotes.
    """
    if not _ANY_MARK.search(raw):
        text = _powers(collapse(raw))
        return Line(text, current=text)
    pictures, raw = _take_pictures(raw.replace(f"{LINK_END}{LINK}", f"{LINK_END} {LINK}"))
    bold = not _has_words(_without(_BOLD_PART, raw)) and _has_words(raw)
    links = 0 if _has_words(_without(_LINK_PART, raw)) else len(_LINK_PART.findall(raw))
    raw = re.sub(f"[{BOLD}{BOLD_END}{LINK}{LINK_END}]", "", raw).replace(BREAK, " ")
    raw = _raise(raw, defined)
    text, notes, opens_with = _take_notes(raw.replace(STRUCK, "").replace(STRUCK_END, ""))
    current = text
    if STRUCK in raw:
        rest = _STRUCK_PART.sub(_struck, raw)
        rest = re.sub(f"[{STRUCK}{STRUCK_END}]", "", rest)
        current = _take_notes(rest)[0] if _has_words(_ANY_MARK.sub("", rest)) else text
    return Line(text, notes, current, opens_with, bold, links, pictures)


def split_lines(raw: str) -> list[str]:
    """Return the parts of a paragraph that its line breaks part: lines of the form ``Label: value`` and bold ones."""
    if BREAK not in raw:
        return [raw]
    lines = raw.split(BREAK)
    parts: list[str] = [lines[0]]
    for before, line in pairwise(lines):
        blank = not _ANY_MARK.sub("", before).strip()
        if (
            (blank and parts[-1].strip())
            or _is_labelled(line)
            or (_is_labelled(before) and _opens(line))
            or _is_bold(before) != _is_bold(line)
        ):
            parts.append(line)
        else:
            parts[-1] = f"{parts[-1]}{BREAK}{line}"
    return parts


def _struck(match: re.Match[str]) -> str:
    """Return nothing of what is struck out where words stand before it: others have taken its place."""
    return (
        " "
        if _has_words(_ANY_MARK.sub("", match.string[max(0, match.start() - _BASE_CHARS) : match.start()]))
        else match[0]
    )


def _is_labelled(line: str) -> bool:
    label, colon, rest = _ANY_MARK.sub("", line).strip().partition(":")
    return bool(colon) and 0 < len(label) <= 40 and rest[:1].isspace() and len(label.split()) <= 4 and _opens(label)


def _opens(line: str) -> bool:
    text = _ANY_MARK.sub("", line).strip()
    return bool(text) and not text[0].islower()


def _is_bold(line: str) -> bool:
    return _has_words(line) and not _has_words(_without(_BOLD_PART, line))


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _without(part: re.Pattern[str], raw: str) -> str:
    return part.sub(" ", raw)


def _take_pictures(raw: str) -> tuple[tuple[str, ...], str]:
    """Return descriptions that stand apart, and the text: short ones stay in the line where words stand beside them."""
    if PICTURE not in raw:
        return (), raw
    words = _has_words(_without(_PICTURE_PART, raw))
    apart: list[str] = []

    def place(match: re.Match[str]) -> str:
        told = collapse(match[1])
        if words and len(told) <= 40:
            return f" {told} "
        apart.append(told)
        return " "

    rest = _PICTURE_PART.sub(place, raw)
    return tuple(apart), rest


def _powers(text: str) -> str:
    return _UNICODE_POWER.sub(lambda match: f"^{match[0].translate(_RAISED_DIGITS)}", text)


def _raise(raw: str, defined: frozenset[str]) -> str:
    for _ in range(_LAYERS):
        if SUP not in raw and SUB not in raw:
            break
        before = raw
        raw = _LOWERED.sub(_lower, raw)
        raw = _RAISED.sub(lambda match: _raised(match, defined), raw)
        if raw == before:
            break
    return re.sub(f"[{SUP}{SUP_END}{SUB}{SUB_END}]", "", raw)


def _lower(match: re.Match[str]) -> str:
    """Return lowered text: H2O as it is, but 10_2 after a figure, which would be another number."""
    text = collapse(match[1])
    before = match.string[match.start() - 1 : match.start()]
    return f"_{text}" if text[:1].isdigit() and before.isdigit() else text


def _raised(match: re.Match[str], defined: frozenset[str]) -> str:
    text = collapse(match[1].replace(BREAK, " "))
    before = match.string[max(0, match.start() - _BASE_CHARS) : match.start()]
    after = match.string[match.end() : match.end() + 12]
    if not text:
        return ""
    if NOTE in text:
        return text
    if text.lower() in _TRADE:
        return _TRADE[text.lower()]
    bracketed = _BRACKETED.fullmatch(text)
    if _SYMBOLS.fullmatch(text) or (bracketed and before.strip()) or _SEVERAL.fullmatch(text):
        return _note(text)
    seen = _ANY_MARK.sub("", before)
    token = _TOKEN.search(seen)
    if token is None:
        return _at_start(text, after, bare=not seen.strip())
    if text.isdigit() and (after[:1] == "\u2044" or (after[:1] == "/" and after[1:2] == SUB)):
        return f" {text}" if seen[-1:].isdigit() else text  # 2 1/2
    if _is_note(text, seen, after, defined):
        return _note(text)
    return _as_power(text, seen)


def _note(text: str) -> str:
    mark = text.strip("()[] ")
    marks = re.split(r"\s*[,;]\s*", mark) if _SEVERAL.fullmatch(mark) else [mark]
    return "".join(f"{NOTE}{one}{NOTE_END}" for one in marks)


def _at_start(text: str, after: str, *, bare: bool) -> str:
    """Return raised text before which nothing stands: a footnote's own mark, a note after a blank, or 14C."""
    following = _ANY_MARK.sub("", after)[:1]
    if text.isdigit() and following.isupper() and not (bare and after[:2].isalpha() and after[1:2].islower()):
        return text
    return _note(text)


def _is_note(text: str, before: str, after: str, defined: frozenset[str]) -> bool:
    """Say whether raised text is the mark of a note, and no power, ordinal or abbreviation."""
    if not (text.isalnum() and len(text) <= 3):
        return False
    known = text in defined
    last = before[-1]
    word = _LAST_WORD.search(before)
    if last.isdigit():
        return _is_note_of_number(text, before, after, known=known)
    if text.isalpha():
        if word is None:
            return known or last in ".,;:!?%\u20ac$\u00a3\"'\u201d\u2019\u00bb"
        return known or (len(word[0]) > 2 and len(text) == 1 and text not in _SHORTENED)
    if not text.isdigit():
        return known
    if last in ")]}":
        inner = re.search(r"[(\[{]([^()\[\]{}]*)[)\]}]$", before)
        return known or not (inner is not None and _MATH.fullmatch(inner[1]))
    if word is None:
        return True
    if text == "1":
        return True
    unit = word[0] in _UNITS or len(word[0]) == 1
    if unit:
        return known and not (text in {"2", "3"} and word[0] in _UNITS)
    return known or len(word[0]) > 2


def _is_note_of_number(text: str, before: str, after: str, *, known: bool) -> bool:
    if text.lower() in _ORDINAL and not known:
        return False
    number = _LAST_NUMBER.search(before)
    figure = number[0] if number else ""
    if text == "1":
        return True
    if figure == "10" or len(figure) == 1:
        return known and figure != "10" and not re.search(r"[\u00d7\u00b7*=^]\s*\S*$", before)
    if known:
        return True
    return text.isalnum() and not text.isalpha() and bool(_WORD_FOLLOWS.match(_ANY_MARK.sub("", after)))


def _as_power(text: str, before: str) -> str:
    lower = text.lower()
    if (lower in _ORDINAL and before[-1:].isdigit()) or (
        lower in _SHORTENED and before[-1:].isalpha() and len(lower) > 1
    ):
        return text
    if lower in {"o", "a", "e", "r"} and before[-1:].isalpha() and (before[-1] in "nN" or not _single_letter(before)):
        return text
    if _POWER.fullmatch(text):
        return f"^{text.replace(' ', '')}"
    return f"^({text})" if len(text) <= 12 or not re.search(r"[^\W\d_]{3,}", text) else f" ({text})"


def _single_letter(before: str) -> bool:
    word = _LAST_WORD.search(before)
    return word is not None and len(word[0]) == 1


def _take_notes(raw: str) -> tuple[str, tuple[tuple[int, str], ...], str]:
    """Return the text, the notes in it, and the mark that it opens with."""
    if NOTE not in raw:
        return _powers(collapse(raw)), (), ""
    text = ""
    notes: list[tuple[int, str]] = []
    opens_with = ""
    position = 0
    for match in _NOTED.finditer(raw):
        piece = _powers(collapse(raw[position : match.start()]))
        blank = raw[position : position + 1].isspace() and text and piece
        text = f"{text} {piece}" if blank else text + piece
        mark = collapse(match[1]).strip("()[] ")
        if not text and not notes and not opens_with:
            opens_with = mark
        elif mark:
            notes.append((len(text), mark))
        position = match.end()
    rest = _powers(collapse(raw[position:]))
    blank = raw[position : position + 1].isspace() and text and rest and rest[0] not in ".,;:!?)]"
    return (f"{text} {rest}" if blank else text + rest), tuple(notes), opens_with
