"""Columns of tables in which few cells are of another make than all others: often a shifted row (ADR 0113).

Seen in the facts that the rows became, ``Plan: Basic; Fee: 10 EUR``, by the names of the columns. Linear.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from services.common.documents.document import DoubtfulTable
from services.common.documents.facts.draft import FactDraft, FactKind
from services.common.reading.values import MONEY_CODES

_MIN_CELLS: Final = 5
"""A column of fewer cells tells nothing."""
_MAX_ODD_RATIO: Final = 0.2
"""Where more cells differ the column is mixed, and nothing is odd about it."""
_MAX_NAME_CHARS: Final = 60
_NUMBER: Final = re.compile(
    rf"[^\w\s]{{0,2}}\s?(?:(?:{MONEY_CODES}|[SND]?kr|Fr|Ft|Rs|z\u0142|ca|max|min)\.?\s?)?"
    r"[-+\u2212]?\d+(?:[-\u2013]\s?\d+)*(?:[^\W\d_]{1,5}(?![\w-])|[^\w-]|$)",
    re.IGNORECASE,
)
"""A figure, perhaps with a currency before or a unit behind; "HbA1c", "B12" and "25-OH vitamin D" are names."""
_DIGIT: Final = re.compile(r"\d")
_NONE: Final = frozenset(
    {"", "-", "\u2013", "\u2014", "n/a", "n.a.", "na", "none", "nil", "free", "unlimited", "?", "*"}
)


def suspect_columns(drafts: Sequence[FactDraft]) -> tuple[DoubtfulTable, ...]:
    """Return the tables that have such columns, each column for itself, in reading order."""
    tables: dict[tuple[int, str], list[FactDraft]] = {}
    for draft in drafts:
        if draft.kind is FactKind.TABLE_ROW:
            tables.setdefault((draft.place.table, draft.section), []).append(draft)
    return tuple(found for rows in tables.values() for found in _suspect(rows))


def _suspect(rows: Sequence[FactDraft]) -> Iterator[DoubtfulTable]:
    columns: dict[str, list[str]] = {}
    for row in rows:
        for name, cell in _cells(row.content):
            columns.setdefault(name, []).append(cell)
    for name, cells in columns.items():
        told = [cell for cell in cells if cell.lower() not in _NONE]
        numbers = sum(1 for cell in told if _NUMBER.match(cell))
        wordy = sum(1 for cell in told if not _DIGIT.search(cell))
        most, odd, kind = max((numbers, wordy, "no number"), (wordy, numbers, "a number"))
        if len(told) >= _MIN_CELLS and 0 < odd <= _MAX_ODD_RATIO * len(told) and most + odd == len(told):
            why = f"column {name[:_MAX_NAME_CHARS]}: {odd} of {len(told)} cells {'is' if odd == 1 else 'are'} {kind}"
            across = rows[0].place.columns
            width = across[1] - across[0] + 1 if across else len(columns)
            yield DoubtfulTable(rows[0].section.rpartition("# ")[2], len(rows), width, why, rows[0].place)


def _cells(text: str) -> Iterator[tuple[str, str]]:
    """Yield the named cells of a row; what stands before the first name is what the table is about."""
    for part in text.split("; "):
        names, found, cell = part.rpartition(": ")
        if found:
            yield names.rpartition(": ")[2], cell.strip().rstrip(".")
