"""Tables without rules among the lines of a part of a page; what is not sure is left to be read as before."""

import itertools
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.document import Box, Place, Table
from services.common.documents.pdf.aligned import finer_cuts
from services.common.documents.pdf.bare.cells import Line, divide_values, lines_of, value_columns
from services.common.documents.pdf.bare.close import part_close_columns
from services.common.documents.pdf.bare.grouping import clashes, group_lines, is_number
from services.common.documents.pdf.bare.groups import join_columns_of_groups
from services.common.documents.pdf.bare.leaders import without_leaders
from services.common.documents.pdf.bare.segments import Row, Segment, Strip, find_segments
from services.common.documents.pdf.bare.sides import find_labelled, find_sides
from services.common.documents.pdf.bare.stacked import count_head_lines, head_rows
from services.common.documents.pdf.frame import Frame, joined_box
from services.common.documents.pdf.heads import count_header_columns, count_header_rows, is_value
from services.common.documents.pdf.ruled import Rule
from services.common.documents.pdf.texts import join_lines

_MIN_SEVERAL: Final = 3
_ABOVE_LINES: Final = 4
_CLOSE_EM: Final = 1.5
_CLOSE_GAP: Final = 1.25
_NAMES_EM: Final = 3.4
"""The first line below the names of columns stands no further away."""
_ACROSS: Final = 0.6
_CROSSING: Final = 0.1
_LEGEND_GAP: Final = 1.12
_HAIR_PT: Final = 0.1
_LOOKED_BACK: Final = 100


@dataclass(slots=True)
class BareTable:
    """A table that was found.

    Attributes:
        first: number of its first line.
        last: number of its last line.
        boxes: around each row.
        doubt: why it may be wrong; empty when it is sure.
    """

    first: int
    last: int
    texts: list[list[str]]
    cuts: tuple[float, ...]
    head: int
    columns: int
    spanned: set[tuple[int, int]] = field(default_factory=set)
    boxes: list[Box] = field(default_factory=list)
    doubt: str = ""

    def as_table(self, frame: Frame, page: int) -> Table:
        """Return it as the document's model has tables."""
        places = tuple(Place(page, frame.shown(box)) for box in self.boxes)
        rows = tuple(tuple(row) for row in self.texts)
        return Table(rows, self.head, self.columns, "", frozenset(self.spanned), places, self.doubt)


@dataclass(slots=True)
class Sides:
    """Lines on which several things stand beside each other.

    Attributes:
        first: number of the first line.
        last: number of the last line.
        cuts: where they are divided.
        columns: where all columns are divided, those of each thing as well.
    """

    first: int
    last: int
    cuts: tuple[float, ...]
    columns: tuple[float, ...]


def read_table(rows: list[Row], rules: list[Rule]) -> BareTable | None:
    """Return the table that all lines make together; ``None`` when they are none, or something stands beside it."""
    found = find_tables(rows, rules)
    whole = len(found) == 1 and found[0].first == 0 and found[0].last == len(rows) - 1
    return found[0] if whole and isinstance(found[0], BareTable) else None


def find_tables(rows: list[Row], rules: list[Rule]) -> list[BareTable | Sides]:
    """Return the tables among lines, from the top, and lines that several things share."""
    found: list[BareTable | Sides] = []
    at = 0
    for sides in [*find_labelled(rows), None]:
        end = len(rows) if sides is None else sides[0]
        for table in _find_tables(rows[at:end], rules):
            table.first, table.last = table.first + at, table.last + at
            found.append(table)
        if sides is not None:
            found.append(Sides(*sides, sides[2]))
            at = sides[1] + 1
    return found


def _find_tables(rows: list[Row], rules: list[Rule]) -> list[BareTable | Sides]:
    bare = [divide_values(without_leaders(row)) for row in rows]
    found: list[BareTable | Sides] = []
    before: Segment | None = None
    for segment in find_segments(bare):
        names, before = before, segment
        if len(segment.several) < _MIN_SEVERAL or not segment.kept() or segment.open:
            continue
        end = found[-1].last + 1 if found else 0
        if names is not None and names.first >= end and _are_names(bare, names, segment):
            segment.first = names.first
        _reach(bare, segment, end)
        _part_values(bare, segment)
        table = _table(bare, segment, rules)
        if table is not None:
            found.append(table)
    return found


