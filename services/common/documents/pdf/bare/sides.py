"""Things that stand side by side on the same lines: each is read by itself, not across."""

import itertools
from typing import Final

from services.common.documents.pdf.bare.segments import Row
from services.common.documents.pdf.lines import Piece

_LARGER: Final = 1.1
_LOOKED_AT: Final = 8
_MIN_LINES: Final = 2
_WHITE: Final = 2.2
_BEFORE_EM: Final = 0.7


def find_titled_sides(rows: list[Row]) -> tuple[int, int, tuple[float, ...]] | None:
    """Return first and last line of parts that have titles of their own on one line, and where they are cut."""
    for number, row in enumerate(rows[:-_MIN_LINES]):
        if len(row) < 2 or any(piece.whole is not None for piece in row):  # noqa: PLR2004
            continue
        below = [piece for line in rows[number + 1 : number + 1 + _LOOKED_AT] for piece in line]
        sizes = sorted(piece.size for piece in below)
        if min(piece.size for piece in row) < _LARGER * sizes[len(sizes) // 2]:
            continue
        cuts = tuple(piece.left - _BEFORE_EM * piece.size for piece in row[1:])
        last = _end(rows, number, cuts)
        if last - number >= _MIN_LINES and _both_filled(rows[number + 1 : last + 1], cuts):
            return number, last, cuts
    return None


def _end(rows: list[Row], first: int, cuts: tuple[float, ...]) -> int:
    """Return the last line that no cut touches, up to more white than lies between the lines of one part."""
    last = first
    gaps: list[float] = []
    for number in range(first + 1, len(rows)):
        row = rows[number]
        if any(piece.left < cut < piece.right for piece in row for cut in cuts):
            break
        gap = row[0].base - rows[number - 1][0].base
        size = max(piece.size for piece in row)
        if len(gaps) > 1 and gap > _WHITE * max(sorted(gaps)[len(gaps) // 2], 1.2 * size):
            break
        gaps.append(max(gap, size))
        last = number
    return last


def _both_filled(rows: list[Row], cuts: tuple[float, ...]) -> bool:
    sides = {sum(cut < piece.left for cut in cuts) for row in rows for piece in row}
    return len(sides) == len(cuts) + 1


def split_at(rows: list[Row], cuts: tuple[float, ...]) -> list[list[Piece]]:
    """Return the pieces of each side, in the order of their lines."""
    sides: list[list[Piece]] = [[] for _ in range(len(cuts) + 1)]
    for piece in itertools.chain.from_iterable(rows):
        sides[sum(cut < (piece.left + piece.right) / 2 for cut in cuts)].append(piece)
    return sides
