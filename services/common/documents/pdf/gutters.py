"""Upright strips of white between pieces of lines: what separates columns of text and columns of tables.

One pass over the lines from the top: a gap between two pieces of a line begins a strip, each further line narrows it
or ends it. A line that lies wholly on one side leaves it as it is.
"""

from dataclasses import dataclass
from typing import Final

from services.common.documents.pdf.lines import Piece

_OVERLAP: Final = 0.25
_MAX_OPEN: Final = 80
_MIN_EM: Final = 0.5


@dataclass(slots=True, eq=False)
class Gutter:
    """A strip.

    Attributes:
        left: of the strip.
        right: of the strip.
        first: number of the first line with text on both sides.
        last: number of the last such line.
        rows: how many there are.
    """

    left: float
    right: float
    first: int
    last: int
    rows: int = 1

    @property
    def middle(self) -> float:
        """Where it is cut."""
        return (self.left + self.right) / 2


def rows_of_pieces(pieces: list[Piece]) -> list[list[Piece]]:
    """Return pieces by line, from the top, each from left to right; ``pieces`` are sorted by line already."""
    rows: list[list[Piece]] = []
    for piece in pieces:
        if rows and abs(piece.base - rows[-1][0].base) <= 0.3 * max(min(piece.size, rows[-1][0].size), 1.0):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    for row in rows:
        row.sort(key=lambda piece: piece.left)
    return rows


def find_gutters(rows: list[list[Piece]]) -> list[Gutter]:
    """Return all strips with text on both sides, in no order."""
    found: list[Gutter] = []
    still: list[Gutter] = []
    for number, row in enumerate(rows):
        beside = rows[number + 1] if number + 1 < len(rows) and _overlap(row, rows[number + 1]) else []
        still = _narrowed(still, row, beside, number, found)
        _open_new(still, row, beside, number)
        if len(still) > _MAX_OPEN:
            still.sort(key=lambda gutter: (gutter.first, -gutter.rows))
            found.extend(still[_MAX_OPEN:])
            del still[_MAX_OPEN:]
    found.extend(still)
    return [gutter for gutter in found if gutter.rows > 1 or gutter.first == gutter.last]


def _overlap(row: list[Piece], after: list[Piece]) -> bool:
    """Say whether two lines lie beside each other rather than below: columns whose lines are out of step."""
    top, bottom = row[0].base - 0.75 * row[0].size, row[0].base + 0.2 * row[0].size
    other_top, other_bottom = after[0].base - 0.75 * after[0].size, after[0].base + 0.2 * after[0].size
    shared = min(bottom, other_bottom) - max(top, other_top)
    return shared > _OVERLAP * max(min(bottom - top, other_bottom - other_top), 0.1)


def _narrowed(
    still: list[Gutter], row: list[Piece], beside: list[Piece], number: int, found: list[Gutter]
) -> list[Gutter]:
    kept: list[Gutter] = []
    known: set[tuple[float, float]] = set()
    size = max(piece.size for piece in row)
    leftmost = min(row[0].left, beside[0].left) if beside else row[0].left
    rightmost = max(row[-1].right, beside[-1].right) if beside else row[-1].right
    for gutter in sorted(still, key=lambda gutter: (gutter.first, -gutter.rows)):
        left, right = _free(row, gutter.left, gutter.right)
        if right - left < _MIN_EM * min(size, 14.0):
            found.append(gutter)
            continue
        both = leftmost < left and rightmost > right and _free(beside, left, right) == (left, right)
        if both and (left, right) != (gutter.left, gutter.right):
            # The strip goes on narrower; the wider one ended here.
            found.append(Gutter(gutter.left, gutter.right, gutter.first, gutter.last, gutter.rows))
        gutter.left, gutter.right = left, right
        if (left, right) in known:
            continue
        known.add((left, right))
        if both:
            gutter.rows += 1
            gutter.last = number + bool(beside)
        kept.append(gutter)
    return kept


def _free(row: list[Piece], left: float, right: float) -> tuple[float, float]:
    """Return the widest part of an interval that a line leaves free."""
    best = (left, left)
    at = left
    for piece in row:
        if piece.right <= left:
            continue
        if piece.left >= right:
            break
        if piece.left - at > best[1] - best[0]:
            best = (at, piece.left)
        at = max(at, piece.right)
    if right - at > best[1] - best[0]:
        best = (at, right)
    return best


def _open_new(still: list[Gutter], row: list[Piece], beside: list[Piece], number: int) -> None:
    known = {(gutter.left, gutter.right) for gutter in still}
    both = sorted([*row, *beside], key=lambda piece: piece.left) if beside else row
    at = both[0].right
    for piece in both[1:]:
        if piece.left - at >= _MIN_EM * min(piece.size, 14.0) and (at, piece.left) not in known:
            still.append(Gutter(at, piece.left, number, number + bool(beside)))
        at = max(at, piece.right)
