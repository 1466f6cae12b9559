"""Rows of a table as texts that can be read alone: with the names of their columns, their heads and their group."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.documents.document import Table

_TOTAL: Final = re.compile(
    r"\b(?:sub)?total\b|\bsums?\b|\bsumme\b|\bgesamt|\bsomme\b|\baverage\b|\bmean\b|\bdurchschnitt\b|\bmoyenne\b|\bsaldo\b",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(r"[\[(]")
_CLOSED: Final = (".", "!", "?")
_MAX_GROUP_CHARS: Final = 120
_MAX_NOTE_CHARS: Final = 300
MAX_NAME_NOTE_CHARS: Final = 80
_MIN_GROUP_WIDTH: Final = 3
MAX_COLUMN_CHARS: Final = 500
"""A longer head of a column is not repeated in each of its cells."""
_BARE_ROWS: Final = 2
_PAIR: Final = 2

Note = Callable[[str], str]
"""Returns a footnote's text by its mark; empty where it has none."""


@dataclass(frozen=True, slots=True)
class RowText:
    """A row.

    Attributes:
        row: in the grid, from 0.
        parts: its cells with their names; the first ``heads`` of them name the row.
    """

    row: int
    parts: tuple[str, ...]
    heads: int


def rows_of(table: Table, note: Note) -> Iterator[RowText]:
    """Yield the rows below the heads, each with all that it needs."""
    notes: dict[tuple[int, int], list[str]] = {}
    for at, column, mark in table.notes:
        notes.setdefault((at, column), []).append(mark)
    current = {(at, column): text for at, column, text in table.current}
    titles = [row[0] for row in table.rows[: table.header_rows] if len(row) > 1 and row[0] and len(set(row)) == 1]
    names = _names(table, notes, note, titles)
    group = ", ".join(titles)
    above: dict[int, str] = {}
    runs: list[bool] = []
    bare = _ends_bare(table)
    for index in range(len(table.rows)):
        runs = _runs_on(table, index, runs)
        if index < table.header_rows:
            continue
        row = [current.get((index, column), cell) for column, cell in enumerate(table.rows[index])]
        if not any(row):
            continue
        single = _single(row, runs)
        if single and _is_group(table, index, single) and (all(runs[1:]) or not bare):
            group, above = single, {}
            continue
        for column, told in _told_notes(notes, index, row, note):
            row[column] = f"{row[column]} ({told})"
        if single:
            yield RowText(index, (next(cell for cell in row if cell),), 1)
            continue
        _fill_down(table, row, above)
        parts, heads = _parts(table, row, names, runs)
        yield RowText(index, (group, *parts) if group else parts, heads + bool(group))


def name_of(parts: Sequence[str]) -> str:
    """Return the name of a column from its heads, the uppermost first; a unit follows without a comma."""
    name = ""
    for part in parts:
        text = part.strip().rstrip(":").rstrip()
        if not text or text == name or name.endswith(f", {text}"):
            continue
        name = f"{name} {text}" if name and _UNIT.match(text) else f"{name}, {text}" if name else text
    return name if len(name) <= MAX_COLUMN_CHARS else ""


def _names(
    table: Table, notes: Mapping[tuple[int, int], Sequence[str]], note: Note, titles: Sequence[str]
) -> list[str]:
    """Return the names of the columns; a head across the whole table names none."""
    heads = [[cell if cell not in titles else "" for cell in row] for row in table.rows[: table.header_rows]]
    width = len(table.rows[0]) if table.rows else 0
    names: list[str] = []
    for column in range(width):
        name = name_of([row[column] for row in heads])
        marks = {mark for row in range(len(heads)) for mark in notes.get((row, column), ())}
        told = [text.rstrip(".") for mark in sorted(marks) if (text := note(mark)) and len(text) <= MAX_NAME_NOTE_CHARS]
        names.append(f"{name} ({'; '.join(told)})" if told and name else name)
    return names


def _told_notes(
    notes: Mapping[tuple[int, int], Sequence[str]], index: int, row: Sequence[str], note: Note
) -> Iterator[tuple[int, str]]:
    for column in range(len(row)):
        texts = [text for mark in notes.get((index, column), ()) if (text := note(mark))]
        told = "; ".join(dict.fromkeys(text.rstrip(".") for text in texts if len(text) <= _MAX_NOTE_CHARS))
        if told and row[column]:
            yield column, told


def _single(row: Sequence[str], runs: Sequence[bool]) -> str:
    """Return the text of a row of which one cell says all: it covers the row, or the others are empty."""
    if len(row) == 1:
        return row[0]
    if row[0] and all(runs[1:]):
        return row[0]
    filled = [column for column, cell in enumerate(row) if cell]
    return row[0] if filled == [0] and len(row) >= _MIN_GROUP_WIDTH else ""


def _ends_bare(table: Table) -> bool:
    """Say whether the last rows are names alone: here they are rows whose cells are empty, and head none."""
    last = table.rows[max(table.header_rows, len(table.rows) - _BARE_ROWS) :]
    alone = [len(row) >= _MIN_GROUP_WIDTH and bool(row[0]) and not any(row[1:]) for row in last]
    return len(last) == _BARE_ROWS and all(alone) and not any(row[0].endswith(_CLOSED) for row in last)


def _is_group(table: Table, index: int, text: str) -> bool:
    """Say whether a row names those below it."""
    if len(text) > _MAX_GROUP_CHARS or text.endswith(_CLOSED) or index + 1 >= len(table.rows):
        return False
    below = table.rows[index + 1]
    return len(below) > 1 and any(below[1:]) and bool(below[0]) and len(set(below)) > 1


def _fill_down(table: Table, row: list[str], above: dict[int, str]) -> None:
    """Repeat the head of the row above where it was left blank, as people do; a sum has none."""
    depth = max(table.header_columns, 1)
    total = any(_TOTAL.search(cell) for cell in row if cell)
    for column in range(min(depth, len(row) - 1)):
        if row[column]:
            above[column] = row[column]
            for later in [one for one in above if one > column]:
                del above[later]
        elif not total and column in above and table.header_rows and (column == 0 or not any(row[:column])):
            row[column] = above[column]


def _parts(table: Table, row: Sequence[str], names: Sequence[str], runs: Sequence[bool]) -> tuple[tuple[str, ...], int]:
    parts: list[str] = []
    heads = 0
    column = 0
    while column < len(row):
        cell = row[column]
        end = column + 1
        while cell and end < len(row) and runs[end]:
            end += 1
        if cell:
            sums = column == 0 and 1 < end < len(row)  # "Subtotal" across the columns before the figure
            name = "" if sums else ", ".join(dict.fromkeys(name for name in names[column:end] if name))
            parts.append(f"{name}: {cell}" if name and len(name) <= MAX_COLUMN_CHARS else cell)
            heads += column < max(table.header_columns, 1)
        column = end
    if len(row) == len(parts) == _PAIR and not any(names):
        return (f"{parts[0].rstrip(': ')}: {parts[1]}",), 1
    return tuple(parts), heads


def _runs_on(table: Table, index: int, before: Sequence[bool]) -> list[bool]:
    """Say of each position of a row whether it repeats the cell to its left; ``before`` says it of the row above."""
    row = table.rows[index]
    above = table.rows[index - 1] if index else ()
    result = [False] * len(row)
    for column in range(1, len(row)):
        if (index, column) in table.spanned and row[column] == row[column - 1]:
            result[column] = before[column] if above and above[column] == row[column] else True
    return result
