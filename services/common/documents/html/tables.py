"""Tables of HTML: cells with their spans on a grid, what names rows and columns, and layout told apart."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.document import Block, BlockKind, Table
from services.common.documents.table_heads import header_rows_of, is_figure
from services.common.documents.wording import collapse

MAX_SPAN: Final = 1_000
"""A cell covers so many columns and rows at most, as in browsers."""
_MAX_POSITIONS: Final = 400_000
"""Of a grid whose positions are many more than its cells; larger ones are read without spans."""
_POSITIONS_PER_CELL: Final = 40
_LONG_CELL: Final = 400
_MANY_BLOCKS: Final = 4
_FEW_ROWS: Final = 2
_PAIR: Final = 2
_SHORT_WORDS: Final = 6
_UNIT: Final = re.compile(r"[\[(][^\[\]()]{1,16}[\])]|%|[\u20ac$\u00a3]|[a-zA-Z\u00b5\u00b0\u03a9/\u00b2\u00b3^]{1,5}")
_BRACKET_UNIT: Final = re.compile(r"[\[(][^\[\]()]{1,16}[\])]")


@dataclass(slots=True)
class Cell:
    """A cell as it stands in the page.

    Attributes:
        blocks: what is in it, nested tables among them.
        head: it is a ``th``.
        scope: of a ``th``: ``row``, ``col`` or empty.
        marked: bold, or on another ground than the cells of the rows below.
        struck: what still holds of the blocks of which a part is struck out, by their place.
        current: what still holds of the text.
    """

    blocks: list[Block]
    head: bool = False
    scope: str = ""
    marked: bool = False
    columns: int = 1
    rows: int = 1
    struck: dict[int, str] = field(default_factory=dict)
    text: str = field(init=False, default="")
    current: str = field(init=False, default="")
    notes: tuple[tuple[int, str], ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        """Join what is in the cell, nested tables apart."""
        texts: list[str] = []
        current: list[str] = []
        notes: list[tuple[int, str]] = []
        size = 0
        for index, block in enumerate(self.blocks):
            text = _flat(block, block.text)
            if not text:
                continue
            notes += [(size + at, mark) for at, mark in block.notes]
            texts.append(text)
            current.append(_flat(block, self.struck.get(index, block.text)))
            size += len(text) + 1
        self.text, self.current, self.notes = " ".join(texts), " ".join(current), tuple(notes)


def _flat(block: Block, text: str) -> str:
    if block.table is not None:
        return ""
    term = f"{block.term} " if block.term else ""
    return collapse(f"{term}{text}")


@dataclass(slots=True)
class TableParts:
    """A table while it is read.

    Attributes:
        rows: of cells, each with whether it stands in ``thead``.
        bordered: the page draws lines, or calls it a table of data.
        presentation: the page says that it is layout.
        unbordered: the page says that it draws no lines.
    """

    rows: list[tuple[list[Cell], bool]] = field(default_factory=list)
    caption: str = ""
    caption_notes: tuple[tuple[int, str], ...] = ()
    bordered: bool = False
    presentation: bool = False
    unbordered: bool = False

    @property
    def cells(self) -> list[Cell]:
        """Return all cells."""
        return [cell for row, _ in self.rows for cell in row]


def is_layout(parts: TableParts) -> bool:
    """Say whether a table only places things: then its cells are read one after the other."""
    cells = parts.cells
    heads = any(cell.head for cell in cells)
    if parts.presentation:
        return not (heads and parts.caption)
    filled = [cell for cell in cells if cell.text or cell.blocks]
    if any(block.kind is BlockKind.HEADING for cell in filled for block in cell.blocks):
        return not heads
    if parts.caption or heads or any(in_head for _, in_head in parts.rows):
        return False
    if all(len(row) == _PAIR and row[0].text.endswith(":") for row, _ in parts.rows):
        return False  # names and values
    return len(filled) <= 1 or _places(parts, filled)


def _places(parts: TableParts, filled: Sequence[Cell]) -> bool:
    """Say whether a table without heads is one of layout by its shape and by what is in its cells."""
    widest = max((len(row) for row, _ in parts.rows), default=0)
    if widest <= 1 or (parts.unbordered and len(parts.rows) <= _FEW_ROWS):
        return True
    if parts.bordered:
        return False
    nested = any(block.table is not None for cell in filled for block in cell.blocks)
    crowded = sum(len(cell.blocks) >= _MANY_BLOCKS or len(cell.text) > _LONG_CELL for cell in filled)
    return nested or len(parts.rows) == 1 or crowded * 3 >= len(filled)


@dataclass(slots=True)
class _Grid:
    texts: list[list[str]]
    origins: list[list[Cell | None]]
    spanned: set[tuple[int, int]]
    doubtful: str = ""


def _place(rows: Sequence[list[Cell]], *, spans: bool) -> _Grid:
    """Put cells on a grid as HTML's algorithm does: each at the first free position of its row."""
    height = len(rows)
    grid: list[list[Cell | None]] = [[] for _ in range(height)]
    spanned: set[tuple[int, int]] = set()
    open_spans: dict[int, tuple[Cell, int]] = {}
    for index, cells in enumerate(rows):
        line: list[Cell | None] = []
        waiting = iter(cells)
        cell = next(waiting, None)
        farthest = max(open_spans, default=-1)
        while cell is not None or len(line) <= farthest:
            column = len(line)
            held = open_spans.get(column)
            if held is not None:
                line.append(held[0])
                spanned.add((index, column))
                _go_on(open_spans, column, held)
                continue
            if cell is None:
                line.append(None)
                continue
            wide = cell.columns if spans else 1
            tall = min(cell.rows or height - index, height - index) if spans else 1
            for offset in range(wide):
                if offset and column + offset in open_spans:
                    break
                line.append(cell)
                if offset:
                    spanned.add((index, column + offset))
                if tall > 1:
                    open_spans[column + offset] = (cell, tall - 1)
            cell = next(waiting, None)
        grid[index] = line
    width = max(map(len, grid), default=0)
    for line in grid:
        line.extend([None] * (width - len(line)))
    texts = [["" if cell is None else cell.text for cell in line] for line in grid]
    return _Grid(texts, grid, spanned)


