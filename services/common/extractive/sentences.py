"""Cutting facts into passages that can be quoted, and passages into comparable terms.

A passage is one sentence together with the sentences after it that lean on it ("It ...", "However, ..."), so that a
quotation never begins with a pronoun whose noun was left behind. Every passage is a substring of its text.
"""

import re
from collections.abc import Iterator
from typing import Final

CLOSING_MARKS: Final = "\"')]\u2019\u201d"
"""What may stand between a sentence's full stop and its end."""

_END: Final = re.compile(rf"[.!?…][{re.escape(CLOSING_MARKS)}]*(?=\s)|\n+")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|No|Nos|Art|Arts|Sec|par|para|cf|vs|etc|approx|incl|e\.g|i\.e|Inc|Ltd|Co|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|p|pp|fig|vol)|\d)\.$",
    re.IGNORECASE,
)
_CONTINUES: Final = re.compile(r"(?<!\s)\s++[a-z0-9(]")
_LEANING: Final = re.compile(
    r"(?:it|its|this|that|these|those|they|their|he|she|his|her|such|both|however|otherwise|therefore|thus|hence|instead|"
    r"moreover|furthermore|also|then|afterwards|in (?:that|this|such) cases?|the same|until the same)\b",
    re.IGNORECASE,
)
_MARKER: Final = re.compile(r"(?:#{1,6}|[-*+•>]|\d{1,3}[.)])\s+")
_WORD: Final = re.compile(r"[^\W_]+(?:[.,]\d+)*", re.UNICODE)
_OPEN_ENDS: Final = ("?", ":")
_MAX_PASSAGE_SENTENCES: Final = 3

_STOP_LIST: Final = (
    "a,about,after,all,am,an,and,any,are,as,at,be,been,before,being,but,by,can,could,describe,did,do,does,done,during,"
    "each,every,explain,for,from,get,give,had,happen,happens,has,have,having,he,her,here,his,how,i,if,in,into,is,it,its,"
    "know,list,long,many,may,me,might,much,must,my,no,nor,not,of,on,or,our,over,please,shall,she,should,show,so,some,"
    "such,tell,than,that,the,their,them,then,there,these,they,this,those,time,to,under,us,was,we,were,what,when,where,"
    "which,while,who,whom,whose,why,will,with,without,would,you,your"
)
STOP_WORDS: Final = frozenset(_STOP_LIST.split(","))


def passages(text: str) -> list[str]:
    """Return the passages of ``text`` in order; headings and questions are left out."""
    return [text[begin:end] for begin, end in passage_spans(text)]


def passage_spans(text: str) -> list[tuple[int, int]]:
    """Return where the passages of ``text`` stand, in code points."""
    found: list[tuple[int, int]] = []
    length = 0
    for begin, end in _sentence_spans(text):
        leans = bool(_LEANING.match(text[begin:end])) and 0 < length < _MAX_PASSAGE_SENTENCES
        if leans and not text[slice(*found[-1])].endswith(_OPEN_ENDS):
            found[-1] = (found[-1][0], end)
            length += 1
            continue
        found.append((begin, end))
        length = 1
    return [span for span in found if _quotable(text[slice(*span)])]


def _quotable(passage: str) -> bool:
    return len(passage.split()) > 2 and not passage.endswith(_OPEN_ENDS)  # noqa: PLR2004 - two words assert nothing


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if match.group()[0] != "\n" and _no_boundary(text, match.start() + 1, end):
            continue
        yield from _trimmed(text, start, end)
        start = end
    yield from _trimmed(text, start, len(text))


def _no_boundary(text: str, after_stop: int, end: int) -> bool:
    if text[after_stop - 1] != ".":
        return False
    return bool(_CONTINUES.match(text, end)) or bool(_ABBREVIATION.search(text[max(0, after_stop - 12) : after_stop]))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    if text.startswith("#", start):
        return
    marker = _MARKER.match(text, start, end)
    start = marker.end() if marker else start
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end


def terms(text: str) -> tuple[str, ...]:
    """Return the content words of ``text``: lower case, without stop words, endings of inflection cut off."""
    words = (match.group().lower() for match in _WORD.finditer(text))
    return tuple(_stem(word) for word in words if word not in STOP_WORDS)


def _stem(word: str) -> str:
    if word[0].isdigit() or len(word) <= 3:  # noqa: PLR2004 - too short to carry an ending
        return word
    for ending, replacement in (
        ("ies", "y"), ("sses", "ss"), ("ations", "at"), ("ation", "at"), ("ements", ""), ("ement", ""), ("ments", ""),
        ("ment", ""), ("ings", ""), ("ing", ""), ("edly", ""), ("ed", ""), ("ers", ""), ("er", ""), ("es", ""),
        ("s", ""), ("e", ""),
    ):  # fmt: skip
        if word.endswith(ending) and len(word) - len(ending) + len(replacement) >= 3:  # noqa: PLR2004 - as above
            return _undouble(word[: len(word) - len(ending)] + replacement)
    return word


def _undouble(stem: str) -> str:
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem  # noqa: PLR2004
