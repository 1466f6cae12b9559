"""Tables that stand in a source as text: separated values (RFC 4180) and rows between bars (Director-AI page, D1).

A cell alone says nothing: a row is read with the names of its columns, by the rules that documents' tables are read by
(``services.common.documents.facts.rows``). What is no table for sure stays prose: every line must have the same number
of cells, at least two, the first line must name the columns, and no cell may be longer than a few sentences. Linear in
the text.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from services.common.documents.document import Table
from services.common.documents.facts.rows import rows_of
from services.common.documents.table_heads import header_columns_of, header_rows_of, is_figure
from services.common.reading.text_types import Span

_DELIMITERS: Final = ("\t", ";", ",")
_BAR: Final = "|"
_BAR_RULE: Final = re.compile(r"[\s|:+=-]*")
_MIN_LINES: Final = 2
_MIN_SEPARATED_LINES: Final = 3
"""Two lines with a comma each are more often prose than a table."""
_MAX_CELL_CHARS: Final = 400
_PROSE_ENDS: Final = (".", "!", "?")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text, without its end."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row below the heads: where it stands, and how it reads with the names of its columns."""

    span: Span
    text: str


def lines_of(text: str) -> list[Line]:
    """Return the lines of a text, in order."""
    found: list[Line] = []
    at = 0
    for piece in text.splitlines(keepends=True):
        found.append(Line(piece.rstrip("\r\n"), at))
        at += len(piece)
    return found


def tables_in(text: str) -> list[tuple[Span, tuple[TableRow, ...]]]:
    """Return the tables of a text: where each stands, heads included, and its rows."""
    found: list[tuple[Span, tuple[TableRow, ...]]] = []
    for filled, group in groupby(lines_of(text), key=lambda line: bool(line.text.strip())):
        lines = list(group) if filled else []
        for table in _tables(lines):
            rows = _rows(table)
            if rows:
                found.append((Span(table[0][0].start, table[-1][0].end), rows))
    return found


_Cells = list[tuple[Line, list[str]]]


def _tables(lines: Sequence[Line]) -> Iterator[_Cells]:
    """Yield the tables among lines without a blank one between them."""
    separated = _separated(lines)
    if separated:
        yield separated
        return
    for barred, group in groupby(lines, key=lambda line: line.text.lstrip().startswith(_BAR)):
        if barred:
            cells = [(line, _barred(line.text)) for line in group if not _BAR_RULE.fullmatch(line.text)]
            if len(cells) >= _MIN_LINES and len({len(row) for _, row in cells}) == 1:
                yield cells


def _separated(lines: Sequence[Line]) -> _Cells:
    """Return lines of separated values with their cells; empty where they are none."""
    if len(lines) < _MIN_SEPARATED_LINES or any(line.text.rstrip().endswith(_PROSE_ENDS) for line in lines[:2]):
        return []
    for delimiter in _DELIMITERS:
        if delimiter not in lines[0].text:
            continue
        cells = [(line, _cells(line.text, delimiter)) for line in lines]
        widths = {len(row) for _, row in cells}
        longest = max((len(cell) for _, row in cells for cell in row), default=0)
        prose = all(delimiter + " " in line.text for line in lines) and not _counts([row for _, row in cells])
        if len(widths) == 1 and min(widths) > 1 and longest <= _MAX_CELL_CHARS and not prose:
            return cells
    return []


def _counts(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether some column below the first row holds figures: lines of prose have commas, and no such column."""
    columns = zip(*rows[1:], strict=False)
    return any(sum(map(is_figure, column)) > len(column) / 2 for column in columns)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=delimiter != "\t", strict=True), [])
    except csv.Error:
        return []
    return [" ".join(cell.split()) for cell in row]


def _barred(line: str) -> list[str]:
    return [" ".join(cell.split()) for cell in line.strip().strip(_BAR).split(_BAR)]


def _rows(table: _Cells) -> tuple[TableRow, ...]:
    grid = tuple(tuple(row) for _, row in table)
    heads = header_rows_of(grid)
    if not heads:
        return ()
    read = rows_of(Table(grid, heads, header_columns_of(grid, heads)), lambda _: "")
    places = [Span(line.start, line.end) for line, _ in table]
    return tuple(TableRow(places[row.row], "; ".join(row.parts)) for row in read)
