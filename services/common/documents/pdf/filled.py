"""Rules where filled cells meet: rows of boxes side by side are rows of a table, drawn without lines.

Programs that set tables often fill each cell of the head, and of every second row, and draw no rule around them. Boxes
of one height that touch are such a row; rows with the same columns are one table, with what stands between two of them.
Only where a ground of its own marks the head is it known where a table begins: what is merely striped is read by where
its words stand. Linear in the boxes, but for their sorting.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.documents.document import Box

_SAME: Final = 1.5
"""Edges so near to each other, in points, are one."""
_NEAR_BY: Final = (0, -1, 1, -2, 2)
"""Whole points in which a line may end beside an edge."""
_LEAST_WIDTH: Final = 8.0
_LEAST_HEIGHT: Final = 6.0
_MOST_HEIGHT: Final = 140.0
_MOST_BETWEEN: Final = 2.4
"""A row without a ground of its own is at most so many times as high as those with one."""
_NEXT: Final = 0.65
"""Words whose middle lies so many heights of a row below the last ground are a row without one."""
_BESIDE: Final = 12
"""So many tables beside each other are followed down the page."""
_MOST_BOXES: Final = 4_000
Colour = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Row:
    """Boxes side by side: their upright edges from the left, and both level ones."""

    edges: tuple[float, ...]
    top: float
    bottom: float
    colour: Colour

    def has_columns_of(self, other: "_Row") -> bool:
        """Both have the same upright edges."""
        return len(self.edges) == len(other.edges) and all(
            abs(one - two) <= _SAME for one, two in zip(self.edges, other.edges, strict=True)
        )


def rules_of_fills(
    fills: Sequence[tuple[Box, Colour]], rules: Sequence[Box], words: Sequence[tuple[float, float]]
) -> list[Box]:
    """Return rules around the cells of filled rows: of a head and its stripes, or of one on a table with lines.

    Args:
        fills: filled areas with their colours, in the frame in which the page is read; y grows downwards.
        rules: level and upright lines, the same way.
        words: the middles of the page's words.
    """
    found: list[Box] = []
    ends, middles = _Ends.of(rules), sorted((y, x) for x, y in words)
    for table in _tables(_rows(fills[:_MOST_BOXES])):
        first, last = table[0], table[-1]
        is_headed = len(table) > 1 and first.colour not in {row.colour for row in table[1:]}
        if is_headed or ends.go_on_at(first):
            levels = [level for row in table for level in (row.top, row.bottom)]
            if is_headed and _is_followed(last, middles):
                levels.append(last.bottom + last.bottom - last.top)
            edges = first.edges
            found += [(edges[0], level, edges[-1], level) for level in levels]
            found += [(edge, levels[0], edge, levels[-1]) for edge in edges]
    return found


def _is_followed(row: _Row, middles: Sequence[tuple[float, float]]) -> bool:
    """Say whether words stand where a row without a ground would; middles of words by their height, y before x."""
    first = bisect_right(middles, (row.bottom, math.inf))
    last = bisect_right(middles, (row.bottom + _NEXT * (row.bottom - row.top), math.inf))
    return any(row.edges[0] <= x <= row.edges[-1] for _, x in middles[first:last])


def _rows(fills: Sequence[tuple[Box, Colour]]) -> list[_Row]:
    """Return the rows of two and more boxes of one colour that touch, from the top."""
    cells = [
        (box, colour)
        for box, colour in fills
        if box[2] - box[0] >= _LEAST_WIDTH and _LEAST_HEIGHT <= box[3] - box[1] <= _MOST_HEIGHT
    ]
    levels: dict[tuple[int, int, Colour], list[Box]] = {}
    for box, colour in sorted(cells):
        levels.setdefault((round(box[1]), round(box[3]), colour), []).append(box)
    found = []
    for (_, _, colour), boxes in levels.items():
        run: list[Box] = []
        for box in boxes:
            if run and abs(box[0] - run[-1][2]) > _SAME:
                found += _row(run, colour)
                run = []
            run.append(box)
        found += _row(run, colour)
    return sorted(found, key=lambda row: (row.top, row.edges[0]))


def _row(boxes: Sequence[Box], colour: Colour) -> list[_Row]:
    if len(boxes) < 2:  # noqa: PLR2004
        return []
    return [_Row((boxes[0][0], *(box[2] for box in boxes)), boxes[0][1], boxes[0][3], colour)]


def _tables(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Return rows with the same columns that follow each other, with at most one row without a ground between two."""
    tables: list[list[_Row]] = []
    for row in rows:
        for table in reversed(tables[-_BESIDE:]):
            last = table[-1]
            most = _MOST_BETWEEN * (last.bottom - last.top)
            if row.has_columns_of(last) and -_SAME <= row.top - last.bottom <= most:
                table.append(row)
                break
        else:
            tables.append([row])
    return tables


@dataclass(frozen=True, slots=True)
class _Ends:
    """Where upright lines begin and end, in whole points."""

    tops: frozenset[tuple[int, int]]
    bottoms: frozenset[tuple[int, int]]

    @classmethod
    def of(cls, rules: Sequence[Box]) -> "_Ends":
        """Look up the ends."""
        upright = [box for box in rules if box[3] - box[1] > box[2] - box[0]]
        tops, bottoms = (
            frozenset((round((box[0] + box[2]) / 2), round(box[end])) for box in upright) for end in (1, 3)
        )
        return cls(tops, bottoms)

    def go_on_at(self, row: _Row) -> bool:
        """Say whether upright lines go on below all of a row's edges, or above them."""
        return all(_is_near(self.tops, edge, row.bottom) for edge in row.edges) or all(
            _is_near(self.bottoms, edge, row.top) for edge in row.edges
        )


def _is_near(places: frozenset[tuple[int, int]], x: float, y: float) -> bool:
    return any((round(x) + right, round(y) + down) in places for right in _NEAR_BY for down in _NEAR_BY)
