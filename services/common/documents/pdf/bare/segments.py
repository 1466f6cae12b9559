"""Which lines may be one table: neighbours that leave the same strips of white free.

From the first line of several pieces down, each further line narrows the strips or parts them; a line that covers a
strip that others have shown ends the segment, unless it spans columns of a head. All strips that are kept are free in
every line but those that span.
"""

import itertools
import re
from bisect import insort
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.pdf.heads import is_value
from services.common.documents.pdf.lines import Piece

_MARK: Final = re.compile(
    r"[-*\u2022\u25aa\u25cf\u25cb\u2023\u2013\u2014\u25e6\u00b7\uf0b7\uf0a7]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\]|(?:\d{1,3}\.)+\d{0,3}"
)
_MIN_EM: Final = 0.45
_NARROW_EM: Final = 0.2
_TITLE: Final = 1.08
_FIRST_GAP_EM: Final = 3.4
_GAP: Final = 2.3
_GAP_EM: Final = 2.7
_HEAD_GAP: Final = 1.2
_HEAD_LINES: Final = 6
_SECTION_WORDS: Final = 8
_SUMS_GAP: Final = 1.25
"""Pairs set so much further apart than any two lines above them are no rows of the same table."""
_MAX_PENDING: Final = 6
_CROSSED: Final = 0.34
_MAX_STRIPS: Final = 60
_LOOKED_BACK: Final = 100
"""A line is held against so many before it and the first ones, so that long tables take linear time."""

Row = list[Piece]


@dataclass(slots=True)
class Strip:
    """White between two columns; ``support`` lines have text right on both sides of it, ``crossed`` cover it."""

    left: float
    right: float
    support: int = 1
    crossed: int = 0

    @property
    def middle(self) -> float:
        """Where it is cut."""
        return (self.left + self.right) / 2


