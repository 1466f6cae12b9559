"""Word tables as grids: merged cells repeated, deleted rows left out, nested tables apart (ISO/IEC 29500-1 §17.4)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from docx.oxml.ns import qn

from services.common.documents.document import Place, Table
from services.common.documents.docx.styles import is_shaded, is_switched_on, value_of
from services.common.documents.docx.text import Line
from services.common.documents.limits import require_at_most
from services.common.documents.numerals import whole
from services.common.documents.table_heads import are_pairs, header_columns_of, header_rows_of

MAX_CELLS: Final = 2_000_000
_MAX_SPAN: Final = 63
"""Columns that a Word table may have."""
_PLAIN_STYLES: Final = frozenset({"", "TableGrid", "TableNormal", "Tabellenraster"})


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell holds: its text, whether it is all bold, the tables inside of it, marks of notes."""

    text: str
    bold: bool
    tables: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Grid:
    """A table while it is read."""

    rows: list[list[str]] = field(default_factory=list)
    spanned: set[tuple[int, int]] = field(default_factory=set)
    strong: list[bool] = field(default_factory=list)
    heads: list[bool] = field(default_factory=list)
    nested: list[Any] = field(default_factory=list)
    notes: list[tuple[int, int, str]] = field(default_factory=list)
    cells: int = 0


def rows_of(table: Any) -> Iterator[Any]:
    """Yield the rows of a table, those inside of content controls and tracked changes as well."""
    yield from _inside(table, qn("w:tr"))


def cells_of(row: Any) -> Iterator[Any]:
    """Yield the cells of a row."""
    yield from _inside(row, qn("w:tc"))


def _inside(parent: Any, tag: str) -> Iterator[Any]:
    wrappers = {qn("w:sdt"), qn("w:sdtContent"), qn("w:customXml"), qn("w:ins")}
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in wrappers:
            yield from _inside(child, tag)


def is_layout(table: Any) -> bool:
    """Say whether a table is a frame around text: it has one cell."""
    rows = list(rows_of(table))
    return len(rows) == 1 and sum(1 for _ in cells_of(rows[0])) == 1


def is_on_colour(table: Any, cell: Any) -> bool:
    """Say whether white text in a cell may stand on a colour: its own, or one of the table's style."""
    if value_of(table.find(qn("w:tblPr")), "w:tblStyle") not in _PLAIN_STYLES:
        return True
    return is_shaded(cell.find(qn("w:tcPr")))


def read_grid(table: Any, read_cell: Callable[[Any, Any], Cell], drop_row: Callable[[Any], None]) -> Grid:
    """Return a table's cells.

    Args:
        table: the element.
        read_cell: returns what a cell of the table holds.
        drop_row: is told rows that a tracked change deleted.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE: too many cells.
    """
    grid = Grid()
    for row in rows_of(table):
        properties = row.find(qn("w:trPr"))
        if properties is not None and properties.find(qn("w:del")) is not None:
            drop_row(row)
            continue
        _read_row(grid, table, row, read_cell)
        require_at_most("cells of a table", grid.cells, MAX_CELLS)
        grid.heads.append(is_switched_on(None if properties is None else properties.find(qn("w:tblHeader"))))
    width = max((len(row) for row in grid.rows), default=0)
    require_at_most("cells of a table", width * len(grid.rows), MAX_CELLS)
    for cells in grid.rows:
        cells.extend([""] * (width - len(cells)))
    return grid


def _read_row(grid: Grid, table: Any, row: Any, read_cell: Callable[[Any, Any], Cell]) -> None:
    index = len(grid.rows)
    cells: list[str] = [""] * _count(row.find(qn("w:trPr")), "w:gridBefore", 0)
    bold = []
    for element in cells_of(row):
        properties = element.find(qn("w:tcPr"))
        span = max(1, _count(properties, "w:gridSpan", 1))
        at = len(cells)
        if _goes_on(properties) and grid.rows and at < len(grid.rows[-1]):
            text = grid.rows[-1][at]
            grid.spanned.update((index, at + offset) for offset in range(span))
        else:
            cell = read_cell(table, element)
            text = cell.text
            grid.nested.extend(cell.tables)
            grid.notes.extend((index, at, mark) for mark in cell.notes)
            grid.spanned.update((index, at + offset) for offset in range(1, span))
            if text:
                bold.append(cell.bold)
        cells.extend([text] * span)
    grid.rows.append(cells)
    grid.cells += len(cells)
    grid.strong.append(bool(bold) and all(bold))


def _count(properties: Any | None, name: str, default: int) -> int:
    return min(whole(value_of(properties, name), default), _MAX_SPAN)


def _goes_on(properties: Any | None) -> bool:
    merge = None if properties is None else properties.find(qn("w:vMerge"))
    return merge is not None and merge.get(qn("w:val"), "continue") != "restart"


def as_table(grid: Grid, place: Place, caption: str) -> Table:
    """Return a grid as a table: heads as Word marks them, else as they look."""
    rows = tuple(tuple(row) for row in grid.rows)
    spanned = frozenset(grid.spanned)
    marked = next((index for index, head in enumerate(grid.heads) if not head), len(grid.heads))
    headers = marked if 0 < marked < len(rows) else header_rows_of(rows, spanned, grid.strong)
    if not marked and are_pairs(rows, grid.strong):
        headers = 0
    places = tuple(Place(path=f"{place.path}, row {number}") for number in range(1, len(rows) + 1))
    return Table(
        rows, headers, header_columns_of(rows, headers, spanned), caption, spanned, places, notes=tuple(grid.notes)
    )


def cell_of(lines: list[tuple[str, Line, list[str]]], tables: tuple[Any, ...]) -> Cell:
    """Return a cell's paragraphs, each with its number, as one text."""
    texts = [" ".join(part for part in (number, line.text) if part) for number, line, _ in lines]
    filled = [line for _, line, _ in lines if line.text]
    bold = bool(filled) and all(line.is_bold for line in filled)
    marks = tuple(mark for _, _, of in lines for mark in of)
    return Cell(" ".join(text for text in texts if text), bold, tables, marks)
