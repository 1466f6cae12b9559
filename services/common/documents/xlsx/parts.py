"""The parts of a workbook, by openpyxl: sheets, styles, shared strings, tables, comments, drawings.

Its worksheets would hold every cell as an object and every merged area cell by cell, which a hostile file makes
endless; its parser of one sheet, which streams rows, is used by itself. All that is private to the library is touched
here alone.
"""

import io
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.comments.comment_sheet import CommentSheet
from openpyxl.packaging.relationship import get_dependents, get_rels_path
from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.utils.cell import range_boundaries
from openpyxl.worksheet._reader import WorkSheetParser
from openpyxl.worksheet.table import Table as ListObject
from openpyxl.xml.constants import SHEET_MAIN_NS
from openpyxl.xml.functions import fromstring

from services.common.documents.marks import plain_of
from services.common.documents.office.packages import parse_part
from services.common.documents.office.unseen import TOO_SMALL, WHITE_ON_WHITE, is_unreadable, is_white
from services.common.documents.shifts import lowered, raised
from services.common.documents.wording import collapse
from services.common.documents.xlsx.formats import hides, shown

KIND: Final = "an Excel workbook"
_FORMULA: Final = f"{{{SHEET_MAIN_NS}}}f"
_CUSTOM_FORMATS: Final = 164
_THEME_WHITE: Final = 0
"""The first colour of a theme: what Excel calls white."""
_NORMAL_SIZE: Final = 11.0
_A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_XDR: Final = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"

