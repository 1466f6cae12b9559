"""The reading order of a page: bands of columns, tables without lines and plain lines, cut apart by white.

The longest strip of white decides first. What lies above it and below it is laid out by itself, its columns each by
themselves (a recursive XY cut whose cuts are strips that have text on both sides). Whether a band is columns of text
or a table is judged by how its lines fill them.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from services.common.documents.pdf.aligned import pairs_of
from services.common.documents.pdf.bare.finding import BareTable, Sides, find_tables
from services.common.documents.pdf.bare.sides import find_titled_sides, split_at
from services.common.documents.pdf.blocks import is_table_caption
from services.common.documents.pdf.gutters import Gutter, find_gutters, rows_of_pieces
from services.common.documents.pdf.heads import is_value
from services.common.documents.pdf.judging import (
    Band,
    BandKind,
    are_sections,
    beside_text,
    judge,
    table_breaks,
    table_edges,
    text_beside,
)
from services.common.documents.pdf.lines import Piece
from services.common.documents.pdf.ruled import Rule

_MAX_DEPTH: Final = 24
_SAME_EXTENT: Final = 0.5
_WHITE_RATIO: Final = 3.0
_WHITE_EM: Final = 3.6
_APART_LINES: Final = 6
_APART_SHARE: Final = 0.15
_HEAD_LINES: Final = 2
_BOXES: Final = 4
_VALUES_SHARE: Final = 0.6
_WIDE_CUTS: Final = 3
_WIDE_SHARE: Final = 0.6
_KIND: Final = re.compile(r"\[[A-Z][\w ]{2,30}\]")
_NEXT_LINE: Final = 2.6
"""A line further below than so many times its size begins something else."""


@dataclass(slots=True)
class Region:
    """A part of a page, read after the one before it: lines of pieces, or the columns of a table.

    Attributes:
        cuts: where the columns of a table are divided; empty for lines.
        table: what was read of it already.
        alone: no sentence of it goes on elsewhere: it stands beside something else.
    """

    rows: list[list[Piece]]
    cuts: tuple[float, ...] = ()
    left: float = 0.0
    right: float = 0.0
    table: BareTable | None = None
    alone: bool = False


@dataclass(slots=True)
class _Task:
    rows: list[list[Piece]] = field(default_factory=list)
    region: Region | None = None
    depth: int = 0
    alone: bool = False


def lay_out(pieces: list[Piece], rules: Sequence[Rule] = ()) -> list[Region]:
    """Return the regions of a page in reading order."""
    ordered = sorted(pieces, key=lambda piece: (piece.base, piece.left))
    result: list[Region] = []
    stack = [_Task(_without_kinds(rows_of_pieces(ordered)))]
    while stack:
        task = stack.pop()
        if task.region is not None:
            task.region.alone |= task.alone
            result.append(task.region)
        elif task.rows:
            parts = _parts(task.rows, task.depth, list(rules))
            for part in parts:
                part.alone |= task.alone
            stack.extend(reversed(parts))
    return result


def _without_kinds(rows: list[list[Piece]]) -> list[list[Piece]]:
    """Return lines without what says of which kind a definition is, in brackets at the right edge.

    ``int ffi_call (void *f)          [Function]``, as manuals made from Texinfo have it.
    """
    right = max((row[-1].right for row in rows), default=0.0)
    return [
        row[:1]
        if len(row) == 2  # noqa: PLR2004
        and row[0].whole is row[1].whole is None
        and _KIND.fullmatch(row[1].text)
        and right - row[1].right < row[1].size
        else row
        for row in rows
    ]


def _parts(rows: list[list[Piece]], depth: int, rules: list[Rule]) -> list[_Task]:
    """Cut lines at their longest strip of white, or return them as they are."""
    if depth < _MAX_DEPTH:
        whites = _whites(rows)
        if whites:
            edges = [0, *whites, len(rows)]
            return [_Task(rows[a:b], depth=depth + 1) for a, b in itertools.pairwise(edges)]
        beside = _beside_box(rows, rules)
        if beside is not None:
            return beside.parts(depth)
        gutters = [gutter for gutter in find_gutters(rows) if gutter.rows > 1 or len(rows) <= 2]  # noqa: PLR2004
        gutters.sort(key=lambda gutter: (gutter.last - gutter.first, gutter.right - gutter.left), reverse=True)
        for gutter in gutters[:12]:
            band = beside_text(_band(rows, gutter, gutters))
            kind = BandKind.COLUMNS if band.apart else judge(band)
            if kind is not BandKind.NOTHING:
                return _band_parts(rows, band, kind, rules, depth)
    return [_Task(region=_region(rows))]


def _band_parts(rows: list[list[Piece]], band: Band, kind: BandKind, rules: list[Rule], depth: int) -> list[_Task]:
    """Cut lines at a band: its columns, or the tables that are in it, or the one across it."""
    if kind is BandKind.COLUMNS:
        across = _across(rows, band, rules)
        return _cut(rows, band, kind, depth) if across is None else _parts_around(rows, across, depth)
    cut = text_beside(band) if find_titled_sides(rows) is None else None
    if cut is not None:
        return _cut(rows, replace(band, cuts=(cut,)), BandKind.COLUMNS, depth)
    found = _bare_parts(rows, band, rules, depth)
    return found or _cut(rows, band, BandKind.COLUMNS if _is_apart(band) else kind, depth)


def _is_apart(band: Band) -> bool:
    """Say whether hardly a line of many has something in two columns: they are out of step."""
    several = sum(len(row) > 1 for row in band.rows)
    least = min(map(len, band.columns))
    return least >= _APART_LINES // 2 and least >= len(band.rows) / 4 and several <= _APART_SHARE * len(band.rows)


def _bare_parts(rows: list[list[Piece]], band: Band, rules: list[Rule], depth: int) -> list[_Task]:
    """Return the tables that are sure and what stands between them; nothing when there is none."""
    sections = are_sections(band.rows, table_breaks(band.rows)[1], len(band.cuts) + 1)
    titled = None if sections else find_titled_sides(rows)
    if titled is not None:
        first, last, cuts = titled
        parts = [_Task(rows[:first], depth=depth + 1)]
        sides = split_at(rows[first : last + 1], cuts)
        parts += [_Task(rows_of_pieces(side), depth=depth + 1, alone=True) for side in sides]
        return [*parts, _Task(rows[last + 1 :], depth=depth + 1)]
    tables = find_tables(rows, rules)
    if not tables or (sections and not _hold_all(tables, band)):
        return []
    parts = []
    at = 0
    for table in tables:
        parts.append(_Task(rows[at : table.first], depth=depth + 1))
        shared = rows[table.first : table.last + 1]
        if isinstance(table, Sides) and pairs_of(shared, table.columns):
            parts.append(_Task(region=_region(shared, table.columns)))
            at = table.last + 1
            continue
        if isinstance(table, Sides):
            sides = split_at(shared, table.cuts)
            parts += [_Task(rows_of_pieces(side), depth=depth + 1, alone=True) for side in sides]
            at = table.last + 1
            continue
        region = _region(shared, table.cuts)
        region.table = table
        parts.append(_Task(region=region))
        at = table.last + 1
    return [*parts, _Task(rows[at:], depth=depth + 1)]


def _across(rows: list[list[Piece]], band: Band, rules: list[Rule]) -> BareTable | None:
    """Return the first table right below its caption that the strip between two columns of text would cut.

    White between two of its columns stands below that between the text's: only both together look like one strip.
    """
    captions = [number for number, row in enumerate(rows) if len(row) == 1 and is_table_caption(row[0].text)]
    for number, end in itertools.pairwise([*captions, len(rows)]):
        below = rows[number + 1 : end]
        if not band.first <= number + 1 <= band.last or any(piece.whole is not None for row in below for piece in row):
            continue
        table = next(iter(find_tables(below, rules)), None)
        if not isinstance(table, BareTable) or table.first > _HEAD_LINES or len(table.cuts) < _WIDE_CUTS:
            continue
        lines = below[table.first : table.last + 1]
        left, right = min(row[0].left for row in lines), max(row[-1].right for row in lines)
        several = sum(len(row) > len(band.cuts) + 1 for row in lines)
        if several >= _WIDE_SHARE * len(lines) and any(left < cut < right for cut in band.cuts):
            table.first, table.last = table.first + number + 1, table.last + number + 1
            return table
    return None


@dataclass(slots=True)
class _Beside:
    """A table with a box beside it.

    Attributes:
        rows: the lines without the box.
        box: its strips.
    """

    rows: list[list[Piece]]
    table: BareTable
    box: list[Piece]

    def parts(self, depth: int) -> list[_Task]:
        """Return what stands above the table, it, the box and what stands below the table."""
        above, table, below = _parts_around(self.rows, self.table, depth)
        return [above, table, _Task(rows_of_pieces(self.box), depth=depth + 1, alone=True), below]


def _beside_box(rows: list[list[Piece]], rules: list[Rule]) -> _Beside | None:
    """Return a table of which nothing but a box stands beside some lines: a table ends where its own rows do."""
    strips: dict[int, list[Piece]] = {}
    for row in rows:
        for piece in row:
            if piece.whole is not None and piece.whole.table is None:
                strips.setdefault(id(piece.whole), []).append(piece)
    for box in list(strips.values())[:_BOXES]:
        gone = {id(piece) for piece in box}
        rest = [[piece for piece in row if id(piece) not in gone] for row in rows]
        rest = [row for row in rest if row]
        left, right = box[0].left, box[0].right
        for table in find_tables(rest, rules):
            if not isinstance(table, BareTable) or not _is_of_values(table):
                continue
            lines = rest[table.first : table.last + 1]
            start, end = min(row[0].left for row in lines), max(row[-1].right for row in lines)
            level = lines[0][0].top < box[-1].bottom and lines[-1][0].bottom > box[0].top
            if level and (end < left or start > right):
                return _Beside(rest, table, box)
    return None


def _is_of_values(table: BareTable) -> bool:
    """Say whether a table has names of columns and values in the last one: no text runs beside its names."""
    last = [row[-1] for row in table.texts[table.head :] if row[-1]]
    return table.head > 0 and len(table.cuts) > 1 and sum(map(is_value, last)) >= _VALUES_SHARE * len(last) > 0


def _parts_around(rows: list[list[Piece]], table: BareTable, depth: int) -> list[_Task]:
    """Return what stands above a table, it and what stands below it."""
    region = _region(rows[table.first : table.last + 1], table.cuts)
    region.table = table
    above, below = rows[: table.first], rows[table.last + 1 :]
    return [_Task(above, depth=depth + 1), _Task(region=region), _Task(below, depth=depth + 1)]


def _hold_all(tables: list[BareTable | Sides], band: Band) -> bool:
    """Say whether one table, of more columns than the band shows, holds all its lines of several pieces."""
    several = [number for number, row in enumerate(band.rows, band.first) if len(row) > 1]
    return any(
        isinstance(table, BareTable)
        and table.first <= several[0]
        and several[-1] <= table.last
        and len(table.cuts) > len(band.cuts)
        for table in tables
    )


def _whites(rows: list[list[Piece]]) -> list[int]:
    """Return the numbers of lines above which much is left white from edge to edge."""
    gaps: list[float] = []
    bottom = max(piece.bottom for piece in rows[0])
    for row in rows[1:]:
        gaps.append(min(piece.top for piece in row) - bottom)
        bottom = max(bottom, *(piece.bottom for piece in row))
    usual = sorted(gaps)[len(gaps) // 2] if gaps else 0.0
    size = sorted(piece.size for row in rows for piece in row)[sum(map(len, rows)) // 2]
    limit = max(_WHITE_RATIO * (usual + size), _WHITE_EM * size)
    return [number for number, gap in enumerate(gaps, start=1) if gap > limit]


def _region(rows: list[list[Piece]], cuts: tuple[float, ...] = ()) -> Region:
    left = min(piece.left for row in rows for piece in row)
    right = max(piece.right for row in rows for piece in row)
    return Region(rows, cuts, left, right)


def _cut(rows: list[list[Piece]], band: Band, kind: BandKind, depth: int) -> list[_Task]:
    above, below = rows[: band.first], rows[band.last + 1 :]
    parts = [_Task(above, depth=depth + 1)] if above else []
    if kind is BandKind.TABLE:
        parts += _table_parts(band, depth)
    else:
        for column in band.columns:
            if column:
                pieces = sorted(column, key=lambda piece: (piece.base, piece.left))
                parts.append(_Task(rows_of_pieces(pieces), depth=depth + 1))
    if below:
        parts.append(_Task(below, depth=depth + 1))
    return parts


def _table_parts(band: Band, depth: int) -> list[_Task]:
    """Return a table, with what stands at its edges apart, or its parts where headings divide it."""
    breaks, titles = table_breaks(band.rows)
    if are_sections(band.rows, titles, len(band.cuts) + 1):
        breaks = [number for number in breaks if number not in titles and number - 1 not in titles]
    if breaks:
        edges = [0, *breaks, len(band.rows)]
        return [_Task(band.rows[start:end], depth=depth + 1) for start, end in itertools.pairwise(edges) if start < end]
    first, last = table_edges(band.rows)
    parts = [_Task(region=_region(band.rows[:first]))] if first else []
    parts.append(_Task(region=_region(band.rows[first : last + 1], band.cuts)))
    if last + 1 < len(band.rows):
        parts.append(_Task(region=_region(band.rows[last + 1 :])))
    return parts


def _band(rows: list[list[Piece]], gutter: Gutter, gutters: list[Gutter]) -> Band:
    """Return the lines beside a strip, with those above and below that belong to one of its columns."""
    first, last = _extended(rows, gutter)
    cuts = [gutter]
    extent = gutter.last - gutter.first + 1
    for other in gutters:
        shared = min(other.last, gutter.last) - max(other.first, gutter.first) + 1
        apart = all(other.right <= cut.left or other.left >= cut.right for cut in cuts)
        if apart and shared >= _SAME_EXTENT * extent and _is_free(rows, other, first, last):
            cuts.append(other)
    cuts.sort(key=lambda cut: cut.left)
    return Band(rows[first : last + 1], first, last, tuple(cut.middle for cut in cuts), gutter.rows)


def _is_free(rows: list[list[Piece]], gutter: Gutter, first: int, last: int) -> bool:
    middle = gutter.middle
    return not any(piece.left < middle < piece.right for row in rows[first : last + 1] for piece in row)


def _extended(rows: list[list[Piece]], gutter: Gutter) -> tuple[int, int]:
    """Return the first and last line of a band: lines of one column alone belong to it while they follow closely."""
    first, last = gutter.first, gutter.last
    while first > 0 and _belongs(rows[first - 1], rows[first:], gutter, above=True):
        first -= 1
    while last + 1 < len(rows) and _belongs(rows[last + 1], rows[last::-1], gutter, above=False):
        last += 1
    while last > gutter.last and _announces(rows[last], rows[gutter.first]):
        last -= 1
    while first < gutter.first and len(rows[first]) == 1 and not _in_column(rows[first][0], rows[first + 1 :]):
        first += 1
    return first, last


def _announces(row: list[Piece], usual: list[Piece]) -> bool:
    """Say whether a line is a heading: one of a band's last lines is what comes below its columns."""
    larger = row[0].size > 1.05 * max(piece.size for piece in usual)
    return len(row) == 1 and (larger or (row[0].bold and not any(piece.bold for piece in usual)))


def _in_column(piece: Piece, below: list[list[Piece]]) -> bool:
    return any(abs(other.left - piece.left) < 1.5 * piece.size for row in below[:4] for other in row)


def _belongs(row: list[Piece], beside: list[list[Piece]], gutter: Gutter, *, above: bool) -> bool:
    if any(piece.left < gutter.right and piece.right > gutter.left for piece in row):
        return False
    sides = {piece.left >= gutter.right for piece in row}
    if len(sides) > 1:
        return True
    near = next((piece for line in beside[:6] for piece in line if (piece.left >= gutter.right) in sides), None)
    if near is None:
        return False
    gap = abs(near.base - row[0].base) / max(near.size, row[0].size, 1.0)
    same = abs(near.size - row[0].size) <= 0.12 * near.size
    return gap <= _NEXT_LINE and (same or not above)
