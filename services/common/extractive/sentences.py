"""Cutting facts into passages that can be quoted, and passages into comparable terms.

A passage is one sentence together with the sentences after it that lean on it ("It ...", "However, ..."), so that a
quotation never begins with a pronoun whose noun was left behind. Every passage is a substring of its text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
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

_ROW: Final = re.compile(r"[^:;]{1,80}: [^;]{0,300}; [^:;]{1,80}: ")
_EXCEPTS: Final = re.compile(
    r"(?:the only )?exceptions?\b|except\b|unless\b|otherwise\b|however\b|but\b|this does not apply\b|the exception\b",
    re.IGNORECASE,
)
_NEEDS_LEAD: Final = re.compile(
    r"(?:for|in|on|at|with|under|from|below|above|after|before) [^,.;]{1,60}? (?:it|they|this|these|that) "
    r"(?:is|are|was|were|has|have|may|must|can|do|does)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """What can be quoted: a sentence, with the one that it leans on or the exception that follows, or a row of a table.

    Attributes:
        text: verbatim.
        lead: what stands before it in the same text, for its words alone.
        position: order within the text.
        is_row: cells with their headers.
    """

    text: str
    lead: str
    position: int
    is_row: bool = False


def quotable_passages(text: str, location: str = "") -> list[Passage]:
    """Return the passages of a fact, at most two sentences each.

    Args:
        text: the fact.
        location: headings that it stands under; the last one is not quoted where the fact repeats it before a sentence.
    """
    if _ROW.match(text) and "\n" not in text.strip():
        return [Passage(text.strip(), "", 0, is_row=True)]
    spans = [span for span in _sentence_spans(text) if not text[slice(*span)].endswith("?")]
    found: list[Passage] = []
    for number, (begin, end) in enumerate(spans):
        first, last, lead = begin, end, ""
        before = spans[number - 1] if number else None
        after = spans[number + 1] if number + 1 < len(spans) else None
        if before is not None and not text[slice(*before)].endswith(":"):
            lead = text[slice(*before)]
            if _leans(text[begin:end]):
                first = before[0]
        if first == begin and after is not None and _EXCEPTS.match(text[slice(*after)]):
            last = after[1]
        first = _after_heading(text, first, location) if first == spans[0][0] else first
        if _quotable(text[begin:end]):
            found.append(Passage(text[first:last], lead, number))
    return found


def _leans(sentence: str) -> bool:
    return bool(_LEANING.match(sentence) or _NEEDS_LEAD.match(sentence))


def _after_heading(text: str, start: int, location: str) -> int:
    """Return where a fact's sentence begins behind the heading that it repeats ("Outcomes: The file …").

    "Travel policy: This policy is effective from …" is not to be told without its heading.
    """
    prefix = location.rpartition(" > ")[2].lstrip("# ").rstrip() + ": "
    behind = start + len(prefix)
    is_repeated = text.startswith(prefix, start) and text[behind : behind + 1].isupper()
    return behind if is_repeated and not _OF_ITSELF.match(text, behind) else start


_OF_ITSELF: Final = re.compile(r"(?:this|these|the\s(?:present|above))\s", re.IGNORECASE)


def sentence_count(text: str) -> int:
    """Return how many sentences a passage holds."""
    return len(list(_sentence_spans(text)))


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
