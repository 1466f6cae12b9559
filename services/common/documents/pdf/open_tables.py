"""Tables with level lines alone: one above the head, one below it and one at the end, all of one length.

What such lines hold together is a table, however long its cells are, and it ends at the last of them: what follows has
columns of its own. It takes its place on the page as one, like a table with all lines.
"""

import itertools
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.document import Box
from services.common.documents.pdf.gutters import rows_of_pieces
from services.common.documents.pdf.judging import is_side_by_side
from services.common.documents.pdf.lines import Piece
from services.common.documents.pdf.ruled import Rule

_SAME_PT: Final = 3.0
_DOUBLE_PT: Final = 4.0
_MAX_LENGTHS: Final = 100
_MAX_STRIPS: Final = 100
_MIN_RULES: Final = 3
_RULED_ROWS: Final = 4
"""Rules that part the lines below a head as often leave no doubt that they are rows."""
_HEAD_LINES: Final = 4
_MIN_EM: Final = 0.5
_SEVERAL: Final = 0.5
_ABOVE_BASE: Final = 0.25
_SECTION_EM: Final = (2.4, 1.6)
"""A lone line further below its rule, or above the next one, in its own size, is no row but stands between tables."""

_AMOUNT: Final = re.compile(
    r"[(+\u2212\u2013-]?(?:\d{1,3}(?:[.,'\u2019 ]\d{3})+(?:[.,]\d+)?|\d+[.,]\d+|(?!(?:19|20)\d\d\b)\d{3,})[)%]?"
)

_Strip = tuple[float, float]


@dataclass(slots=True)
class OpenTable:
    """The lines of a table between level rules.

    Attributes:
        box: around its rules.
        cuts: where its columns are divided.
    """

    box: Box
    rows: list[list[Piece]]
    cuts: tuple[float, ...]


@dataclass(slots=True)
class _Columns:
    """Strips of white that all rows leave free; rows that cover one span its columns."""

    strips: list[_Strip] = field(default_factory=list)

    def takes(self, row: list[Piece]) -> bool:
        """Narrow the strips to what a row leaves free; say no, and leave them, when it covers one."""
        free = [_free(row, strip) for strip in self.strips]
        least = _least(row)
        if any(right - left < least for left, right in free):
            return False
        self.strips = free
        return True

    def narrow(self, row: list[Piece]) -> None:
        """Narrow the strips to what a row leaves free, but those that it covers."""
        least = _least(row)
        free = [(strip, _free(row, strip)) for strip in self.strips]
        self.strips = [left if left[1] - left[0] >= least else strip for strip, left in free]


def find_open_tables(pieces: list[Piece], rules: list[Rule]) -> list[OpenTable]:
    """Return the tables that level rules of one length hold together, from the top."""
    ordered = sorted(pieces, key=_height)
    heights = [_height(piece) for piece in ordered]
    tables: list[OpenTable] = []
    for group in _of_one_length(rules):
        start, end = group[0].start - _SAME_PT, group[0].end + _SAME_PT
        parts: list[list[list[Piece]]] = []
        for above, below in itertools.pairwise(group):
            here = ordered[bisect_left(heights, above.at) : bisect_left(heights, below.at)]
            inside = [piece for piece in here if piece.right > start and piece.left < end]
            whole = all(start <= piece.left and piece.right <= end and piece.whole is None for piece in inside)
            parts.append(rows_of_pieces(sorted(inside, key=lambda piece: (piece.base, piece.left))) if whole else [])
        tables += _tables(group, parts)
    return sorted(tables, key=lambda table: table.box[1])


def _height(piece: Piece) -> float:
    return piece.base - _ABOVE_BASE * piece.size


def _of_one_length(rules: list[Rule]) -> list[list[Rule]]:
    """Return rules that begin and end alike, from the top; two close together are one."""
    groups: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        group = next(
            (
                group
                for group in groups
                if abs(group[0].start - rule.start) <= _SAME_PT and abs(group[0].end - rule.end) <= _SAME_PT
            ),
            None,
        )
        if group is not None and rule.at - group[-1].at > _DOUBLE_PT:
            group.append(rule)
        elif group is None and len(groups) < _MAX_LENGTHS:
            groups.append([rule])
    return [group for group in groups if len(group) >= _MIN_RULES]


