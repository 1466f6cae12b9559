"""Where in its document a fact stands, as people say it: the headings over it, and the page (ADR 0097).

A location is what the reader of documents wrote: a page or another place, the headings with their marks, or both, as
``p. 3, # Claims > ## Deadlines`` or ``sheet Rates, A5:F5, # Fees``. A caller who cuts facts writes what he likes; it is
then a section as it is.
"""

import re
from dataclasses import dataclass
from typing import Final

JOINED: Final = " › "  # noqa: RUF001 - what people read between two headings
_PAGE: Final = re.compile(r"p\. (?P<page>[1-9][0-9]{0,6})(?:, |$)")
_FIRST_MARKED: Final = re.compile(r"(?:^|, )(?=#{1,6} )")
"""Before the headings may stand what the format calls the place: ``sheet Rates, A5:F5``."""
_MARKED: Final = re.compile(r"(?:^|(?<= > ))#{1,6} ")
_BETWEEN: Final = " > "


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
    before, rest = rest[: first.start()].strip(), rest[first.end() :]
    marks = list(_MARKED.finditer(rest))
    ends = [mark.start() - len(_BETWEEN) for mark in marks[1:]] + [len(rest)]
    headings = [rest[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    if headings and headings[0] == title:
        headings = headings[1:]
    return Place(JOINED.join(part for part in (before, *headings) if part), page)
