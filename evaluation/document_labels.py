"""Documents with what a careful person sees in them: ``NAME.EXT`` beside ``NAME.EXT.label.json``."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_SUFFIX: Final = ".label.json"
MADE: Final = "made"
REAL: Final = "real"


@dataclass(frozen=True, slots=True)
class LabelledTable:
    """A table as a person reads it: merged cells are repeated, an empty cell is ``""``."""

    where: str
    grid: tuple[tuple[str, ...], ...]
    caption: str
    header_rows: int
    header_columns: int


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """A document and its labels.

    Attributes:
        origin: ``made`` for it, or ``real``.
        pages: first and last page that are labelled; ``None`` = the whole document.
        order: snippets in the order in which a person reads them.
        hidden: what nobody sees who opens it.
        furniture: running heads, page numbers, navigation.
        together: strings that must stand in one fact.
        apart: strings that make a false statement when they stand in one sentence or row.
    """

    path: Path
    origin: str
    what: str
    pages: tuple[int, int] | None
    tables: tuple[LabelledTable, ...]
    order: tuple[str, ...]
    headings: tuple[tuple[int, str], ...]
    hidden: tuple[str, ...]
    furniture: tuple[str, ...]
    together: tuple[tuple[str, ...], ...]
    apart: tuple[tuple[str, ...], ...]


def read_labelled(folder: Path) -> Iterator[LabelledDocument]:
    """Yield the labelled documents under a folder, by path."""
    for label in sorted(folder.rglob(f"*{_SUFFIX}")):
        path = label.with_name(label.name.removesuffix(_SUFFIX))
        yield _document(path, json.loads(label.read_text(encoding="utf-8")))


def _document(path: Path, label: Any) -> LabelledDocument:
    pages = label.get("pages")
    return LabelledDocument(
        path,
        MADE if label["origin"].strip().lower().startswith(MADE) else REAL,
        label.get("what") or "",
        (int(pages[0]), int(pages[-1])) if pages else None,
        tuple(_table(table) for table in label.get("tables") or ()),
        tuple(label.get("order") or ()),
        tuple((int(level), text) for level, text in label.get("headings") or ()),
        tuple(label.get("hidden") or ()),
        tuple(label.get("furniture") or ()),
        tuple(tuple(group) for group in label.get("together") or ()),
        tuple(tuple(group) for group in label.get("apart") or ()),
    )


def _table(table: Any) -> LabelledTable:
    grid = tuple(tuple(str(cell) for cell in row) for row in table["grid"])
    return LabelledTable(
        table.get("where") or "",
        grid,
        table.get("caption") or "",
        int(table.get("header_rows") or 0),
        int(table.get("header_columns") or 0),
    )
