"""Where in its document a fact stands, as people say it: the headings over it, and the page (ADR 0097, ADR 0110).

A location is what the reader of documents wrote: a page or another place, the headings with their marks, or both, as
``p. 3, # Claims > ## Deadlines`` or ``sheet Rates, A5:F5, # Fees``. A caller who cuts facts writes what he likes; it is
then a section as it is.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from services.common.grounding.words import shared_words, stems

JOINED: Final = " › "  # noqa: RUF001 - what people read between two headings
_PAGE: Final = re.compile(r"p\. (?P<page>[1-9][0-9]{0,6})(?:, |$)")
_FIRST_MARKED: Final = re.compile(r"(?:^|, )(?=#{1,6} )")
"""Before the headings may stand what the format calls the place: ``sheet Rates, A5:F5``."""
_MARKED: Final = re.compile(r"(?:^|(?<= > ))#{1,6} ")
BELOW: Final = " > "
"""Between two headings of a path, the outer one first."""
_NUMBER: Final = re.compile(r"\d+")
_SAME_TITLE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Place:
    """A section, empty where there is none, and a page, 0 for a format without pages."""

    section: str
    page: int


def place_of(location: str, title: str) -> Place:
    """Read a location; the document's own title is no section of it."""
    found = _PAGE.match(location)
    page = int(found["page"]) if found else 0
    rest = location[found.end() :] if found else location
    first = _FIRST_MARKED.search(rest)
    if first is None:
        return Place("" if rest == title else rest, page)
    before, headings = rest[: first.start()].strip(), _headings(rest[first.end() :])
    if headings and headings[0] == title:
        headings = headings[1:]
    return Place(JOINED.join(part for part in (before, *headings) if part), page)


def headings_of(location: str) -> tuple[str, ...]:
    """Return the headings over a fact, the document's title first; none where the location has no marks of headings."""
    start = _PAGE.match(location)
    rest = location[start.end() :] if start else location
    first = _FIRST_MARKED.search(rest)
    return () if first is None else tuple(_headings(rest[first.end() :]))


def title_over(location: str, title: str) -> str:
    """Return how the version of a document that a fact is of was called; its present title where nothing says so.

    A fact of last year's version stands under last year's title: "Terms (valid from 1 January 2026)". The two share
    most of their words, and not their numbers.
    """
    first = next(iter(headings_of(location)), title)
    numbers, others = (frozenset(_NUMBER.findall(text)) for text in (first, title))
    if not numbers or not others or numbers == others:
        return title
    return first if shared_words(Counter(stems(first)), Counter(stems(title))) >= _SAME_TITLE else title


def searched_text(content: str, location: str) -> str:
    """Return the text by whose words a fact is found: its own, and the headings over it (ADR 0110).

    A heading is a field of its own weight: its words count as often as they stand in it, beside those of the fact.
    """
    return "\n".join((content, *headings_of(location)))


def _headings(text: str) -> list[str]:
    marks = list(_MARKED.finditer(text))
    ends = [*(mark.start() - len(BELOW) for mark in marks[1:]), len(text)]
    return [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