def _are_names(rows: list[Row], names: Segment, segment: Segment) -> bool:
    """Say whether the lines of a segment name the columns of the next one: bold, right above it or its first heading.

    Names that stand half a line apart leave no white that tells the columns; what stands below them does.
    """
    head, between = rows[names.first : names.last + 1], rows[names.last + 1 : segment.first]
    size = rows[segment.first][0].size
    lines = [head[-1], *between, rows[segment.first]]
    near = all(two[0].base - one[0].base <= _NAMES_EM * size for one, two in itertools.pairwise(lines))
    left = min(row[0].left for row in rows[segment.first : segment.last + 1])
    right = max(row[-1].right for row in rows[segment.first : segment.last + 1])
    within = all(row[0].left > left - size and row[-1].right < right + size for row in head)
    heading = all(len(row) == 1 and row[0].bold and abs(row[0].left - left) < size for row in between)
    bold = all(piece.bold for row in head for piece in row) and not all(
        piece.bold for row in rows[segment.first : segment.last + 1] for piece in row
    )
    plain = not any(is_value(piece.text) for piece in head[0])
    return len(head) <= _ABOVE_LINES and len(between) <= 1 and near and within and heading and bold and plain


def _part_values(rows: list[Row], segment: Segment) -> None:
    """Add strips between values that stand close together at the same places of each line."""
    known = sorted(strip.middle for strip in segment.kept())
    close = part_close_columns(rows, segment.first, segment.last, known)
    finer = finer_cuts(rows[segment.first : segment.last + 1], tuple(sorted([*known, *close])))
    for cut in sorted({*finer, *close} - set(known)):
        segment.strips.append(Strip(cut - _HAIR_PT, cut + _HAIR_PT, len(segment.several)))


def _reach(rows: list[Row], segment: Segment, end: int) -> None:
    """Let a segment take the lines right above it that stand over its columns: heads of several lines; and its last."""
    strips = segment.kept()
    while segment.first > end:
        row = rows[segment.first - 1]
        below = rows[segment.first][0]
        if any(piece.whole is not None for piece in row) or segment.several[0] - segment.first >= _ABOVE_LINES:
            break
        gap = below.base - row[0].base
        bold = all(piece.bold for piece in (*row, *rows[segment.first]))
        near = gap <= _CLOSE_EM * max(below.size, row[0].size) or (bold and gap <= _CLOSE_GAP * segment.usual)
        inner = all(piece.left > strips[0].middle for piece in row)
        within = all(
            piece.right < max(line[-1].right for line in rows[segment.first : segment.last + 1]) + piece.size
            for piece in row
        )
        if not near or not inner or not within or row[0].size > 1.05 * below.size:
            break
        segment.first -= 1
    while segment.last + 1 < len(rows) and _is_rest(rows, segment):
        segment.last += 1


def _is_rest(rows: list[Row], segment: Segment) -> bool:
    """Say whether the line below goes on with a cell of the last row: close, in one column that is not the first."""
    row = rows[segment.last + 1]
    above = rows[segment.last]
    if (
        len(row) != 1
        or row[0].whole is not None
        or min(abs(row[0].size - one.size) for one in above) > 0.05 * row[0].size
    ):
        return False
    piece = row[0]
    gap = piece.base - above[0].base
    if gap > min(1.45 * piece.size, 1.02 * max(segment.usual, 1.2 * piece.size)):
        return False
    strips = segment.kept()
    crossed = any(piece.left < strip.left and piece.right > strip.right for strip in strips)
    near = any(
        abs(one.left - piece.left) < 0.6 * piece.size
        for number in segment.several[-_LOOKED_BACK:]
        for one in rows[number][1:]
    )
    if not crossed and near and piece.left > strips[0].left:
        return True
    return not crossed and piece.right <= strips[0].right and piece.text[:1].islower()


