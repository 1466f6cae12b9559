"""Raised and lowered text of pages, where nothing says which of it is the mark of a note."""

import re
from typing import Final

from services.common.documents.marks import ANY_MARK, BREAK, NOTE, NOTE_END, SUB, SUB_END, SUP, SUP_END
from services.common.documents.shifts import ENDINGS, ORDINALS, lowered, raised, sign_of
from services.common.documents.wording import collapse

BASE_CHARS: Final = 60
"""So much of the text before a raised part is looked at."""
_MARK_CHARS: Final = 3
_SHORT_WORD: Final = 2
_SHORT_POWER: Final = 12
_ENDS: Final = ".,;:!?%\u20ac$\u00a3\"'\u201d\u2019\u00bb"
_LAYERS: Final = 4
"""Powers of powers are read to this depth."""
_RAISED: Final = re.compile(f"{SUP}([^{SUP}{SUP_END}]*){SUP_END}")
_LOWERED: Final = re.compile(f"{SUB}([^{SUB}{SUB_END}]*){SUB_END}")
_SYMBOLS: Final = re.compile(r"[*\u2020\u2021\u00a7\u00b6#\u2022]{1,4}")
_BRACKETED: Final = re.compile(r"[\[(]\s*([\w*\u2020\u2021]{1,4}(?:\s*[,\u2013-]\s*\w{1,3})*)\s*[\])]|(\w{1,3})\)")
_SEVERAL: Final = re.compile(r"\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})+")
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


def raise_parts(raw: str, defined: frozenset[str]) -> str:
    """Return text with its raised parts as powers (``10^6``), or as notes; ``defined``: marks of the footnotes."""
    for _ in range(_LAYERS):
        if SUP not in raw and SUB not in raw:
            break
        before = raw
        raw = _RAISED.sub(lambda match: _raised(match, defined), raw)
        raw = _LOWERED.sub(_lower, raw)
        if raw == before:
            break
    return re.sub(f"[{SUP}{SUP_END}{SUB}{SUB_END}]", "", raw)


def _lower(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - BASE_CHARS) : match.start()]
    return lowered(ANY_MARK.sub("", before), collapse(match[1]))


def _raised(match: re.Match[str], defined: frozenset[str]) -> str:
    text = collapse(_LOWERED.sub(_lower, match[1]).replace(BREAK, " "))
    before = match.string[max(0, match.start() - BASE_CHARS) : match.start()]
    after = match.string[match.end() : match.end() + _SHORT_POWER]
    sign = "" if _SYMBOLS.fullmatch(text) else sign_of(text)
    if not text or sign or NOTE in text:
        return sign or text
    bracketed = _BRACKETED.fullmatch(text)
    if _SYMBOLS.fullmatch(text) or (bracketed and before.strip()) or _SEVERAL.fullmatch(text):
        return _note(text)
    seen = ANY_MARK.sub("", before)
    token = _TOKEN.search(seen)
    if token is None:
        return _at_start(text, after, bare=not seen.strip())
    if text.isdigit() and (after[:1] == "\u2044" or (after[:1] == "/" and after[1:2] == SUB)):
        return f" {text}" if seen[-1:].isdigit() else text  # 2 1/2
    return _note(text) if _is_note(text, seen, after, defined) else raised(seen, text)


def _note(text: str) -> str:
    mark = text.strip("()[] ")
    marks = re.split(r"(?<!\s)\s*+[,;]\s*+", mark) if _SEVERAL.fullmatch(mark) else [mark]
    return "".join(f"{NOTE}{one}{NOTE_END}" for one in marks)


def _at_start(text: str, after: str, *, bare: bool) -> str:
    """Return raised text before which nothing stands: a footnote's own mark, a note after a blank, or 14C."""
    following = ANY_MARK.sub("", after)[:1]
    if text.isdigit() and following.isupper() and not (bare and after[:2].isalpha() and after[1:2].islower()):
        return text
    return _note(text)


def _is_note(text: str, before: str, after: str, defined: frozenset[str]) -> bool:
    """Say whether raised text is the mark of a note, and no power, ordinal or abbreviation."""
    if not (text.isalnum() and len(text) <= _MARK_CHARS):
        return False
    known = text in defined
    word = _LAST_WORD.search(before)
    if before[-1].isdigit():
        return _is_note_of_number(text, before, after, known=known)
    if text.isalpha():
        if word is None:
            return known or before[-1] in _ENDS
        return known or (len(word[0]) > _SHORT_WORD and len(text) == 1 and text not in ENDINGS)
    return known if not text.isdigit() else _is_note_of_word(text, before, word[0] if word else "", known=known)


def _is_note_of_word(text: str, before: str, word: str, *, known: bool) -> bool:
    """Say whether a raised figure after a word, a unit or a bracket is a note."""
    if before[-1] in ")]}":
        inner = re.search(r"[(\[{]([^()\[\]{}]*)[)\]}]$", before)
        return known or not (inner is not None and _MATH.fullmatch(inner[1]))
    if not word or text == "1":
        return True
    if word in _UNITS or len(word) == 1:
        return known and not (text in {"2", "3"} and word in _UNITS)
    return known or len(word) > _SHORT_WORD


def _is_note_of_number(text: str, before: str, after: str, *, known: bool) -> bool:
    """Say whether raised text after a figure is a note: 10 and single digits have powers, 30 days have none."""
    if text.lower() in ORDINALS and not known:
        return False
    number = _LAST_NUMBER.search(before)
    figure = number[0] if number else ""
    if known and figure != "10" and len(figure) > 1:
        return True
    if text == "1":
        return True
    if figure == "10" or len(figure) == 1:
        return known and figure != "10" and not re.search(r"[\u00d7\u00b7*=^]\s*\S*$", before)
    return not text.isalpha() and bool(_WORD_FOLLOWS.match(ANY_MARK.sub("", after)))
