"""Where the tables of a sheet stand: regions between blank rows and columns, of titles, tables and notes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.table_heads import header_columns_of, header_rows_of

MAX_CUTS: Final = 6
"""How often a region is cut again, by rows and columns in turn."""
_SPARSE: Final = 20
_SLACK_CELLS: Final = 10_000
"""A grid may have so many times as many positions as cells, and so many more."""
_NOTE_CHARS: Final = 40
_FULL_RATIO: Final = 0.75
_NOTE_STARTS: Final = ("*", "†", "note", "source", "quelle", "hinweis", "anmerkung", "¹", "1)")
Position = tuple[int, int]


@dataclass(slots=True)
class Region:
    """Cells that belong together, by row and column of the sheet without what is hidden."""

    cells: list[Position]
    heads: int | None = None
    """Rows of heads, where the sheet says that this is a table."""

    @property
    def top(self) -> int:
        """Return the first row."""
        return min(row for row, _ in self.cells)

    @property
    def left(self) -> int:
        """Return the first column."""
        return min(column for _, column in self.cells)


@dataclass(slots=True)
class Parts:
    """What a region consists of: rows of its grid, from 0."""

    first_row: int
    first_column: int
    rows: list[list[str]] = field(default_factory=list)
    spanned: frozenset[Position] = frozenset()
    titles: int = 0
    """Rows at the top that stand above the table."""
    notes: int = 0
    """Rows at the bottom that stand below it."""
    is_table: bool = False
    heads: int = 0
    head_columns: int = 0


def regions_of(cells: Sequence[Position]) -> Iterator[Region]:
    """Yield the regions that blank rows and columns leave, from top to bottom and left to right."""
    stack = [(list(cells), 0, 0)]
    while stack:
        some, cuts, still = stack.pop()
        if not some:
            continue
        by_row = cuts % 2 == 0
        parts = _cut(some, 0 if by_row else 1)
        if len(parts) == 1:
            if still or cuts >= MAX_CUTS:
                yield Region(some)
            else:
                stack.append((some, cuts + 1, 1))
            continue
        stack.extend((part, cuts + 1, 0) for part in reversed(parts))


def filled_enough(region: Region) -> Iterator[Region]:
    """Yield a region; one that is nearly empty, as cells along a diagonal, row by row: its grid would be endless."""
    rows: dict[int, list[Position]] = {}
    for position in region.cells:
        rows.setdefault(position[0], []).append(position)
    columns = [column for _, column in region.cells]
    area = (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)
    if area <= _SPARSE * len(region.cells) + _SLACK_CELLS:
        yield region
        return
    for row in sorted(rows):
        yield from (Region(part) for part in _cut(rows[row], 1))


def _cut(cells: list[Position], axis: int) -> list[list[Position]]:
    """Cut cells where a whole row, or column, is blank."""
    present = sorted({cell[axis] for cell in cells})
    number, of = 0, {}
    for index, line in enumerate(present):
        number += index > 0 and line > present[index - 1] + 1
        of[line] = number
    if not number:
        return [cells]
    parts: list[list[Position]] = [[] for _ in range(number + 1)]
    for cell in cells:
        parts[of[cell[axis]]].append(cell)
    return parts


def parts_of(
    region: Region, texts: Mapping[Position, str], merged: Mapping[Position, Position], bold: frozenset[Position]
) -> Parts:
    """Return what a region consists of.

    Args:
        region: cells of it.
        texts: of the sheet's cells.
        merged: positions that a merged cell covers, with where it begins.
        bold: cells in bold type.
    """
    top, left = region.top, region.left
    bottom, right = max(row for row, _ in region.cells), max(column for _, column in region.cells)
    rows = [[""] * (right - left + 1) for _ in range(bottom - top + 1)]
    spanned = set()
    for position in region.cells:
        row, column = position[0] - top, position[1] - left
        origin = merged.get(position, position)
        rows[row][column] = texts.get(origin, "")
        if origin != position:
            spanned.add((row, column))
    parts = Parts(top, left, rows, frozenset(spanned))
    if region.heads is not None:
        parts.is_table, parts.heads = True, min(region.heads, len(rows))
    else:
        _divide(parts, bold)
    if parts.is_table:
        body = rows[parts.titles : len(rows) - parts.notes]
        shifted = frozenset((row - parts.titles, column) for row, column in spanned)
        parts.head_columns = header_columns_of(body, parts.heads, shifted)
    return parts


def own_cells(parts: Parts, row: int) -> list[int]:
    """Return the columns in which cells of a row begin."""
    return [column for column, text in enumerate(parts.rows[row]) if text and (row, column) not in parts.spanned]


def _divide(parts: Parts, bold: frozenset[Position]) -> None:
    rows = parts.rows
    width = len(rows[0])
    if width > 1:
        while parts.titles < len(rows) - 1 and len(own_cells(parts, parts.titles)) <= 1:
            parts.titles += 1
        while parts.notes < len(rows) - parts.titles - 1 and _is_note(parts, len(rows) - 1 - parts.notes):
            parts.notes += 1
    body = rows[parts.titles : len(rows) - parts.notes]
    filled = [own_cells(parts, row) for row in range(parts.titles, len(rows) - parts.notes)]
    strong = [
        bool(columns)
        and all((parts.first_row + parts.titles + row, parts.first_column + column) in bold for column in columns)
        for row, columns in enumerate(filled)
    ]
    if width == 1:
        parts.is_table = len(body) > 2 and strong[0] and not any(strong[1:]) and _is_list(body)  # noqa: PLR2004
        parts.heads = 1 if parts.is_table else 0
        return
    shifted = frozenset((row - parts.titles, column) for row, column in parts.spanned)
    heads = header_rows_of(body, shifted, strong)
    full = sum(map(len, filled)) / (len(body) * width)
    parts.is_table = len(body) > 1 and (heads > 0 or full >= _FULL_RATIO)
    parts.heads = heads if parts.is_table else 0


def _is_note(parts: Parts, row: int) -> bool:
    own = own_cells(parts, row)
    if own not in ([0], []):
        return False
    text = parts.rows[row][0]
    return not own or len(text) > _NOTE_CHARS or text.endswith(".") or text.lower().startswith(_NOTE_STARTS)


def _is_list(body: Sequence[Sequence[str]]) -> bool:
    return all(len(row[0]) <= _NOTE_CHARS and not row[0].endswith(".") for row in body)
