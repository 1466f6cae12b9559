"""Running text with raised, lowered and struck parts: ``10<sup>6</sup>`` is 10^6, ``30<sup>1</sup> days`` has a note.

Readers write the parts between marks of the Unicode private use area, which ``plain_of`` keeps out of what they read.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from services.common.documents.html.raised import BASE_CHARS, raise_parts
from services.common.documents.marks import (
    ANY_MARK,
    BOLD,
    BOLD_END,
    BREAK,
    LINK,
    LINK_END,
    NOTE,
    NOTE_END,
    PICTURE,
    PICTURE_END,
    STRUCK,
    STRUCK_END,
)
from services.common.documents.wording import collapse, has_words

_NOTED: Final = re.compile(f"(?:(?<!\\s)\\s++)?{NOTE}([^{NOTE}{NOTE_END}]*){NOTE_END}")
_STRUCK_PART: Final = re.compile(f"{STRUCK}[^{STRUCK}{STRUCK_END}]*{STRUCK_END}")
_BOLD_PART: Final = re.compile(f"{BOLD}[^{BOLD}{BOLD_END}]*{BOLD_END}")
_LINK_PART: Final = re.compile(f"{LINK}[^{LINK}{LINK_END}]*{LINK_END}")
_PICTURE_PART: Final = re.compile(f"{PICTURE}([^{PICTURE}{PICTURE_END}]*){PICTURE_END}")

_LABEL_CHARS: Final = 40
_LABEL_WORDS: Final = 4
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


def read_line(raw: str, defined: frozenset[str]) -> Line:
    """Return running text.

    Args:
        raw: with marks.
        defined: marks for which the document has footnotes.
    """
    if not ANY_MARK.search(raw):
        text = _powers(collapse(raw))
        return Line(text, current=text)
    pictures, raw = _take_pictures(raw.replace(f"{LINK_END}{LINK}", f"{LINK_END} {LINK}"))
    bold = not has_words(_without(_BOLD_PART, raw)) and has_words(raw)
    links = 0 if has_words(_without(_LINK_PART, raw)) else len(_LINK_PART.findall(raw))
    raw = re.sub(f"[{BOLD}{BOLD_END}{LINK}{LINK_END}]", "", raw).replace(BREAK, " ")
    raw = raise_parts(raw, defined)
    text, notes, opens_with = _take_notes(raw.replace(STRUCK, "").replace(STRUCK_END, ""))
    current = text
    if STRUCK in raw:
        rest = _STRUCK_PART.sub(_struck, raw)
        rest = re.sub(f"[{STRUCK}{STRUCK_END}]", "", rest)
        current = _take_notes(rest)[0] if has_words(ANY_MARK.sub("", rest)) else text
    return Line(text, notes, current, opens_with, bold, links, pictures)


def split_lines(raw: str) -> list[str]:
    """Return the parts of a paragraph that its line breaks part: lines of the form ``Label: value`` and bold ones."""
    if BREAK not in raw:
        return [raw]
    lines = raw.split(BREAK)
    parts: list[str] = [lines[0]]
    for before, line in pairwise(lines):
        blank = not ANY_MARK.sub("", before).strip()
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
    """Return nothing of what is struck out where other words take its place; before a dash or colon it is told of."""
    before = ANY_MARK.sub("", match.string[max(0, match.start() - BASE_CHARS) : match.start()])
    after = ANY_MARK.sub("", match.string[match.end() : match.end() + BASE_CHARS]).lstrip()
    return match[0] if not has_words(before) and not after[:1].isalnum() else " "


def _is_labelled(line: str) -> bool:
    label, colon, rest = ANY_MARK.sub("", line).strip().partition(":")
    return (
        bool(colon)
        and 0 < len(label) <= _LABEL_CHARS
        and rest[:1].isspace()
        and len(label.split()) <= _LABEL_WORDS
        and _opens(label)
    )


def _opens(line: str) -> bool:
    text = ANY_MARK.sub("", line).strip()
    return bool(text) and not text[0].islower()


def _is_bold(line: str) -> bool:
    return has_words(line) and not has_words(_without(_BOLD_PART, line))


def _without(part: re.Pattern[str], raw: str) -> str:
    return part.sub(" ", raw)


def _take_pictures(raw: str) -> tuple[tuple[str, ...], str]:
    """Return descriptions that stand apart, and the text: short ones stay in the line where words stand beside them."""
    if PICTURE not in raw:
        return (), raw
    words = has_words(_without(_PICTURE_PART, raw))
    apart: list[str] = []

    def place(match: re.Match[str]) -> str:
        told = collapse(match[1])
        if words and len(told) <= _LABEL_CHARS:
            return f" {told} "
        apart.append(told)
        return " "

    rest = _PICTURE_PART.sub(place, raw)
    return tuple(apart), rest


def _powers(text: str) -> str:
    return _UNICODE_POWER.sub(lambda match: f"^{match[0].translate(_RAISED_DIGITS)}", text)


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
    parted = bool(raw[position : position + 1].isspace() and text and rest and rest[0] not in ".,;:!?)]")
    return (f"{text} {rest}" if parted else text + rest), tuple(notes), opens_with
