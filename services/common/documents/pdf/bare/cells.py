"""The cells of a segment: which column each piece of its lines stands in, and of which kind the columns are."""

from dataclasses import dataclass, field
from typing import Final

from services.common.documents.pdf.bare.segments import Row, Segment, Strip
from services.common.documents.pdf.heads import is_value
from services.common.documents.pdf.lines import Piece, piece_of
from services.common.documents.pdf.words import Word

_VALUES: Final = 0.6
_CLOSE_EM: Final = 0.3


@dataclass(slots=True)
class Line:
    """A line of a table: its pieces by column.

    Attributes:
        cells: by the first column that each covers.
        spans: of the pieces that cover several columns: first and last.
    """

    base: float
    size: float
    cells: dict[int, list[Piece]] = field(default_factory=dict)
    spans: dict[int, int] = field(default_factory=dict)
    bold: bool = False

    @property
    def pieces(self) -> list[Piece]:
        """From left to right."""
        return [piece for column in sorted(self.cells) for piece in self.cells[column]]

    def text(self, column: int) -> str:
        """Return what stands in a column."""
        return " ".join(piece.text for piece in self.cells.get(column, ()))


def lines_of(rows: list[Row], segment: Segment) -> list[Line]:
    """Return the lines of a segment by its columns."""
    strips = segment.kept()
    return [_line(rows[number], strips) for number in range(segment.first, segment.last + 1)]


def _line(row: Row, strips: list[Strip]) -> Line:
    bold = all(piece.bold for piece in row)
    line = Line(row[0].base, max(piece.size for piece in row), bold=bold)
    pieces = [part for piece in row for part in _divided(piece, strips)]
    firsts = [_first(piece, strips) for piece in pieces]
    for number, piece in enumerate(pieces):
        first = firsts[number]
        last = max(first, sum(strip.right < piece.right - 0.5 for strip in strips))
        if number + 1 < len(pieces):
            last = min(last, max(firsts[number + 1] - 1, first))
        line.cells.setdefault(first, []).append(piece)
        if last > first:
            line.spans[first] = last
    return line


def _first(piece: Piece, strips: list[Strip]) -> int:
    """Return the first column that a piece reaches; what stands within a strip belongs to the nearer side."""
    first = sum(strip.left - 0.5 <= piece.left for strip in strips)
    if first and piece.right <= strips[first - 1].right:
        strip = strips[first - 1]
        return first - (piece.left - strip.left < strip.right - piece.right)
    return first


def _divided(piece: Piece, strips: list[Strip]) -> list[Piece]:
    """Cut a piece of values alone where strips pass between its words."""
    inside = [strip.middle for strip in strips if piece.left < strip.middle < piece.right]
    if not inside or len(piece.words) < 2 or not all(is_value(word.text) for word in piece.words):  # noqa: PLR2004
        return [piece]
    parts: dict[int, list[Word]] = {}
    for word in piece.words:
        parts.setdefault(sum(middle < (word.left + word.right) / 2 for middle in inside), []).append(word)
    return [piece_of(parts[number]) for number in sorted(parts)]


def divide_values(row: Row) -> Row:
    """Return a line whose pieces of several values that stand apart are one piece each."""
    if not any(len(piece.words) > 1 for piece in row):
        return row
    result: Row = []
    for piece in row:
        if len(piece.words) < 2 or piece.fixed or not all(is_value(word.text) for word in piece.words):  # noqa: PLR2004
            result.append(piece)
            continue
        part: list[Word] = []
        for word in piece.words:
            if part and word.left - part[-1].right > _CLOSE_EM * piece.size and not word.shift:
                result.append(piece_of(part))
                part = []
            part.append(word)
        result.append(piece_of(part))
    return result


def value_columns(lines: list[Line], count: int) -> set[int]:
    """Return the columns most of whose cells hold values."""
    filled = [0] * count
    values = [0] * count
    for line in lines:
        for column in line.cells:
            if column not in line.spans and column < count:
                filled[column] += 1
                values[column] += is_value(line.text(column))
    return {column for column in range(count) if filled[column] and values[column] >= _VALUES * filled[column]}