def _go_on(open_spans: dict[int, tuple[Cell, int]], column: int, held: tuple[Cell, int]) -> None:
    if held[1] > 1:
        open_spans[column] = (held[0], held[1] - 1)
    else:
        del open_spans[column]


def build_table(parts: TableParts) -> Table | None:
    """Return the table; ``None`` when there is nothing in it."""
    rows = [(row, in_head) for row, in_head in parts.rows if row]
    if not any(cell.text for row, _ in rows for cell in row):
        return None
    cells = sum(len(row) for row, _ in rows)
    width = max(sum(cell.columns for cell in row) for row, _ in rows)
    positions = width * len(rows)
    spans = positions <= _MAX_POSITIONS or positions <= _POSITIONS_PER_CELL * cells
    narrow = max(len(row) for row, _ in rows) * len(rows)
    if not spans and narrow > max(_MAX_POSITIONS, _POSITIONS_PER_CELL * cells):
        return None
    grid = _place([row for row, _ in rows], spans=spans)
    doubtful = "" if spans else "spans of cells larger than the table were not followed"
    _drop_empty(grid, rows)
    header_rows = _header_rows(grid, [in_head for _, in_head in rows])
    header_columns = _header_columns(grid, header_rows)
    notes, current = _of_cells(grid)
    notes += [(-1, at, mark) for at, mark in parts.caption_notes]
    return Table(
        tuple(tuple(line) for line in grid.texts),
        header_rows,
        header_columns,
        parts.caption,
        frozenset(grid.spanned),
        (),
        doubtful,
        tuple(notes),
        tuple(current),
    )


def _of_cells(grid: _Grid) -> tuple[list[tuple[int, int, str]], list[tuple[int, int, str]]]:
    notes, current = [], []
    for row, line in enumerate(grid.origins):
        for column, cell in enumerate(line):
            if cell is None or (not cell.notes and (not cell.current or cell.current == cell.text)):
                continue
            notes += [(row, column, mark) for _, mark in cell.notes]
            if cell.current and cell.current != cell.text:
                current.append((row, column, cell.current))
    return notes, current


