"""A parsed document: the model that every reader fills and the chunker reads (ADR 0106). Reading order is kept.

Readers say what stands where; what becomes a fact, and in which words, is the chunker's alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final, TypeAlias

DEEPEST_HEADING: Final = 6
Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom, as shares of the page's width and height from its upper left corner, 0 to 1."""

Span: TypeAlias = tuple[int, int]
"""First and last position in a grid, from 1, both included."""


@unique
class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "HEADING"
    PARAGRAPH = "PARAGRAPH"
    LIST_ITEM = "LIST_ITEM"
    DEFINITION = "DEFINITION"
    """``text`` says what ``term`` is."""
    TABLE = "TABLE"
    """``table`` holds the grid; ``text`` is empty."""
    CODE = "CODE"
    FOOTNOTE = "FOOTNOTE"
    """``number`` is the mark that refers to it."""
    CAPTION = "CAPTION"
    """Of a picture or listing; a table's own is its ``caption``. A picture's ``alt`` text is one as well."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the original.

    Attributes:
        page: page or slide, from 1; 0 where the format has none.
        box: on that page; ``None`` where it is unknown.
        path: what the format calls the place: ``paragraph 3``, ``sheet Rates``, ``lines 10-14``, ``$.items[2]``.
        table: the document's how-manieth table, from 1; 0 outside tables. The chunker counts them.
        rows: of the table's grid, heads included; ``None`` outside tables.
        columns: of the table's grid; ``None`` outside tables.
    """

    page: int = 0
    box: Box | None = None
    path: str = ""
    table: int = 0
    rows: Span | None = None
    columns: Span | None = None

    def __str__(self) -> str:
        """Return the place for people: ``p. 3``, ``sheet Rates``; empty when nothing is known."""
        return ", ".join(part for part in (f"p. {self.page}" if self.page else "", self.path) if part)


NOWHERE: Final = Place()


@dataclass(frozen=True, slots=True)
class Table:
    """A table as a grid: every cell that covers several positions is repeated at each of them.

    Attributes:
        rows: texts of the cells, row by row, all of one length; an empty cell is ``""``.
        header_rows: how many rows at the top name the columns.
        header_columns: how many columns at the left name the rows.
        caption: what stands above or below it; empty when nothing does.
        spanned: positions (row, column) that repeat a cell which begins elsewhere.
        places: of each row; empty when unknown.
        doubtful: why rows or columns may be wrong, for people; empty when nothing is.
        notes: marks of footnotes in the caption (row -1) and in cells: (row, column, mark).
        current: what still holds of a cell of which a part is struck out: (row, column, text).
    """

    rows: tuple[tuple[str, ...], ...]
    header_rows: int = 0
    header_columns: int = 0
    caption: str = ""
    spanned: frozenset[tuple[int, int]] = frozenset()
    places: tuple[Place, ...] = ()
    doubtful: str = ""
    notes: tuple[tuple[int, int, str], ...] = ()
    current: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a document.

    Attributes:
        text: white space collapsed, except in CODE.
        level: 1-6 for a HEADING, nesting depth from 0 for a LIST_ITEM or DEFINITION, else 0.
        place: where it stands.
        number: what the list or the footnote calls it, as a reader sees it: ``3.``, ``(b)``; empty for a bullet.
        term: what a DEFINITION defines; several terms are joined by `` / ``.
        table: the grid of a TABLE.
        language: ISO 639-1 code where the document says so; empty otherwise.
        within: in how many items and definitions a block stands that is none itself: a second paragraph of an item of
            level 0, its table, its code: 1.
        notes: marks of footnotes, each with the place in ``text`` where it stood: (offset, mark).
        linked: it is a link and nothing else.
        is_apart: a HEADING that begins what nothing before it stands above: a sheet of a workbook.
    """

    kind: BlockKind
    text: str
    level: int = 0
    place: Place = NOWHERE
    number: str = ""
    term: str = ""
    table: Table | None = None
    language: str = ""
    within: int = 0
    notes: tuple[tuple[int, str], ...] = ()
    linked: bool = False
    is_apart: bool = False


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Text that nobody who opens the document sees; it never becomes a fact.

    Attributes:
        why: what hides it: ``style display:none``, ``class d-none``, ``hidden sheet``.
    """

    text: str
    why: str
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class DoubtfulTable:
    """A table whose rows or columns may be wrong.

    Attributes:
        rows: how many it was read as.
        why: for people.
    """

    caption: str
    rows: int
    columns: int
    why: str
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document.

    Attributes:
        media_type: what it was read as.
        title: the document's own title; empty when it has none.
        warnings: what was left out or repaired, for people; never content.
        hidden: what was dropped since no reader sees it.
        furniture: running heads and feet, page numbers, navigation: dropped, each text once.
        language: ISO 639-1 code where the document says so; empty otherwise.
        pages: pages or slides; 0 where the format has none.
        properties: what the document says of itself: ``valid_from``, ``author``, ``date``; names in lower case.
    """

    media_type: str
    title: str
    blocks: tuple[Block, ...]
    warnings: tuple[str, ...] = ()
    hidden: tuple[HiddenText, ...] = ()
    furniture: tuple[str, ...] = ()
    language: str = ""
    pages: int = 0
    properties: dict[str, str] = field(default_factory=dict)


def texts_of(block: Block) -> Iterator[str]:
    """Return every text of a block."""
    yield block.term
    yield block.text
    if block.table is not None:
        yield block.table.caption
        for row in block.table.rows:
            yield from row


def first_heading(blocks: Iterable[Block], deepest: int = DEEPEST_HEADING) -> str:
    """Return the first heading of a level up to ``deepest``; empty where there is none."""
    return next((block.text for block in blocks if block.kind is BlockKind.HEADING and block.level <= deepest), "")


def place_of_lines(first: int, last: int) -> Place:
    """Return the place of lines of a text, counted from 1."""
    return Place(path=f"line {first}" if first == last else f"lines {first}-{last}")
