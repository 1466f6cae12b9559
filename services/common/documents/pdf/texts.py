"""Putting lines together: words that were divided at the end of a line, and what stands raised or lowered."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from services.common.documents.pdf.lines import (
    END_OF_REFERENCE,
    END_OF_SHIFT,
    REFERENCE,
    SUBSCRIPT,
    SUPERSCRIPT,
)

_SHIFTED: Final = re.compile(
    f"([{SUPERSCRIPT}{SUBSCRIPT}])([^{SUPERSCRIPT}-{END_OF_SHIFT}]*){END_OF_SHIFT}(?:\\s+(?=[,;.:)\\]](?:\\s|$)))?"
)
_WORD_CHARS: Final = 80
_LAST_WORD: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]++-$")
_FIRST_WORD: Final = re.compile(r"^[^\W\d_]+")
_SIGNS: Final = frozenset({"TM", "SM", "\u00ae", "\u2122", "\u00a9"})
_ORDINAL: Final = _SIGNS | {"st", "nd", "rd", "th", "er", "re", "e", "o", "a", "\u00ba", "\u00aa"}
_MARKS: Final = re.compile(r"\d{1,3}|[a-z]|[*\u2020\u2021\u00a7\u00b6]{1,3}")
_EXPONENT: Final = re.compile(r"[+\u2212\u2013-]?\d+(?:[.,/]\d+)?|[a-zA-Z]|[+\u2212\u2013-]?[\w+\u2212-]+")
_UNITS: Final = frozenset(
    {
        *("m", "mm", "cm", "dm", "km", "in", "ft", "yd", "mi", "nm", "\u00b5m", "ha", "s", "h", "min", "kg", "g", "mg"),
        *("K", "C", "V", "A", "W", "J", "N", "Pa", "l", "L", "mol", "cd", "rad", "Hz", "\u00b0"),
    }
)
_LAST_LETTERS: Final = re.compile(r"[^\W\d_\u00b0]+$|\u00b0$")
_POWER: Final = re.compile(rf"(?:[x\u00d7\u00b7*]\s?10|[\d{END_OF_SHIFT}]\s?(?:[mcdkn\u00b5]?m|ft|in|yd)|/\s?s)$")
"""What a raised number raises whatever the footnotes are called: a length behind a number, ten behind a sign, m/s."""
_NUMBERS: Final = re.compile(r"\d+")
_REFERENCE: Final = re.compile(f"{REFERENCE}([^{REFERENCE}{END_OF_REFERENCE}]*){END_OF_REFERENCE}")
_LIST: Final = re.compile(r"\d{1,3}(?:\s*[,\u2013-]\s*\d{1,3})*")


def join_lines(lines: Iterable[str], known: Collection[str] = ()) -> str:
    """Return lines as one text; a word divided at the end of a line is put together.

    Args:
        lines: from the top.
        known: words of the document in lower case, with their hyphens.
    """
    parts: list[str] = []
    for line in lines:
        text = line.strip()
        if not text:
            continue
        if parts and parts[-1][-2:-1].isalpha() and parts[-1].endswith("-"):
            parts[-1], between = _joint(parts[-1], text, known)
            parts += [between, text]
        else:
            parts += [" ", text] if parts else [text]
    return "".join(parts)


def _joint(before: str, after: str, known: Collection[str]) -> tuple[str, str]:
    """Return the end of a line whose last word is divided as it is to be written, and what stands behind it."""
    first = _FIRST_WORD.match(after)
    if first is None or not first[0][:1].islower():
        return before, ""
    last = _LAST_WORD.search(before[-_WORD_CHARS:])
    hyphened = ((last[0] if last else "") + first[0]).lower()
    if first[0] in {"and", "or", "und", "oder", "bzw", "et", "ou", "y", "o", "e"}:
        return before, " "  # "first- and second-class"
    whole = hyphened.replace("-", "")
    return (before if hyphened in known and whole not in known else before[:-1]), ""


def reference(mark: str) -> str:
    """Return the mark of a footnote as it stands in a text until its place is known."""
    return f"{REFERENCE}{mark}{END_OF_REFERENCE}"


def take_references(text: str) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Return a text without the marks of footnotes, and where in it each of them stood."""
    if REFERENCE not in text:
        return text, ()
    parts: list[str] = []
    notes: list[tuple[int, str]] = []
    length = end = 0
    for match in _REFERENCE.finditer(text):
        parts.append(text[end : match.start()])
        length += match.start() - end
        notes.append((length, match[1]))
        end = match.end()
    return "".join([*parts, text[end:]]), tuple(notes)


def place_shifts(text: str, marks: Collection[str], *, drop_unknown: bool = True) -> str:
    """Write what stands raised as a power, or as a reference where it refers to a footnote.

    Args:
        text: with marks around what is shifted.
        marks: what the footnotes of the page are called.
        drop_unknown: a raised number behind a word that is no unit is a reference, its footnote found or not.
    """
    if SUPERSCRIPT not in text and SUBSCRIPT not in text:
        return text

    def written(match: re.Match[str]) -> str:
        content = match[2].strip()
        if match[1] == SUBSCRIPT:
            return content
        before = text[max(match.start() - _WORD_CHARS, 0) : match.start()]
        if _POWER.search(before) and content.isdigit() and (before.endswith("10") or content in {"2", "3"}):
            return f"^{content}"
        if content in marks:
            return reference(content)
        if _LIST.fullmatch(content) and all(one in marks for one in _NUMBERS.findall(content)):
            return "".join(map(reference, _NUMBERS.findall(content)))
        if content in _ORDINAL and (before[-1:].isalnum() or content in _SIGNS):
            return content
        return _as_power(before, content, drop_unknown=drop_unknown)

    return " ".join(_SHIFTED.sub(written, text).split())


def _as_power(before: str, content: str, *, drop_unknown: bool) -> str:
    if not before.strip() or not content:
        return content
    last = before[-1]
    if last.isdigit() or last in ")]\u03c0":
        return f"^{content}" if _EXPONENT.fullmatch(content) else content
    letters = _LAST_LETTERS.search(before)
    if letters is not None:
        unit = letters[0] in _UNITS or len(letters[0]) == 1
        if unit and _EXPONENT.fullmatch(content):
            return f"^{content}"
        return "" if drop_unknown and _MARKS.fullmatch(content) and not content.isalpha() else f"^{content}"
    if drop_unknown and (_MARKS.fullmatch(content) or _LIST.fullmatch(content)):
        return ""
    return f"^{content}" if content[:1].isalpha() and not before.endswith(" ") else content


def without_shifts(text: str) -> str:
    """Return a text with what is shifted in its line, as it is, for comparing."""
    return _SHIFTED.sub(lambda match: match[2], text)
