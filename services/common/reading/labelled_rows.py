"""Rows of a table as facts have them: "Plans: Plan: Studio; Price per month: £79; Batch size: 100" (ADR 0094, 0110).

Each cell stands behind the head of its column; what stands over the table comes before the first head. Linear in the
text.
"""

import re
from dataclasses import dataclass
from typing import Final

_CELL: Final = re.compile(r"(?P<head>[^:;|\n]{1,60}):\s(?P<said>[^;|\n]{1,120})")
_SEPARATOR: Final = re.compile(r"[;|]")
_MIN_CELLS: Final = 2


@dataclass(frozen=True, slots=True)
class LabelledCell:
    """A cell of a row: ``text[start:end]``, behind the head of its column.

    Attributes:
        column: its place in the row, from 0.
        heads: of all columns, case folded; equal for rows of one table.
        row: what each cell says; the first names the row.
    """

    column: int
    heads: tuple[str, ...]
    row: tuple[str, ...]
    start: int
    end: int

    @property
    def head(self) -> str:
        """The head of its column."""
        return self.heads[self.column]

    @property
    def label(self) -> str:
        """What names its row."""
        return self.row[0]


def labelled_row(line: str, offset: int = 0) -> tuple[LabelledCell, ...]:
    """Return the cells of a row, with offsets from ``offset`` on; none for a line that is no row."""
    if not _SEPARATOR.search(line):
        return ()
    found: list[tuple[str, int, int]] = []
    for match in _CELL.finditer(line):
        # What stands over the table comes before the head of its first cell: "Storage: Category: Controlled drugs".
        over, _, last = match["said"].rpartition(": ")
        head = over.rpartition(": ")[2] if over and not found else match["head"]
        said = last if over and not found else match["said"]
        start = match.end("said") - len(said)
        end = start + len(said.rstrip(" ."))
        if start < end:
            found.append((head.strip().casefold(), start, end))
    if len(found) < _MIN_CELLS:
        return ()
    heads, row = tuple(head for head, _, _ in found), tuple(line[start:end] for _, start, end in found)
    return tuple(
        LabelledCell(column, heads, row, start + offset, end + offset) for column, (_, start, end) in enumerate(found)
    )