@dataclass(slots=True)
class Segment:
    """Lines that may be a table.

    Attributes:
        first: number of its first line.
        last: number of its last line.
        several: numbers of its lines of several pieces.
        spanning: numbers of lines a piece of which covers a strip.
        gaps: how far its lines stand apart, the smallest first.
        loose: left and right edge of lines of one piece within its columns.
        open: so many lines of one piece followed that it is not known where it ends.
    """

    first: int
    last: int
    strips: list[Strip]
    size: float
    left: float
    right: float
    several: list[int] = field(default_factory=list)
    spanning: set[int] = field(default_factory=set)
    gaps: list[float] = field(default_factory=list)
    open: bool = False
    loose: list[tuple[float, float]] = field(default_factory=list)

    @property
    def usual(self) -> float:
        """How far its lines usually stand apart."""
        return self.gaps[len(self.gaps) // 2] if self.gaps else 0.0

    def kept(self) -> list[Strip]:
        """Return the strips that more than one line shows."""
        least = 2 if len(self.several) > 2 else 1  # noqa: PLR2004
        shown = [one for one in self.strips if one.support >= least and one.crossed <= _CROSSED * one.support]
        return sorted(shown, key=lambda one: one.left)


def find_segments(rows: list[Row]) -> list[Segment]:
    """Return the segments of lines that may be tables, from the top; no line is in two."""
    found: list[Segment] = []
    at = 0
    while at < len(rows):
        if len(rows[at]) < 2 or _is_whole(rows[at]) or is_item(rows[at]):  # noqa: PLR2004
            at += 1
            continue
        segment = _grown(rows, at)
        found.append(segment)
        at = max(segment.last, at) + 1
    return found


def is_item(row: Row) -> bool:
    """Say whether a line is the first of an item of a list: a mark and its text."""
    return len(row) == 2 and len(row[0].words) == 1 and _MARK.fullmatch(row[0].text) is not None  # noqa: PLR2004


def _is_whole(row: Row) -> bool:
    return any(piece.whole is not None for piece in row)


def _grown(rows: list[Row], start: int) -> Segment:
    first = rows[start]
    strips = [Strip(one.right, two.left) for one, two in itertools.pairwise(first)]
    size = max(piece.size for piece in first)
    segment = Segment(start, start, strips[:_MAX_STRIPS], size, first[0].left, first[-1].right, [start])
    pending = 0
    for number in range(start + 1, len(rows)):
        row = rows[number]
        if _is_whole(row) or is_item(row) or _begins_other(segment, rows, number):
            break
        if len(row) > 1:
            if not _take(segment, rows, number):
                break
            pending = 0
            segment.last = number
            segment.several.append(number)
            segment.size = max(piece.size for piece in row)
        else:
            pending += 1
            if not _fits(segment, rows, number):
                break
            if pending > _MAX_PENDING:
                segment.open = True
                break
        insort(segment.gaps, row[0].base - rows[number - 1][0].base)
    return segment


def _begins_other(segment: Segment, rows: list[Row], number: int) -> bool:
    """Say whether something else begins with a line: a title, or what more white sets apart."""
    row = rows[number]
    size = max(piece.size for piece in row)
    if size > _TITLE * segment.size:
        return True
    gap = row[0].base - rows[number - 1][0].base
    if len(segment.gaps) < 2:  # noqa: PLR2004
        return gap > _FIRST_GAP_EM * size
    if gap > max(_GAP * segment.usual, _GAP_EM * size) or _are_sums(segment, rows, number):
        return True
    bold = len(row) > 1 and all(piece.bold for piece in row) and not any(is_value(piece.text) for piece in row)
    plain = sum(not all(piece.bold for piece in rows[one]) for one in segment.several)
    return bold and plain > 1 and gap > _HEAD_GAP * segment.usual


def _are_sums(segment: Segment, rows: list[Row], number: int) -> bool:
    """Say whether pairs of their own follow: names that begin where no cell did, set apart, each with one value."""
    row = rows[number]
    if len(row) != 2 or len(segment.several) < _HEAD_LINES // 2 or not is_value(row[1].text):  # noqa: PLR2004
        return False
    if row[0].base - rows[number - 1][0].base < _SUMS_GAP * segment.gaps[-1]:
        return False
    known = [piece for one in segment.several[-_LOOKED_BACK:] for piece in rows[one]]
    near = 0.5 * row[0].size
    crossing = any(row[0].left < strip.left and strip.right < row[0].right for strip in segment.kept())
    following = rows[number + 1 : number + 1 + _HEAD_LINES]
    pairs = sum(len(one) == 2 and abs(one[0].left - row[0].left) < near for one in following)  # noqa: PLR2004
    crossing |= any(
        one[0].left < strip.left and strip.right < one[0].right for one in following[:pairs] for strip in segment.kept()
    )
    own = row[0].left > segment.left + near and all(abs(piece.left - row[0].left) > near for piece in known)
    return pairs > 0 and own and (crossing or len(rows[segment.several[-1]]) > 2)  # noqa: PLR2004


def _take(segment: Segment, rows: list[Row], number: int) -> bool:
    """Narrow and part the strips by a line of several pieces; say no, and leave them, when it does not fit."""
    row = rows[number]
    size = min(piece.size for piece in row)
    kept: list[Strip] = []
    crossed = 0
    gaps = list(zip((piece.right for piece in row), (piece.left for piece in row[1:]), strict=False))
    for strip in segment.strips:
        parts = _parts(strip, row, gaps, size)
        if not parts:
            crossed += 1
            parts = [Strip(strip.left, strip.right, strip.support, strip.crossed + 1)]
        kept += parts
    strong = sum(strip.support > 1 for strip in segment.strips) or len(segment.strips)
    head = len(segment.several) <= _HEAD_LINES
    if crossed:
        if crossed > strong / 2 and not (head and len(segment.several) < 3 and crossed < len(row)):  # noqa: PLR2004
            return False
        segment.spanning.add(number)
    new = [gap for gap in gaps if gap[1] - gap[0] >= _MIN_EM * size and not _known(gap, kept)]
    for left, right in new:
        looked_at = segment.several[:_HEAD_LINES] + segment.several[_HEAD_LINES:][-_LOOKED_BACK:]
        covered = [one for one in looked_at if _covers(rows[one], left, right)]
        if not covered:
            kept.append(_narrowed(rows, segment.several, left, right))
        elif len(covered) <= 3 and covered[-1] < segment.first + _HEAD_LINES and _are_heads(rows, covered, left, right):  # noqa: PLR2004
            segment.spanning.update(covered)
            kept.append(_narrowed(rows, [one for one in segment.several if one not in covered], left, right))
        elif len(covered) == len(looked_at) and _is_apart(segment, rows, number):
            return False
    outer = [
        (left, right)
        for left, right in gaps
        if not _known((left, right), kept) or any(left < one and two < right for one, two in segment.loose)
    ]
    kept += [one for one in _outer(segment, outer, size) if not _known((one.left, one.right), kept)]
    if len(kept) > _MAX_STRIPS:
        return False
    segment.strips = kept
    segment.left, segment.right = min(segment.left, row[0].left), max(segment.right, row[-1].right)
    return True


def _outer(segment: Segment, gaps: list[tuple[float, float]], size: float) -> list[Strip]:
    """Return the strips between the lines so far and what stands beside all of them."""
    least = _MIN_EM * size
    found = [Strip(segment.right, right, 2) for left, right in gaps if left < segment.right <= right - least]
    found += [Strip(left, segment.left, 2) for left, right in gaps if left + least <= segment.left < right]
    return [one for one in found if not _known((one.left, one.right), segment.strips)]


def _is_apart(segment: Segment, rows: list[Row], number: int) -> bool:
    """Say whether a line whose columns no line before it shows begins a table of its own."""
    few = len(segment.several) < 3  # noqa: PLR2004
    return few or rows[number][0].base - rows[number - 1][0].base > 1.3 * segment.usual


def _are_heads(rows: list[Row], covered: list[int], left: float, right: float) -> bool:
    """Say whether what covers a strip in lines at the top are names of several columns."""
    pieces = [piece for one in covered for piece in rows[one] if piece.left < right and piece.right > left]
    return all(len(piece.words) <= _SECTION_WORDS and not is_value(piece.text) for piece in pieces)


def _narrowed(rows: list[Row], lines: list[int], left: float, right: float) -> Strip:
    """Return the part of a gap that lines before it leave free as well."""
    support = 1
    for one in lines:
        row = rows[one]
        for before, after in itertools.pairwise(row):
            start, end = max(left, before.right), min(right, after.left)
            if end - start >= _NARROW_EM * row[0].size:
                left, right = start, end
                support += 1
                break
        else:
            if row[0].left < right and row[0].right > right:
                right = max(row[0].left, left + 0.1)
            if row[-1].right > left and row[-1].left < left:
                left = min(row[-1].right, right - 0.1)
    return Strip(left, right, support)


def _parts(strip: Strip, row: Row, gaps: list[tuple[float, float]], size: float) -> list[Strip]:
    """Return what a line leaves free of a strip; nothing when it covers it."""
    if strip.right <= row[0].left or strip.left >= row[-1].right:
        return [strip]
    parts: list[Strip] = []
    if strip.left < row[0].left:
        parts.append(Strip(strip.left, min(strip.right, row[0].left), strip.support, strip.crossed))
    for left, right in gaps:
        start, end = max(left, strip.left), min(right, strip.right)
        if end - start >= _NARROW_EM * size:
            parts.append(Strip(start, end, strip.support + 1, strip.crossed))
    if strip.right > row[-1].right:
        parts.append(Strip(max(strip.left, row[-1].right), strip.right, strip.support, strip.crossed))
    least = _MIN_EM * size
    wide = [part for part in parts if part.right - part.left >= least]
    return wide or parts


def _known(gap: tuple[float, float], strips: list[Strip]) -> bool:
    return any(strip.left < gap[1] and strip.right > gap[0] for strip in strips)


def _covers(row: Row, left: float, right: float) -> bool:
    """Say whether a line leaves nothing free between two places that it reaches beyond."""
    if right <= row[0].left or left >= row[-1].right:
        return False
    at, widest = left, 0.0
    for piece in row:
        if piece.right <= left:
            continue
        if piece.left >= right:
            break
        widest = max(widest, piece.left - at)
        at = max(at, piece.right)
    return max(widest, right - at) < _MIN_EM * row[0].size


def _fits(segment: Segment, rows: list[Row], number: int) -> bool:
    """Say whether a line of one piece may stand in a table: within a column, or as the heading of the rows below it."""
    piece = rows[number][0]
    after = [row for row in rows[number + 1 : number + 6] if len(row) > 1][:3]
    left = min([segment.left, *(row[0].left for row in after)])
    right = max([segment.right, *(row[-1].right for row in after)])
    if piece.left < left - 2 * piece.size or piece.right > right + 4 * piece.size:
        return False
    strips = segment.kept()
    crossed = [strip for strip in strips if piece.left < strip.left and piece.right > strip.right]
    if not crossed:
        _part(segment, piece)
        segment.loose = [*segment.loose[-_LOOKED_BACK:], (piece.left, piece.right)]
        if piece.left >= segment.right + _MIN_EM * piece.size:
            segment.strips.append(Strip(segment.right, piece.left, 2))
        segment.left, segment.right = min(segment.left, piece.left), max(segment.right, piece.right)
        return True
    text = piece.text
    short = len(piece.words) <= _SECTION_WORDS and not text.endswith((".", ";", "?", "!"))
    nexts = [len(row) for row in rows[number + 1 : number + 3]]
    stub = abs(piece.left - left) < 2 * piece.size
    return short and stub and any(count > 1 for count in nexts) and len(crossed) <= max(len(strips) / 2, 1)


def _part(segment: Segment, piece: Piece) -> None:
    """Part the strip within which a line of one piece stands: a column that lines beside it leave out."""
    least = _MIN_EM * piece.size
    kept: list[Strip] = []
    for strip in segment.strips:
        inside = strip.left + least < piece.left and piece.right < strip.right - least
        if inside:
            kept.append(Strip(strip.left, piece.left, strip.support, strip.crossed))
            kept.append(Strip(piece.right, strip.right, strip.support, strip.crossed))
        else:
            kept.append(strip)
    segment.strips = kept
