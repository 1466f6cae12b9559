"""From the body of a Word document to blocks, in the order of the text.

Notes follow the section that refers to them, so that no paragraph or list is torn apart. The paragraphs of a text box
are one block: they say one thing, beside the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from docx.oxml.ns import qn

from services.common.documents.document import Block, BlockKind, HiddenText, Place
from services.common.documents.docx.numbering import Numbering
from services.common.documents.docx.styles import Styles, value_of
from services.common.documents.docx.tables import (
    Cell,
    as_table,
    cell_of,
    cells_of,
    is_layout,
    is_on_colour,
    read_grid,
    rows_of,
)
from services.common.documents.docx.text import Line, LineReader
from services.common.documents.numerals import roman, whole
from services.common.documents.office.boxes import joined_lines
from services.common.documents.wording import collapse

_WRAPPERS: Final = frozenset({qn("w:sdt"), qn("w:sdtContent"), qn("w:customXml"), qn("w:ins"), qn("w:moveTo")})
_TERM_CHARS: Final = 80
_TERM_ENDS: Final = (":", " \u2013", " \u2014", " -")
_TABLE_WORDS: Final = ("table", "tab.", "tabelle", "tableau", "tabla", "tabella", "tabel")
_MAX_BOX_CHARS: Final = 600
_TYPED: Final = re.compile(r"(?:[\u2022\u25aa\u25e6\u2023\uf0b7]\s+|(\(?(?:\d{1,2}|[a-z])[.)])\t+)(?=\S)")


class Paragraphs:
    """Gathers the blocks of a document.

    Args:
        styles: of the document.
        numbering: counts its list items.
        lines: reads its paragraphs.
        notes: by kind and id.
    """

    def __init__(
        self, styles: Styles, numbering: Numbering, lines: LineReader, notes: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._styles = styles
        self._numbering = numbering
        self._lines = lines
        self._notes = notes
        self._noted: dict[str, int] = dict.fromkeys(notes, 0)
        self._pending: list[Block] = []
        self._captions: list[Block] = []
        self._count = 0
        self._tables = 0
        self._bold: set[int] = set()
        """Which blocks are short bold lines."""
        self.blocks: list[Block] = []
        self.hidden: list[HiddenText] = []
        self.furniture: list[str] = []
        self.title = ""

    def read(self, parent: Any, *, shaded: bool = False) -> None:
        """Read the paragraphs and tables of an element."""
        for child in parent:
            if child.tag == qn("w:p"):
                self._paragraph(child, shaded=shaded)
            elif child.tag == qn("w:tbl"):
                self._table(child)
            elif child.tag in _WRAPPERS:
                self.read(child, shaded=shaded)

    def close(self) -> None:
        """Write what still waits: captions without a table, notes."""
        self._drop_captions()
        self.blocks.extend(self._pending)
        self._pending.clear()
        if not any(block.kind is BlockKind.HEADING and block.text != self.title for block in self.blocks):
            self._take_bold_lines()

    def _take_bold_lines(self) -> None:
        """Take short bold lines for headings, in a document that has no headings by style: what follows is theirs."""
        for index in self._bold:
            block = self.blocks[index]
            if index + 1 < len(self.blocks) and index + 1 not in self._bold:
                self.blocks[index] = replace(block, kind=BlockKind.HEADING, level=2)

    def _paragraph(self, paragraph: Any, *, shaded: bool) -> None:
        self._count += 1
        place = Place(path=f"paragraph {self._count}")
        line = self._lines.read(paragraph, shaded=shaded)
        properties = paragraph.find(qn("w:pPr"))
        style = value_of(properties, "w:pStyle")
        self.hidden.extend(HiddenText(text, why, place) for text, why in line.hidden)
        number = self._number(properties, style)
        marks = self._marks(line)
        text, notes = line.settled(marks)
        before = len(self.blocks)
        if text and self._styles.is_contents(style):
            self.furniture.append(text)
        elif text:
            self._write(line, properties, style, number, place)
            if notes and len(self.blocks) > before and self.blocks[-1].text.endswith(text):
                lead = len(self.blocks[-1].text) - len(text)
                moved = tuple((lead + at, mark) for at, mark in notes)
                self.blocks[-1] = replace(self.blocks[-1], notes=moved)
        self._hanging(line, place, marks)

    def _write(
        self, line: Line, properties: Any | None, style: str, number: tuple[str, int] | None, place: Place
    ) -> None:
        text = line.text
        level = self._styles.heading_level(style, properties)
        if self._styles.is_caption(style):
            self._caption(Block(BlockKind.CAPTION, text, place=place))
            return
        self._drop_captions()
        if level:
            self._heading(" ".join(part for part in (number[0] if number else "", text) if part), level, style, place)
        elif number is not None:
            self.blocks.append(Block(BlockKind.LIST_ITEM, text, number[1], place, number[0]))
        elif self._styles.is_code(style):
            self._code("".join(line.parts), place)
        else:
            block = (
                _definition(line, place) or _typed_item(line, place) or Block(BlockKind.PARAGRAPH, text, place=place)
            )
            if block.kind is BlockKind.PARAGRAPH and line.is_bold and _is_short(text):
                self._bold.add(len(self.blocks))
            self.blocks.append(block)

    def _heading(self, text: str, level: int, style: str, place: Place) -> None:
        self.blocks.extend(self._pending)
        self._pending.clear()
        if self._styles.is_title(style) and not self.title:
            self.title = text
        self.blocks.append(Block(BlockKind.HEADING, text, level, place))

    def _code(self, text: str, place: Place) -> None:
        last = self.blocks[-1] if self.blocks else None
        if last is not None and last.kind is BlockKind.CODE:
            self.blocks[-1] = Block(BlockKind.CODE, f"{last.text}\n{text.rstrip()}", place=last.place)
        else:
            self.blocks.append(Block(BlockKind.CODE, text.strip(), place=place))

    def _caption(self, caption: Block) -> None:
        """Keep a caption for the table after it, or, when none comes, for the one before it."""
        self._drop_captions()
        self._captions.append(caption)

    def _drop_captions(self) -> None:
        """Write captions that no table came to."""
        for caption in self._captions:
            last = self.blocks[-1] if self.blocks else None
            table = None if last is None else last.table
            if last is not None and table is not None and not table.caption and _speaks_of_table(caption.text):
                self.blocks[-1] = _captioned(last, caption.text)
            else:
                self.blocks.append(caption)
        self._captions.clear()

    def _number(self, properties: Any | None, style: str) -> tuple[str, int] | None:
        """Count a list item; ``None`` for what is in no list."""
        numbered = None if properties is None else properties.find(qn("w:numPr"))
        inherited = self._styles.list_of(style)
        num_id = value_of(numbered, "w:numId") or (inherited[0] if inherited else "")
        if not num_id or num_id == "0":
            return None
        level = whole(value_of(numbered, "w:ilvl"), inherited[1] if inherited else 0)
        number = self._numbering.number(num_id, level)
        return None if number is None else (number, max(level, self._styles.list_depth(style)))

    def _marks(self, line: Line) -> list[str]:
        """Return the marks of the notes that a paragraph refers to, counted through the document."""
        marks = []
        for kind, _ in line.notes:
            self._noted[kind] += 1
            marks.append(roman(self._noted[kind]) if kind == "endnote" else str(self._noted[kind]))
        return marks

    def _hanging(self, line: Line, place: Place, marks: Sequence[str]) -> None:
        """Write what hangs on a paragraph: text boxes, descriptions of pictures; keep notes for the section's end."""
        for box in line.boxes:
            self._box(box, place)
        self.blocks.extend(Block(BlockKind.CAPTION, text, place=place) for text in line.pictures)
        for (kind, name), mark in zip(line.notes, marks, strict=True):
            note = self._notes.get(kind, {}).get(name)
            if note is None:
                continue
            where = Place(path=f"{kind} {mark}")
            text = " ".join(self._plain(paragraph, where) for paragraph in note.iter(qn("w:p")))
            if text.strip():
                self._pending.append(Block(BlockKind.FOOTNOTE, collapse(text), place=where, number=mark))

    def _plain(self, paragraph: Any, place: Place) -> str:
        line = self._lines.read(paragraph)
        self.hidden.extend(HiddenText(text, why, place) for text, why in line.hidden)
        return line.text

    def _box(self, box: Any, place: Place) -> None:
        paragraphs = [child for child in box if child.tag == qn("w:p")]
        simple = len(paragraphs) == len([child for child in box if isinstance(child.tag, str)])
        listed = any(self._in_list(paragraph) for paragraph in paragraphs)
        if not simple or listed:
            self.read(box, shaded=True)
            return
        lines = [self._lines.read(paragraph, shaded=True) for paragraph in paragraphs]
        self.hidden.extend(HiddenText(text, why, place) for line in lines for text, why in line.hidden)
        texts = [line.text for line in lines if line.text]
        if sum(map(len, texts)) <= _MAX_BOX_CHARS:
            texts = [joined_lines(texts)]
        where = Place(path=f"{place.path}, text box")
        self.blocks.extend(Block(BlockKind.PARAGRAPH, text, place=where) for text in texts if text)
        for line in lines:
            self._hanging(line, place, self._marks(line))

    def _in_list(self, paragraph: Any) -> bool:
        properties = paragraph.find(qn("w:pPr"))
        return properties is not None and properties.find(qn("w:numPr")) is not None

    def _frame(self, table: Any) -> None:
        """Read a frame around text."""
        self._drop_captions()
        for row in rows_of(table):
            for cell in cells_of(row):
                self.read(cell, shaded=is_on_colour(table, cell))

    def _table(self, table: Any) -> None:
        if is_layout(table):
            self._frame(table)
            return
        self._tables += 1
        place = Place(path=f"table {self._tables}")
        lines: list[tuple[Line, list[str]]] = []

        def read_cell(of: Any, cell: Any) -> Cell:
            read = list(self._cell_lines(cell, shaded=is_on_colour(of, cell)))
            marked = [(number, line, self._marks(line)) for number, line in read]
            lines.extend((line, marks) for _, line, marks in marked)
            return cell_of(marked, tuple(child for child in cell if child.tag == qn("w:tbl")))

        def drop_row(row: Any) -> None:
            text = collapse(" ".join(one.text or "" for one in row.iter(qn("w:t"), qn("w:delText"))))
            if text:
                self.hidden.append(HiddenText(text, "deleted (tracked change)", place))

        grid = read_grid(table, read_cell, drop_row)
        caption = self._captions.pop().text if self._captions else ""
        self._drop_captions()
        if any(text for row in grid.rows for text in row):
            self.blocks.append(Block(BlockKind.TABLE, "", place=place, table=as_table(grid, place, caption)))
        elif caption:
            self.blocks.append(Block(BlockKind.CAPTION, caption, place=place))
        for nested in grid.nested:
            self._table(nested)
        for line, marks in lines:
            self.hidden.extend(HiddenText(text, why, place) for text, why in line.hidden)
            self._hanging(line, place, marks)

    def _cell_lines(self, cell: Any, *, shaded: bool) -> Iterator[tuple[str, Line]]:
        for child in cell:
            if child.tag == qn("w:p"):
                properties = child.find(qn("w:pPr"))
                number = self._number(properties, value_of(properties, "w:pStyle"))
                yield number[0] if number else "", self._lines.read(child, shaded=shaded)
            elif child.tag in _WRAPPERS:
                yield from self._cell_lines(child, shaded=shaded)