def _tables(group: list[Rule], parts: list[list[list[Piece]]]) -> list[OpenTable]:
    """Return the tables among rules of one length, of whose lines each part stands between two."""
    tables: list[OpenTable] = []
    at = 0
    while at + 1 < len(parts):
        end, columns = _end(group, parts, at)
        rows = [row for part in parts[at:end] for row in part]
        cuts = tuple((left + right) / 2 for left, right in columns.strips)
        if end and (end - at >= _RULED_ROWS or not is_side_by_side(rows, cuts)):
            box = (group[at].start, group[at].at, group[end].end, group[end].at)
            tables.append(OpenTable(box, rows, cuts))
        at = max(end, at + 1)
    return tables


def _end(group: list[Rule], parts: list[list[list[Piece]]], at: int) -> tuple[int, _Columns]:
    """Return the number of the last rule of a table that begins at one, 0 when none does, and its columns."""
    head, body = parts[at], parts[at + 1]
    several = [row for row in body if len(row) > 1]
    headed = 0 < len(head) <= _HEAD_LINES and any(len(row) > 1 for row in head) and not any(map(_is_amounts, head))
    if not headed or not several or len(several) < _SEVERAL * len(body):
        return 0, _Columns()
    lines = [row for row in head if len(row) > 1] + several
    strips = _strips(several)
    if len(strips) > _MAX_STRIPS:
        return 0, _Columns()
    columns = _Columns([strip for strip in strips if sum(_parts_row(row, strip) for row in lines) > 1])
    for row in [*(row for row in body if len(row) == 1), *reversed(head)]:
        columns.narrow(row)
    if not any(_parts_row(row, strip) for row in head for strip in columns.strips):
        return 0, columns
    end = at + 2
    for number in range(at + 2, len(parts)):
        known = list(columns.strips)
        if not _goes_on(parts[number], columns, group[number].at, group[number + 1].at):
            columns.strips = known
            break
        if any(len(row) > 1 for row in parts[number]):
            end = number + 1
    return end, columns


def _is_amounts(row: list[Piece]) -> bool:
    """Say whether most of a line behind its name are amounts: no name of a column is one, unless it is a year."""
    found = [piece.text for piece in row[1:]]
    return bool(found) and 2 * sum(_AMOUNT.fullmatch(text) is not None for text in found) > len(found)


def _goes_on(part: list[list[Piece]], columns: _Columns, top: float, bottom: float) -> bool:
    """Say whether the lines between two more rules stand in the same columns, or are one line that heads the next."""
    if not part:
        return False
    if all(len(row) == 1 for row in part):
        first, last = part[0][0], part[-1][0]
        close = first.base - top < _SECTION_EM[0] * first.size and bottom - last.base < _SECTION_EM[1] * last.size
        return close and (all(columns.takes(row) for row in part) or len(part) == 1)
    return all(columns.takes(row) or len(row) == 1 for row in part)


def _parts_row(row: list[Piece], strip: _Strip) -> bool:
    """Say whether a strip lies between two pieces of a row."""
    left, right = _free(row, strip)
    return right - left >= _least(row) and row[0].right <= left and row[-1].left >= right


def _least(row: list[Piece]) -> float:
    return _MIN_EM * min(piece.size for piece in row)


def _strips(rows: list[list[Piece]]) -> list[_Strip]:
    """Return the strips that no line covers."""
    pieces = sorted((piece for row in rows for piece in row), key=lambda piece: piece.left)
    strips: list[_Strip] = []
    right = pieces[0].right
    for piece in pieces[1:]:
        if piece.left - right >= _MIN_EM * piece.size:
            strips.append((right, piece.left))
        right = max(right, piece.right)
    return strips


def _free(row: list[Piece], strip: _Strip) -> _Strip:
    """Return the widest part of a strip that a row leaves free."""
    best, at = (strip[0], strip[0]), strip[0]
    for piece in row:
        if piece.right <= strip[0] or piece.left >= strip[1]:
            continue
        if piece.left - at > best[1] - best[0]:
            best = (at, piece.left)
        at = max(at, piece.right)
    return (at, strip[1]) if strip[1] - at > best[1] - best[0] else best