def _drop_empty(grid: _Grid, rows: list[tuple[list[Cell], bool]]) -> None:
    """Drop rows and outer columns without any text: spacers."""
    kept = [index for index, line in enumerate(grid.texts) if any(line)]
    width = len(grid.texts[0])
    used = [column for column in range(width) if any(line[column] for line in grid.texts)]
    if len(kept) == len(grid.texts) and len(used) == width:
        return
    rows[:] = [rows[index] for index in kept]
    at_row = {index: place for place, index in enumerate(kept)}
    at_column = {column: place for place, column in enumerate(used)}
    grid.texts = [[grid.texts[index][column] for column in used] for index in kept]
    grid.origins = [[grid.origins[index][column] for column in used] for index in kept]
    grid.spanned = {
        (at_row[row], at_column[column]) for row, column in grid.spanned if row in at_row and column in at_column
    }


def _header_rows(grid: _Grid, in_head: list[bool]) -> int:
    height = len(grid.texts)
    count = 0
    while count < height and in_head[count]:
        count += 1
    if count == 0:
        while count < height and _all_heads(grid, count):
            count += 1
        if count == height:
            count = 1 if height > 1 else 0
    if count == 0 and height > 1:
        count = _marked_rows(grid) or _spanning_heads(grid) or _over_figures(grid) or int(_unlike_the_rest(grid))
    if 0 < count < height:
        count = _with_spans(grid, count)
        while count < height - 1 and _is_units(grid.texts[count]):
            count += 1
    return min(count, max(height - 1, 0)) if height > 1 else 0


def _all_heads(grid: _Grid, row: int) -> bool:
    """Say whether a row is made of ``th``, apart from empty cells; ``scope=row`` names the row, not columns."""
    filled = [cell for cell in grid.origins[row] if cell is not None and cell.text]
    distinct = {id(cell) for cell in filled}
    if not filled or not all(cell.head for cell in filled) or (len(distinct) == 1 and len(grid.texts[row]) > 1 and row):
        return False
    first = filled[0].scope in {"row", "rowgroup"} and grid.origins[row][0] is filled[0]
    return not (first and len(distinct) == 1)


def _with_spans(grid: _Grid, count: int) -> int:
    """Return the header rows with those over which a head's cell reaches."""
    reach = count
    for row in range(count):
        for column, cell in enumerate(grid.origins[row]):
            begins = cell is not None and bool(cell.text) and (row, column) not in grid.spanned
            if begins and cell is not None and 1 < cell.rows < len(grid.texts):
                reach = max(reach, row + cell.rows)
    tall = [cell for cell in grid.origins[0] if cell is not None and cell.text]
    wide = any(cell.columns > 1 for cell in tall)
    return reach if reach == count or wide or all(_all_heads(grid, row) for row in range(count, reach)) else count


def _marked_rows(grid: _Grid) -> int:
    """Return how many rows at the top, and hardly any other, are bold or on a ground of their own."""
    count = 0
    for line in grid.origins:
        filled = [cell for cell in line if cell is not None and cell.text]
        if len(filled) < _PAIR or not all(cell.marked for cell in filled):
            break
        count += 1
    later = [cell for line in grid.origins[count:] for cell in line if cell is not None and cell.text]
    return count if sum(cell.marked for cell in later) * 2 < max(len(later), 1) else 0


def _spanning_heads(grid: _Grid) -> int:
    """Return how many rows the first one's cells reach over, when some cover columns and all others cover rows."""
    cells = {id(cell): cell for cell in grid.origins[0] if cell is not None and cell.text}.values()
    tallest = max((cell.rows for cell in cells), default=1)
    over_columns = [cell for cell in cells if cell.columns > 1]
    shaped = bool(over_columns) and all((cell.columns > 1) != (cell.rows == tallest) for cell in cells)
    return tallest if shaped and 1 < tallest < len(grid.texts) else 0