def _is_short(text: str) -> bool:
    return len(text) <= _TERM_CHARS and not text.endswith((".", ",", ";", ":", "!"))


def _typed_item(line: Line, place: Place) -> Block | None:
    """Return a paragraph before which somebody typed a bullet, or a number and a tab, as an item of a list."""
    match = _TYPED.match("".join(line.parts).lstrip())
    if match is None or not line.text.startswith(collapse(match.group())):
        return None
    text = line.text[len(collapse(match.group())) :].strip()
    return Block(BlockKind.LIST_ITEM, text, 0, place, match[1] or "") if text else None


def _definition(line: Line, place: Place) -> Block | None:
    """Return a paragraph that begins with a bold term and a colon or dash as a definition."""
    lead = collapse(line.leading_bold())
    text = line.text
    if not lead or len(lead) > _TERM_CHARS or not text.startswith(lead):
        return None
    rest = text[len(lead) :]
    if lead.endswith((":", "\u2013", "\u2014")):
        said = rest
        lead = lead.rstrip(":\u2013\u2014 ")
    else:
        end = next((end for end in _TERM_ENDS if rest.startswith(end)), "")
        if not end:
            return None
        said = rest[len(end) :]
    return Block(BlockKind.DEFINITION, said.strip(), place=place, term=lead) if lead and said.strip() else None


def _speaks_of_table(caption: str) -> bool:
    return caption.lower().startswith(_TABLE_WORDS)


def _captioned(block: Block, caption: str) -> Block:
    return block if block.table is None else replace(block, table=replace(block.table, caption=caption))
