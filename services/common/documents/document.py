"""A parsed document: what every parser gives and the chunker reads. Reading order is kept."""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

MAX_COLUMN_CHARS: Final = 500
"""A longer head of a column is not repeated in each of its cells."""


@unique
class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "HEADING"
    PARAGRAPH = "PARAGRAPH"
    LIST_ITEM = "LIST_ITEM"
    TABLE_ROW = "TABLE_ROW"
    CODE = "CODE"


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a document.

    Attributes:
        text: white space collapsed, except in CODE; for a TABLE_ROW its cells, already named by their columns.
        level: 1-6 for a HEADING, nesting depth from 0 for a LIST_ITEM, else 0.
        place: page or paragraph that the format knows, e.g. ``p. 3``; empty where headings say it better.
    """

    kind: BlockKind
    text: str
    level: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document.

    Attributes:
        media_type: what it was read as.
        title: the document's own title; empty when it has none.
        warnings: what was left out or repaired, for people; never content.
    """

    media_type: str
    title: str
    blocks: tuple[Block, ...]
    warnings: tuple[str, ...] = ()


def row_text(columns: tuple[str, ...], cells: tuple[str, ...]) -> str:
    """Return a table row as text that stands on its own: ``Plan: Basic; Deductible: 250 EUR``.

    Cells without a column name, and empty cells, are joined as they are or left out.
    """
    parts: list[str] = []
    for index, cell in enumerate(cells):
        if not cell:
            continue
        name = columns[index].rstrip(":") if index < len(columns) else ""
        name = name if len(name) <= MAX_COLUMN_CHARS else ""
        parts.append(f"{name}: {cell}" if name else cell)
    return "; ".join(parts)