def _over_figures(grid: _Grid) -> int:
    """Return how many rows without figures stand above figures, when the first one's cells cover several columns."""
    first = grid.origins[0]
    wide = [
        column for column, cell in enumerate(first) if column and cell is not None and cell.text and cell.columns > 1
    ]
    count = header_rows_of(grid.texts, frozenset(grid.spanned)) if wide else 0
    if count < _PAIR or (any(map(_one_cell, grid.origins[1:-1])) and _one_cell(first)) or not _has_corner(grid):
        return 0
    names = grid.texts[1]
    small = any(names[column][:1].islower() for column in wide) and names[0][:1].isupper()
    if small or len({names[column] for column in wide if first[column] is first[wide[0]]}) < _PAIR:
        return 0
    body = [line for line, cells in zip(grid.texts[count:], grid.origins[count:], strict=True) if not _one_cell(cells)]
    return count if body and all(_mostly_figures([line[column] for line in body]) for column in wide) else 0


def _has_corner(grid: _Grid) -> bool:
    """Say whether the first two rows name no row: their first column is empty, one cell over both, or a title's."""
    first, second = grid.origins[0], grid.origins[1]
    return _one_cell(first) or first[0] is second[0] or not grid.texts[0][0] or not grid.texts[1][0]


def _mostly_figures(cells: Sequence[str]) -> bool:
    """Say whether more than half of what a column holds are figures."""
    filled = [cell for cell in cells if cell]
    return 2 * sum(map(is_figure, filled)) > len(filled)


def _unlike_the_rest(grid: _Grid) -> bool:
    """Say whether the first row names what stands below: short words over figures.

    Of a name and a value in each row (``Mon``, ``closed``; ``Tue``, ``10 to 17``) the first is a row like the others
    where its value begins small and its name does not.
    """
    first, body = grid.texts[0], grid.texts[1:]
    if len(first) == _PAIR and first[1][:1].islower() and first[0][:1].isupper():
        return False
    if not all(first) or len(set(first)) < len(first) or any(cell.endswith((":", ".")) for cell in first):
        return False
    if any(len(cell.split()) > _SHORT_WORDS for cell in first) or any(_has_digit(cell) for cell in first):
        return False
    columns = [[line[column] for line in body if line[column]] for column in range(len(first))]
    return any(column and all(map(_has_digit, column)) for column in columns)


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _is_units(row: list[str]) -> bool:
    filled = [cell for cell in row if cell]
    return (
        bool(filled)
        and all(_UNIT.fullmatch(cell) for cell in filled)
        and any(_BRACKET_UNIT.fullmatch(cell) for cell in filled)
    )


def _header_columns(grid: _Grid, header_rows: int) -> int:
    body = list(enumerate(grid.texts))[header_rows:]
    width = len(grid.texts[0])
    count = 0
    while count < width - 1 and _is_head_column(grid, body, count):
        count += 1
    if count or not body or width < _PAIR:
        return count
    firsts = [line[0] for _, line in body]
    named = all(first.endswith(":") for first in firsts if first) and any(firsts)
    return 1 if named or (header_rows == 0 and _marked_column(grid)) else 0


def _is_head_column(grid: _Grid, body: list[tuple[int, list[str]]], column: int) -> bool:
    cells = [grid.origins[row][column] for row, _ in body]
    whole = [
        cell for row, cell in zip((row for row, _ in body), cells, strict=True) if not _one_cell(grid.origins[row])
    ]
    filled = [cell for cell in whole if cell is not None and cell.text]
    return bool(filled) and all(cell.head for cell in filled)


def _one_cell(line: Sequence[Cell | None]) -> bool:
    """Say whether one cell covers the whole row."""
    return len(line) > 1 and line[0] is not None and all(cell is line[0] for cell in line)


def _marked_column(grid: _Grid) -> bool:
    firsts = [line[0] for line in grid.origins if line[0] is not None and line[0].text]
    others = [cell for line in grid.origins for cell in line[1:] if cell is not None and cell.text]
    return (
        bool(firsts)
        and all(cell.marked for cell in firsts)
        and sum(cell.marked for cell in others) * 2 < max(len(others), 1)
    )
