"""Tables drawn with characters in plain text: frames of ``+--+``, bars, rules of dashes, columns of blanks.

A row whose first cell is empty goes on with the row above it. Footnote marks after a cell become notes. Columns of
blanks are a table only when three lines or more agree on them: two lines that happen to have a gap in one place do not.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.documents.document import Table, place_of_lines
from services.common.documents.table_heads import are_pairs, header_rows_of

_FRAME: Final = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_BAR_ROW: Final = re.compile(r"\s*\|.*\|\s*")
_BAR_RULE: Final = re.compile(r"\s*\|?(?:\s?:?-{2,}:?\s?[|+])+(?:\s?:?-{2,}:?\s?)?\s*")
_COLUMN_RULE: Final = re.compile(r"\s*[-=]{2,}(?:\s+[-=]{2,})+\s*")
_DASHES: Final = re.compile(r"[-=]+")
_GAP: Final = re.compile(r"\S(?:\s{2,}|\t+)(?=\S)")
_CELL: Final = re.compile(r"\S+(?:\s\S+)*")
_MARK: Final = re.compile(r"(?<=\S)\s?(\*{1,3}|[†‡]+)\Z")
_MIN_ROWS: Final = 3
_SPARSE: Final = 4
_SLACK_CELLS: Final = 100
"""A grid may have so many times as many positions as its lines have cells, and so many more."""
_MIN_COLUMNS: Final = 2


def table_in(lines: Sequence[str], first_line: int) -> tuple[Table | None, int]:
    """Return the table that consecutive lines are, and how many of them it takes from the first.

    Args:
        lines: of one paragraph.
        first_line: number of the first of them in the document.
    """
    for read in (_framed, _barred, _ruled, _spaced):
        rows, numbers, heads, used = read(lines)
        if len(rows) > 1 and max(map(len, rows)) >= _MIN_COLUMNS:
            width = max(map(len, rows))
            if width * len(rows) > _SPARSE * sum(map(len, rows)) + _SLACK_CELLS:
                continue
            found = [(i, j, _MARK.search(cell)) for i, row in enumerate(rows) for j, cell in enumerate(row)]
            notes = tuple((i, j, match[1]) for i, j, match in found if match)
            grid = tuple((*(_MARK.sub("", cell) for cell in row), *[""] * (width - len(row))) for row in rows)
            if heads is None:
                heads = 0 if are_pairs(grid) else header_rows_of(grid)
            places = tuple(place_of_lines(first_line + start, first_line + end) for start, end in numbers)
            return Table(grid, heads, places=places, notes=notes), used
    return None, 0


_Read = tuple[list[list[str]], list[tuple[int, int]], int | None, int]
_NOTHING: Final[_Read] = ([], [], None, 0)


def _framed(lines: Sequence[str]) -> _Read:
    """Read a frame of ``+---+`` with bars; a rule of ``=`` ends the heads, other rules inside part rows."""
    if not lines or not _FRAME.fullmatch(lines[0]):
        return _NOTHING
    rows: list[list[str]] = []
    numbers: list[tuple[int, int]] = []
    heads: int | None = None
    rules = sum(bool(_FRAME.fullmatch(line)) for line in lines)
    parted = rules > _MIN_ROWS
    fresh = True
    used = 0
    for index, line in enumerate(lines):
        if _FRAME.fullmatch(line):
            if "=" in line and rows:
                heads = len(rows)
            fresh = True
        elif _BAR_ROW.fullmatch(line):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            _add(rows, numbers, cells, index, goes_on=not fresh and (parted or not cells[0]))
            fresh = False
        else:
            break
        used = index + 1
    if heads is None and rules == _MIN_ROWS:
        heads = sum(1 for start, _ in numbers if start < _second_rule(lines))
    return rows, numbers, heads, used


def _second_rule(lines: Sequence[str]) -> int:
    found = [index for index, line in enumerate(lines) if _FRAME.fullmatch(line)]
    return found[1] if len(found) > 1 else 0


def _barred(lines: Sequence[str]) -> _Read:
    """Read rows between bars, of which the second line is a rule, as in Markdown."""
    if len(lines) < _MIN_ROWS or not _BAR_RULE.fullmatch(lines[1]) or "|" not in lines[0]:
        return _NOTHING
    rows: list[list[str]] = []
    numbers: list[tuple[int, int]] = []
    used = 0
    for index, line in enumerate(lines):
        if index != 1:
            if "|" not in line:
                break
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            _add(rows, numbers, cells, index, goes_on=False)
        used = index + 1
    return rows, numbers, 1, used


def _ruled(lines: Sequence[str]) -> _Read:
    """Read columns that a rule of dashes under the heads marks; heads may take two lines."""
    at = next((index for index, line in enumerate(lines[:4]) if _COLUMN_RULE.fullmatch(line)), -1)
    if at < 0:
        return _NOTHING
    columns = [(match.start(), match.end()) for match in _DASHES.finditer(lines[at])]
    top = at == 0
    rows: list[list[str]] = []
    numbers: list[tuple[int, int]] = []
    heads = 0
    used = 0
    for index, line in enumerate(lines):
        if _COLUMN_RULE.fullmatch(line):
            if index == at or (top and not heads):
                heads = len(rows)
            elif top and index == len(lines) - 1:
                used = index + 1
                break
            used = index + 1
            continue
        cells = _sliced(line, columns)
        goes_on = (index > at or bool(rows)) and bool(rows) and (not cells[0] or index < at)
        _add(rows, numbers, cells, index, goes_on=goes_on and not (index > at and len(rows) == heads))
        used = index + 1
    return rows, numbers, heads or (1 if not top else 0), used


def _sliced(line: str, columns: Sequence[tuple[int, int]]) -> list[str]:
    """Cut a line at the columns; words that reach over an edge stay whole with the column in which they begin."""
    cells = [""] * len(columns)
    for match in re.finditer(r"\S+", line):
        column = max((index for index, (start, _) in enumerate(columns) if match.start() >= start), default=0)
        if column + 1 < len(columns) and match.end() > columns[column + 1][0]:
            column += match.start() > columns[column][1]
        cells[column] = f"{cells[column]} {match.group()}".strip()
    return cells


def _spaced(lines: Sequence[str]) -> _Read:
    """Read columns that nothing but blanks parts, where all lines have gaps at common places."""
    filled = [line.expandtabs(8).rstrip() for line in lines]
    if len(filled) < _MIN_ROWS or sum(bool(_GAP.search(line.strip())) for line in filled) < len(filled) * 0.8:
        return _NOTHING
    gaps = _common_gaps(filled)
    if not gaps:
        return _NOTHING
    rows: list[list[str]] = []
    numbers: list[tuple[int, int]] = []
    starts = [0, *gaps]
    for index, line in enumerate(filled):
        cells = [line[start : end or None].strip() for start, end in zip(starts, [*gaps, 0], strict=True)]
        _add(rows, numbers, cells, index, goes_on=bool(rows) and not cells[0] and len(rows) > 1)
    if any(sum(map(bool, row)) < _MIN_COLUMNS for row in rows):
        return _NOTHING
    return rows, numbers, None, len(lines)


def _common_gaps(lines: Sequence[str]) -> list[int]:
    """Return where columns begin: after two or more positions that are blank in every line."""
    width = max(map(len, lines))
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    inked = bytearray(width)
    for line in lines:
        for match in _CELL.finditer(line):
            inked[match.start() : match.end()] = b"\x01" * (match.end() - match.start())
    gaps = []
    blank = 0
    for position in range(indent, width):
        if inked[position]:
            if blank > 1 and position > indent:
                gaps.append(position)
            blank = 0
        else:
            blank += 1
    return gaps


def _add(rows: list[list[str]], numbers: list[tuple[int, int]], cells: list[str], index: int, *, goes_on: bool) -> None:
    """Add a row, or what goes on in the row above it."""
    if goes_on and rows and len(rows[-1]) == len(cells):
        rows[-1] = [" ".join(part for part in pair if part) for pair in zip(rows[-1], cells, strict=True)]
        numbers[-1] = (numbers[-1][0], index)
    else:
        rows.append(cells)
        numbers.append((index, index))