def _table(rows: list[Row], segment: Segment, rules: list[Rule]) -> BareTable | Sides | None:
    lines = lines_of(rows, segment)
    if join_columns_of_groups(segment, lines):
        lines = lines_of(rows, segment)
    strips = segment.kept()
    count = len(strips) + 1
    values = value_columns(lines, count)
    if values and _is_legend(lines):
        segment.last -= 1
        lines.pop()
    left = min(row[0].left for row in rows[segment.first : segment.last + 1])
    right = max(row[-1].right for row in rows[segment.first : segment.last + 1])
    heads = count_head_lines(lines, values, rules, left, right)
    if not values and all(piece.fixed for line in lines for piece in line.pieces):
        return None  # code, whose white is its own
    cuts = find_sides(lines, strips, heads)
    if cuts:
        return Sides(segment.first, segment.last, cuts, tuple(strip.middle for strip in strips))
    values = value_columns(lines[heads:], count)
    across = [rule.at for rule in rules if min(rule.end, right) - max(rule.start, left) > _ACROSS * (right - left)]
    groups = group_lines(lines[heads:], values, across)
    texts, spanned = _head(lines[:heads], lines[heads:], count, rules)
    head = len(texts)
    _add_rows(texts, spanned, groups, count)
    parts = [[line] for line in lines[:head]] if head == heads else [lines[:heads]] * head
    boxes = [joined_box([piece.box for line in part for piece in line.pieces]) for part in [*parts, *groups]]
    table = BareTable(segment.first, segment.last, texts, tuple(one.middle for one in strips), head, 0, spanned, boxes)
    bold = [_bold(group, count) for group in [*parts, *groups]]
    if not head:
        table.head = _unmarked_head(texts, bold)
    table.columns = count_header_columns(texts, bold, table.head)
    return table if is_sure(groups, values) else None


def _add_rows(texts: list[list[str]], spanned: set[tuple[int, int]], groups: list[list[Line]], count: int) -> None:
    """Add a row for each group of lines; what covers several columns stands in each."""
    for index, group in enumerate(groups, start=len(texts)):
        cells: list[list[str]] = [[] for _ in range(count)]
        for line in group:
            for column in sorted(line.cells):
                last = line.spans.get(column, column)
                if last > column and len(line.cells) == 1 and column == 0:
                    last = column  # a heading of the rows below it
                for at in range(column, last + 1):
                    cells[at].append(line.text(column))
                    if at > column:
                        spanned.add((index, at))
        texts.append([join_lines(cell) for cell in cells])


def _is_legend(lines: list[Line]) -> bool:
    """Say whether the last line explains signs: across columns, without any value, in smaller print or set apart."""
    if len(lines) <= _MIN_SEVERAL or not lines[-1].spans:
        return False
    last, before = lines[-1], lines[-2]
    apart = last.base - before.base > _LEGEND_GAP * (before.base - lines[-3].base) or last.size < 0.95 * before.size
    return apart and len(last.pieces) > 1 and not any(is_value(piece.text) for piece in last.pieces)


def _unmarked_head(texts: list[list[str]], bold: list[list[bool]]) -> int:
    """Return how many rows name the columns though nothing marks them; of pairs none, unless all below are values."""
    if len(texts[0]) == 2 and not all(is_value(row[1]) for row in texts[1:] if row[1]):  # noqa: PLR2004
        return 0
    return count_header_rows(texts, [all(row) for row in bold], {})


def _bold(group: list[Line], count: int) -> list[bool]:
    pieces = [[piece for line in group for piece in line.cells.get(column, ())] for column in range(count)]
    return [bool(cell) and all(piece.bold for piece in cell) for cell in pieces]


def _head(
    head: list[Line], body: list[Line], count: int, rules: list[Rule]
) -> tuple[list[list[str]], set[tuple[int, int]]]:
    if not head:
        return [], set()
    extents: list[tuple[float, float]] = []
    for column in range(count):
        found = [
            piece for line in [*body, *head[1:]] if column not in line.spans for piece in line.cells.get(column, ())
        ]
        if found:
            extents.append((min(piece.left for piece in found), max(piece.right for piece in found)))
        else:
            extents.append((extents[-1][1], extents[-1][1]) if extents else (0.0, 0.0))
    return head_rows(head, extents, rules)


def is_sure(groups: list[list[Line]], values: set[int]) -> bool:
    """Say whether lines are a table beyond doubt: hardly one covers two columns, no row has two numbers in a cell."""
    body = [line for group in groups for line in group]
    crossing = sum(bool(line.spans) and set(line.cells) != {0} for line in body)
    twice = any(
        sum(is_number(line.text(column)) for line in group) > 1
        for group in groups
        if len(group) > 1
        for column in values
    )
    return len(groups) > 1 and crossing <= _CROSSING * len(body) and not twice and not clashes(body)
