"""Every text of a page that could reach a model: what readers show, and what only its markup holds (ADR 0125).

A program may give a model the page as it is written, or what some extractor makes of it: titles, labels, values of
fields, descriptions for search engines. So the page is searched as written, its text without tags, and each value,
comment, script and style sheet by itself, since quotation marks around a value say nothing of how it is meant.
"""

import html
import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.cli.scan_findings import Finding, Spot, breaks_of, finding_at, heaviest, spots_in
from services.common.injection.classes import PatternClass

_BLANK: Final = r"[\t\n\f\r ]"
_VALUE: Final = r"""(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+)"""
_NAME: Final = r"[^\t\n\f\r />][^\t\n\f\r />=]*+"
_ATTRIBUTE: Final = rf"{_NAME}(?:{_BLANK}*+={_BLANK}*+{_VALUE}?+)?+"
_PIECE: Final = re.compile(
    r"<!--(?P<comment>(?:[^-]++|-(?!->))*+)(?:-->)?+"
    rf"|<(?P<tag>[a-z][^\t\n\f\r />]*+)(?P<attributes>(?:[\t\n\f\r /]++|{_ATTRIBUTE})*+)>?+"
    r"|</[a-z][^>]*+>?+|<[!?][^>]*+>?+",
    re.IGNORECASE,
)
_EACH: Final = re.compile(rf"(?P<name>{_NAME})(?:{_BLANK}*+={_BLANK}*+(?P<value>{_VALUE})?+)?+")
_CODE: Final = {tag: re.compile(rf"(?=</{tag})", re.IGNORECASE) for tag in ("script", "style")}
_STRING: Final = re.compile(r'"(?P<said>(?:[^"\\\n]++|\\.)*+)"')
_LEAST_CHARS: Final = 12
"""A shorter value holds no order."""
_ANY_TAG: Final = re.compile(r"<[^<>]*+>")
_NO_WORD: Final = re.compile(r"[\W_]+")
_NOT_LINE: Final = re.compile(r"[^\n]")
_KEPT: Final = re.compile(r"</?(?:code|pre)\b", re.IGNORECASE)
"""Tags that stay in the text without tags: what stands between them is code."""
_LED: Final = {"li": "-", **dict.fromkeys(("td", "th"), "|")}
"""What an item and a cell begin with where there are no tags."""


@dataclass(frozen=True, slots=True)
class Part:
    """A text that only the markup holds.

    Attributes:
        start: where it begins in the page.
        end: one past its last character.
        place: what holds it, as people say it.
    """

    start: int
    end: int
    place: str


def parts_of(page: str) -> tuple[list[Part], str]:
    """Return the texts in a page's markup, and the page with blanks for its markup, every character in its place."""
    parts: list[Part] = []
    shown: list[str] = []
    at = 0
    while (found := _PIECE.search(page, at)) is not None:
        end = found.end()
        if found["comment"] is not None:
            parts.append(Part(*found.span("comment"), "comment"))
        elif found["tag"] is not None:
            tag = found["tag"].lower()
            parts += _values(page, tag, *found.span("attributes"))
            if tag in _CODE:
                start, closed = end, _CODE[tag].search(page, end)
                end = closed.start() if closed is not None else len(page)
                parts += _code(page, tag, start, end, is_data="json" in found["attributes"].lower())
        shown += (page[at : found.start()], _blanked(page[found.start() : end], found["tag"]))
        at = end
    shown.append(page[at:])
    return [part for part in parts if part.end - part.start >= _LEAST_CHARS], "".join(shown)


def _blanked(markup: str, tag: str | None) -> str:
    if _KEPT.match(markup):
        return markup
    lead = _LED.get((tag or "").lower(), "")
    return lead + _NOT_LINE.sub(" ", markup[len(lead) :])


def _values(page: str, tag: str, start: int, end: int) -> Iterator[Part]:
    for each in _EACH.finditer(page, start, end):
        if each["value"] is not None:
            first, last = each.span("value")
            quoted = page[first] in "\"'"
            yield Part(first + quoted, last - quoted, f"attribute {each['name'].lower()} of {tag}")


def _code(page: str, tag: str, start: int, end: int, *, is_data: bool) -> Iterator[Part]:
    yield Part(start, end, tag)
    if is_data:
        for said in _STRING.finditer(page, start, end):
            yield Part(*said.span("said"), tag)


def spots_in_markup(page: str) -> list[Spot]:
    """Return the matches of a page as it is written, each once. CPU-bound, linear."""
    parts, shown = parts_of(page)
    known: dict[str, tuple[Spot, ...]] = {}
    found: list[Spot] = []
    for part in parts:
        said = page[part.start : part.end]
        if said not in known:
            known[said] = tuple(spots_in(said))
        found += (Spot(one.match, part.start + one.start, part.start + one.end, part.place) for one in known[said])
    kept = heaviest([*found, *spots_in(shown)])
    starts = [spot.start for spot in kept]
    kept += [one for one in spots_in(page) if _is_new(one, kept, starts)]
    return sorted(kept, key=lambda spot: spot.start)


def _is_new(spot: Spot, kept: Sequence[Spot], starts: Sequence[int]) -> bool:
    """Return whether a match in the page as written says more: tags are no finding, and where text reads decides."""
    if spot.match.pattern_class is PatternClass.MARKUP:
        return False
    at = bisect_left(starts, spot.end) - 1
    return at < 0 or kept[at].end <= spot.start


def findings_of_page(page: str, read: Iterable[tuple[Finding, str]]) -> Iterator[Finding]:
    """Yield the findings of a page in the order of its lines; what was read and has no line comes last.

    Args:
        page: as it is written.
        read: what was found in what a reader makes of it, each with the words that matched.
    """
    breaks = breaks_of(page)
    written = [
        (finding_at(page, spot, breaks), _letters(page[spot.start : spot.end])) for spot in spots_in_markup(page)
    ]
    places: defaultdict[str, deque[int]] = defaultdict(deque)
    for number, (_, letters) in enumerate(written):
        places[letters].append(number)
    told: dict[int, Finding] = {}
    lineless: list[Finding] = []
    for finding, words in read:
        waiting = places[_letters(words)]
        if waiting:
            number = waiting.popleft()
            told[number] = _both(written[number][0], finding)
        else:
            lineless.append(finding)
    yield from (told.get(number, one) for number, (one, _) in enumerate(written))
    yield from lineless


def _both(written: Finding, read: Finding) -> Finding:
    """Return one finding of what was found in a page and in what a reader makes of it: the heavier, in both places."""
    heavier = read if read.weight >= written.weight else written
    return replace(
        heavier,
        line=written.line,
        column=written.column,
        end_line=written.end_line,
        end_column=written.end_column,
        place=read.place or written.place,
    )


def _letters(words: str) -> str:
    return _NO_WORD.sub("", html.unescape(_ANY_TAG.sub("", words))).lower()
