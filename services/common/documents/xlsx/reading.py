"""Excel workbooks (XLSX): the tables of each sheet, with values as a person sees them.

Kept: several tables on a sheet, merged heads, number formats, stored values of formulas, titles and notes around
tables, text boxes, properties. Hidden: hidden sheets, rows and columns, white text, comments. Furniture: printed heads
and feet. Lost: charts, pictures, formulas as such, colours.
"""

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import Final

from openpyxl.utils import get_column_letter

from services.common.document_kinds import MediaType
from services.common.documents.document import Block, BlockKind, Document, HiddenText, Place, Table
from services.common.documents.limits import require_at_most
from services.common.documents.office.boxes import joined_lines
from services.common.documents.office.packages import check_package
from services.common.documents.office.properties import core_properties, custom_properties, own_title
from services.common.documents.office.unseen import WHITE_ON_WHITE
from services.common.documents.refusals import refusing_damage
from services.common.documents.xlsx.parts import KIND, Area, SheetCell, SheetParts, Workbook
from services.common.documents.xlsx.regions import (
    Parts,
    Position,
    Region,
    filled_enough,
    own_cells,
    parts_of,
    regions_of,
)

MAX_CELLS: Final = 2_000_000
MAX_MERGED: Final = 4_096
"""A merged cell of more rows or columns than this covers what the sheet uses and no more."""
_GENERIC: Final = ("sheet", "tabelle", "table", "feuil", "hoja", "foglio", "blad", "ark", "arkusz", "planilha")
_TITLE_CHARS: Final = 80
"""A longer text alone at the top of a sheet says something; it is no title."""
_LARGE_POINTS: Final = 13.0
_MAX_BOX_CHARS: Final = 600


def read_xlsx(content: bytes, max_chars: int) -> Document:
    """Parse an Excel workbook.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: damaged.
        LimitExceededError: MESSAGE_TOO_LARGE: too many cells or characters, or what ``check_package`` refuses.
    """
    check_package(content, KIND)
    with refusing_damage(KIND):
        book = Workbook(content)
        reading = _Reading(max_chars)
        sheets = list(book.sheets())
        alone = sum(seen for _, seen, _ in sheets) == 1
        for name, seen, sheet in sheets:
            reading.read(book, name, sheet, seen=seen, alone=alone)
        properties = {**core_properties(book.properties), **custom_properties(book.custom, KIND)}
    names = {name for name, _, _ in sheets}
    first = reading.blocks if alone else reading.blocks[: reading.first_end]
    headings = (block.text for block in first if block.kind is BlockKind.HEADING and block.text not in names)
    return Document(
        MediaType.XLSX.value,
        own_title(properties) or next(headings, ""),
        tuple(reading.blocks),
        reading.warnings(),
        tuple(reading.hidden),
        tuple(dict.fromkeys(reading.furniture)),
        properties=properties,
    )


@dataclass(slots=True)
class _Sheet:
    """One sheet: its visible cells by row and column without what is hidden."""

    name: str
    parts: SheetParts
    cells: dict[Position, SheetCell] = field(default_factory=dict)
    merged: dict[Position, Position] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)
    """Hidden rows, in order."""
    columns: list[int] = field(default_factory=list)
    """Hidden columns, in order."""

    def compact(self, row: int, column: int) -> Position:
        """Return where a cell stands when what is hidden is left out."""
        return row - bisect_left(self.rows, row), column - bisect_left(self.columns, column)

    def place(self, first: Position, last: Position) -> Place:
        """Return the place of an area, by its cells' names."""
        start, end = self._name(first), self._name(last)
        return Place(path=f"sheet {self.name}, {start if start == end else f'{start}:{end}'}")

    def _name(self, position: Position) -> str:
        row, column = _original(self.rows, position[0]), _original(self.columns, position[1])
        return f"{get_column_letter(column)}{row}"


def _original(hidden: list[int], compact: int) -> int:
    """Return the number of a line from its number without the hidden ones before it."""
    low, high = compact, compact + len(hidden)
    while low < high:
        middle = (low + high) // 2
        if middle - bisect_left(hidden, middle + 1) >= compact:
            high = middle
        else:
            low = middle + 1
    return low