Area = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 1."""


@dataclass(frozen=True, slots=True)
class Style:
    """What a cell's style says."""

    code: str = "General"
    format_id: int = 0
    bold: bool = False
    size: float = _NORMAL_SIZE
    white: bool = False


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A cell as it is seen; ``why`` says what hides it, if anything does."""

    text: str
    bold: bool = False
    size: float = _NORMAL_SIZE
    why: str = ""


@dataclass(slots=True)
class SheetParts:
    """What a sheet holds besides its cells."""

    merged: list[Area] = field(default_factory=list)
    tables: list[tuple[Area, int]] = field(default_factory=list)
    """Area and rows of heads of each table that was made as one."""
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    comments: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    uncached: int = 0


class _Parser(WorkSheetParser):  # type: ignore[misc]
    """Counts formulas whose value was never stored."""

    uncached = 0

    def parse_cell(self, element: Any) -> Any:
        cell = super().parse_cell(element)
        if cell["value"] is None and element.find(_FORMULA) is not None:
            self.uncached += 1
        return cell


class Workbook:
    """A workbook that was let pass by ``check_package``."""

    def __init__(self, content: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader = ExcelReader(io.BytesIO(content), read_only=True, data_only=True, keep_links=False, rich_text=True)
            # All that its ``read`` does, but for the sheets, which would be read as charts and objects.
            reader.read_manifest()
            reader.read_strings()
            reader.read_workbook()
            reader.read_properties()
            apply_stylesheet(reader.archive, reader.wb)
            self._sheets = [(sheet, relation) for sheet, relation in reader.parser.find_sheets()]
        self._book: Any = reader.wb
        self._strings = reader.shared_strings
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        self._styles: dict[int, Style] = {}
        self.properties = self._book.properties
        names = self._archive.NameToInfo
        custom = "docProps/custom.xml"
        self.custom = self._archive.read(custom) if custom in names else b""

    def sheets(self) -> Iterator[tuple[str, bool, str]]:
        """Yield name, whether it is seen, and part of each sheet, in the order of the tabs; charts are none."""
        for sheet, relation in self._sheets:
            if relation.target in self._archive.NameToInfo and "chartsheet" not in relation.Type:
                yield str(sheet.name), (sheet.state or "visible") == "visible", str(relation.target)

    def read(self, part: str) -> Iterator[tuple[int, int, SheetCell] | SheetParts]:
        """Yield the filled cells of a sheet, and after them its parts."""
        with warnings.catch_warnings(), self._archive.open(part) as source:
            warnings.simplefilter("ignore")
            parser = _Parser(
                source,
                self._strings,
                data_only=True,
                epoch=self._book.epoch,
                date_formats=self._book._date_formats,  # noqa: SLF001
                timedelta_formats=self._book._timedelta_formats,  # noqa: SLF001
                rich_text=True,
            )
            for _, cells in parser.parse():
                for cell in cells:
                    value = cell["value"]
                    if value is not None and value != "":
                        yield cell["row"], cell["column"], self._seen(value, cell["style_id"] or 0)
            yield self._parts(parser, part)

    def _seen(self, value: Any, style_id: int) -> SheetCell:
        style = self._style(style_id)
        told = _rich(value) if isinstance(value, CellRichText) else value
        if not isinstance(told, str | bool | int | float | datetime | date | time | timedelta):
            told = str(told)
        text = collapse(plain_of(shown(told, style.code, style.format_id)))
        if hides(told, style.code):
            return SheetCell(collapse(shown(told, "General")), why="number format that shows nothing")
        why = TOO_SMALL if is_unreadable(style.size) else WHITE_ON_WHITE if style.white else ""
        return SheetCell(text, style.bold, style.size, why)

    def _style(self, style_id: int) -> Style:
        if style_id not in self._styles:
            self._styles[style_id] = self._looked_up(style_id)
        return self._styles[style_id]

    def _looked_up(self, style_id: int) -> Style:
        book = self._book
        if style_id >= len(book._cell_styles):  # noqa: SLF001
            return Style()
        array = book._cell_styles[style_id]  # noqa: SLF001
        number = array.numFmtId
        custom = book._number_formats  # noqa: SLF001
        at = number - _CUSTOM_FORMATS
        code = custom[at] if 0 <= at < len(custom) else BUILTIN_FORMATS.get(number, "General")
        font, fill = book._fonts[array.fontId], book._fills[array.fillId]  # noqa: SLF001
        plain = getattr(fill, "fill_type", None) in {None, "none"}
        size = float(font.sz or _NORMAL_SIZE)
        return Style(code or "General", number, bool(font.b), size, _is_white(font.color) and plain)

    def _parts(self, parser: Any, path: str) -> SheetParts:
        parts = SheetParts(uncached=parser.uncached)
        merged = parser.merged_cells.mergeCell if parser.merged_cells else []
        parts.merged = [(one.min_row, one.min_col, one.max_row, one.max_col) for one in merged]
        for number, row in parser.row_dimensions.items():
            if row.get("hidden") in {"1", "true"} or row.get("ht") == "0":
                parts.hidden_rows.add(int(number))
        for column in parser.column_dimensions.values():
            if column.get("hidden") in {"1", "true"} or column.get("width") == "0":
                parts.hidden_columns.append((int(column["min"]), int(column["max"])))
        parts.running = _running(getattr(parser, "HeaderFooter", None))
        rels = get_rels_path(path)
        if rels in self._archive.namelist():
            for relation in get_dependents(self._archive, rels):
                self._related(parts, str(relation.Type).rpartition("/")[2], str(relation.target))
        return parts

    def _related(self, parts: SheetParts, kind: str, target: str) -> None:
        if target not in self._archive.NameToInfo:
            return
        if kind == "table":
            table = ListObject.from_tree(fromstring(self._archive.read(target)))
            heads = 1 if table.headerRowCount is None else int(table.headerRowCount)
            parts.tables.append((area_of(str(table.ref)), heads))
        elif kind == "comments":
            sheet = CommentSheet.from_tree(fromstring(self._archive.read(target)))
            parts.comments.extend((str(ref), " ".join(str(comment.text).split())) for ref, comment in sheet.comments)
        elif kind == "drawing":
            root = parse_part(self._archive.read(target), KIND)
            for shape in root.iter(f"{_XDR}sp"):
                lines = ["".join(text.text or "" for text in line.iter(f"{_A}t")) for line in shape.iter(f"{_A}p")]
                parts.boxes.append("\n".join(line.strip() for line in lines if line.strip()))


def area_of(reference: str) -> Area:
    """Return the area that ``A5:F15`` names."""
    left, top, right, bottom = (number or 1 for number in range_boundaries(reference))
    return top, left, bottom, right


def _is_white(colour: Any | None) -> bool:
    if colour is None:
        return False
    if colour.type == "theme":
        return bool(colour.theme == _THEME_WHITE and not colour.tint)
    return colour.type == "rgb" and is_white(str(colour.rgb))


def _rich(value: CellRichText) -> str:
    parts: list[str] = []
    for piece in value:
        text = piece.text if isinstance(piece, TextBlock) else str(piece)
        place = piece.font.vertAlign if isinstance(piece, TextBlock) else None
        if place == "superscript":
            text = raised("".join(parts), text)
        elif place == "subscript":
            text = lowered("".join(parts), text)
        parts.append(text)
    return "".join(parts)


def _running(found: Any | None) -> list[str]:
    """Return the heads and feet that are printed on each page of a sheet."""
    if found is None:
        return []
    sides = [getattr(getattr(found, line, None), side, None) for line in _LINES for side in ("left", "center", "right")]
    texts = [" ".join(str(side.text).split()) for side in sides if side is not None and side.text]
    return [text for text in texts if any(character.isalpha() for character in text.replace("&", ""))]


_LINES: Final = ("oddHeader", "evenHeader", "firstHeader", "oddFooter", "evenFooter", "firstFooter")