class _Reading:
    """One workbook while it is read."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._chars = 0
        self._cells = 0
        self._uncached = 0
        self._comments = 0
        self.blocks: list[Block] = []
        self.hidden: list[HiddenText] = []
        self.furniture: list[str] = []
        self.first_end = 0
        """How many blocks the first sheet gave that has any."""

    def warnings(self) -> tuple[str, ...]:
        counted = (
            (self._comments, "comment(s) left out"),
            (self._uncached, "formula(s) without a stored value left out: open and save the workbook to store them"),
        )
        return tuple(f"{count} {what}" for count, what in counted if count)

    def read(self, book: Workbook, name: str, part: str, *, seen: bool, alone: bool) -> None:
        cells: dict[Position, SheetCell] = {}
        parts = SheetParts()
        for one in book.read(part):
            if isinstance(one, SheetParts):
                parts = one
                continue
            row, column, cell = one
            cells[row, column] = cell
            self._cells += 1
            self._chars += len(cell.text)
            require_at_most("characters", self._chars, self._max_chars)
            require_at_most("cells", self._cells, MAX_CELLS)
        self._uncached += parts.uncached
        self._comments += len(parts.comments)
        where = Place(path=f"sheet {name}")
        self.hidden.extend(HiddenText(text, f"comment on {ref}", where) for ref, text in parts.comments if text)
        if not seen:
            self._hide_rows(cells, "hidden sheet", where)
            return
        self.furniture.extend(parts.running)
        sheet = self._visible(name, cells, parts)
        start = len(self.blocks)
        self._write(sheet, alone=alone)
        if not alone:
            self.first_end = self.first_end or len(self.blocks)
        first = self.blocks[start] if len(self.blocks) > start else None
        if first is not None and first.kind is BlockKind.HEADING:
            self.blocks[start] = replace(first, is_apart=True)
        for box in parts.boxes:
            lines = box.split("\n")
            texts = [joined_lines(lines)] if len(box) <= _MAX_BOX_CHARS else lines
            self.blocks.extend(Block(BlockKind.PARAGRAPH, text, place=where) for text in texts if text)

    def _hide_rows(self, cells: dict[Position, SheetCell], why: str, where: Place) -> None:
        rows: dict[int, list[str]] = {}
        for (row, _), cell in sorted(cells.items()):
            rows.setdefault(row, []).append(cell.text)
        self.hidden.extend(HiddenText("; ".join(texts), why, where) for texts in rows.values())

    def _visible(self, name: str, cells: dict[Position, SheetCell], parts: SheetParts) -> _Sheet:
        """Return the sheet without what is hidden, which is noted."""
        last = max((column for _, column in cells), default=0)
        columns = {column for first, end in parts.hidden_columns for column in range(first, min(end, last) + 1)}
        sheet = _Sheet(name, parts, rows=sorted(parts.hidden_rows), columns=sorted(columns))
        where = Place(path=f"sheet {name}")
        heads = {top: (left, right) for (top, left, _, right), rows in parts.tables if rows}
        by_row: dict[Position, SheetCell] = {}
        by_column: dict[Position, SheetCell] = {}
        for position, cell in cells.items():
            if position[0] in parts.hidden_rows:
                by_row[position] = cell
            elif position[1] in columns:
                by_column[position[1], position[0]] = cell
            elif cell.why and not (cell.why == WHITE_ON_WHITE and _is_head(position, heads)):
                self.hidden.append(HiddenText(cell.text, cell.why, where))
            else:
                sheet.cells[sheet.compact(*position)] = cell
        self._hide_rows(by_row, "hidden row", where)
        self._hide_rows(by_column, "hidden column", where)
        self._merge(sheet, cells)
        return sheet

    def _merge(self, sheet: _Sheet, cells: dict[Position, SheetCell]) -> None:
        """Note which positions a merged cell covers, within what the sheet uses."""
        bottom = max((row for row, _ in cells), default=0)
        right = max((column for _, column in cells), default=0)
        bottom = max([bottom, *(area[2] for area in sheet.parts.merged if area[2] - area[0] < MAX_MERGED)])
        right = max([right, *(area[3] for area in sheet.parts.merged if area[3] - area[1] < MAX_MERGED)])
        covered = 0
        hidden_rows, hidden_columns = sheet.parts.hidden_rows, set(sheet.columns)
        for top, left, end_row, end_column in sheet.parts.merged:
            if (top, left) not in cells or top in hidden_rows or left in hidden_columns:
                continue
            rows, columns = range(top, min(end_row, bottom) + 1), range(left, min(end_column, right) + 1)
            covered += len(rows) * len(columns)
            require_at_most("merged cells", covered, MAX_CELLS)
            origin = sheet.compact(top, left)
            for row in rows:
                for column in columns:
                    if (row, column) != (top, left) and row not in hidden_rows and column not in hidden_columns:
                        sheet.merged[sheet.compact(row, column)] = origin

    def _write(self, sheet: _Sheet, *, alone: bool) -> None:
        regions = _regions(sheet)
        start = len(self.blocks)
        titled = False
        for region in regions:
            titled = self._region(sheet, region, titled=titled, last=region is regions[-1])
        first = self.blocks[start] if len(self.blocks) > start else None
        plain = sheet.name.lower().rstrip("0123456789 ").startswith(_GENERIC) and len(sheet.name) < 12  # noqa: PLR2004
        if first is not None and first.kind is not BlockKind.HEADING and not (plain and alone):
            self.blocks.insert(start, Block(BlockKind.HEADING, sheet.name, 1, Place(path=f"sheet {sheet.name}")))

    def _region(self, sheet: _Sheet, region: Region, *, titled: bool, last: bool) -> bool:
        """Write what a region consists of; return whether a heading of the whole sheet has come.

        ``last`` says that nothing follows which its first line could be the title of.
        """
        texts = {position: sheet.cells[position].text for position in region.cells if position in sheet.cells}
        origins = {sheet.merged[one] for one in region.cells if one in sheet.merged}
        texts.update((one, sheet.cells[one].text) for one in origins if one in sheet.cells)
        bold = frozenset(one for one in texts if sheet.cells[one].bold)
        parts = parts_of(region, texts, sheet.merged, bold)
        end = len(parts.rows) - parts.notes
        table_rows = range(parts.titles, end) if parts.is_table else range(0)
        for row in range(len(parts.rows)):
            if row in table_rows:
                if row == parts.titles:
                    self._table(sheet, parts)
            else:
                may_title = parts.is_table or (len(parts.rows) == 1 and not last)
                titled = self._loose_row(sheet, parts, row, titled=titled, may_title=may_title)
        return titled

    def _loose_row(self, sheet: _Sheet, parts: Parts, row: int, *, titled: bool, may_title: bool) -> bool:
        columns = own_cells(parts, row)
        if not columns:
            return titled
        first = (parts.first_row + row, parts.first_column + columns[0])
        place = sheet.place(first, (first[0], parts.first_column + columns[-1]))
        cell = sheet.cells.get(first)
        text = " ".join(parts.rows[row][column] for column in columns)
        alone = len(columns) == 1 and cell is not None
        top = not titled and row == 0 and parts.first_row <= 1 and len(text) <= _TITLE_CHARS and may_title
        if alone and cell is not None and (cell.bold or top) and not text.endswith((".", ":")):
            level = 1 if not titled and (cell.size >= _LARGE_POINTS or (row == 0 and parts.first_row == 1)) else 2
            self.blocks.append(Block(BlockKind.HEADING, text, level, place))
            return True
        self.blocks.append(Block(BlockKind.PARAGRAPH, text, place=place))
        return titled

    def _take_caption(self, parts: Parts) -> str:
        """Take the line right above a table back that was written as text, where it is short enough to name it."""
        columns = own_cells(parts, parts.titles - 1) if parts.titles else []
        above = self.blocks[-1] if len(columns) == 1 else None
        if above is None or above.kind is not BlockKind.PARAGRAPH or not _is_caption(above.text):
            return ""
        self.blocks.pop()
        return above.text

    def _table(self, sheet: _Sheet, parts: Parts) -> None:
        rows = parts.rows[parts.titles : len(parts.rows) - parts.notes]
        top, left, width = parts.first_row + parts.titles, parts.first_column, len(rows[0])
        places = tuple(sheet.place((top + row, left), (top + row, left + width - 1)) for row in range(len(rows)))
        whole = sheet.place((top, left), (top + len(rows) - 1, left + width - 1))
        spanned = frozenset((row - parts.titles, column) for row, column in parts.spanned)
        caption = self._take_caption(parts)
        table = Table(tuple(map(tuple, rows)), parts.heads, parts.head_columns, caption, spanned, places)
        self.blocks.append(Block(BlockKind.TABLE, "", place=whole, table=table))


def _is_caption(text: str) -> bool:
    return len(text) <= _TITLE_CHARS and not text.endswith((".", ":", "!", "?"))


def _is_head(position: Position, heads: dict[int, tuple[int, int]]) -> bool:
    """Say whether a cell is a head of a table that was made as one: its style lays a colour behind them."""
    left, right = heads.get(position[0], (1, 0))
    return left <= position[1] <= right


def _regions(sheet: _Sheet) -> list[Region]:
    """Return the regions of a sheet in reading order: tables that were made as such, then what is left."""
    left = dict.fromkeys([*sheet.cells, *sheet.merged])
    found: list[Region] = []
    for area, heads in sheet.parts.tables:
        inside = _inside(sheet, area, left)
        if inside:
            found.append(Region(inside, heads))
            for position in inside:
                del left[position]
    found.extend(regions_of(list(left)))
    bounded = (part for region in found if region.cells for part in filled_enough(region))
    return sorted(bounded, key=lambda region: (region.top, region.left))


def _inside(sheet: _Sheet, area: Area, cells: dict[Position, None]) -> list[Position]:
    top, first = sheet.compact(area[0], area[1])
    bottom, last = sheet.compact(area[2], area[3])
    size = (bottom - top + 1) * (last - first + 1)
    if size > len(cells):
        return [one for one in cells if top <= one[0] <= bottom and first <= one[1] <= last]
    return [
        (row, column) for row in range(top, bottom + 1) for column in range(first, last + 1) if (row, column) in cells
    ]
