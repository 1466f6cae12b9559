"""Blocks from the structure that a tagged file states, where it covers nearly all that stands on the page.

Order, headings, lists, tables and footnotes are then the author's own; lines are still put together by their places.
What no element holds is read by position, after the rest.
"""

import itertools
from collections.abc import Callable
from typing import Final

from services.common.documents.document import Block, BlockKind, Box, Place, Table
from services.common.documents.pdf.blocks import ENDS, Draft, style_of_mark
from services.common.documents.pdf.cells import cell_text
from services.common.documents.pdf.frame import Frame, joined_box
from services.common.documents.pdf.heads import count_header_columns, count_header_rows, is_value
from services.common.documents.pdf.lines import piece_of, rows_of, words_text
from services.common.documents.pdf.page import PageContent
from services.common.documents.pdf.tags import Tag
from services.common.documents.pdf.texts import without_shifts
from services.common.documents.pdf.words import Word

_COVERED: Final = 0.95
_HEADINGS: Final = {"Title": 1, **{f"H{level}": level for level in range(1, 7)}}
_NOTES: Final = frozenset({"Note", "FENote"})
_LISTED: Final = frozenset({"TOC", "TOCI", "Index"})
_LEAVES: Final = frozenset(
    {"P", "H", "Caption", "Code", "BlockQuote", "Quote", "Formula", "Note", "FENote", *_HEADINGS}
)
_INLINE: Final = frozenset(
    {"Span", "Link", "Em", "Strong", "Reference", "Annot", "Sub", "NonStruct", "BibEntry", "Quote", "Lbl"}
)
_MAX_COLUMNS: Final = 500
_SCATTERED: Final = 24
_SCATTERED_SHARE: Final = 0.4
_VALUE_WORDS: Final = 2
_LEVEL: Final = 6
_LEVEL_SHARE: Final = 0.3
_APART_EM: Final = 1.0
_BELOW_EM: Final = 2.0


class TaggedPage:
    """The blocks of a page whose structure is stated.

    Args:
        page: with its tags.
    """

    def __init__(self, page: PageContent) -> None:
        self._page = page
        self._words: dict[int, list[Word]] = {}
        for word in page.words:
            self._words.setdefault(word.run.mark, []).append(word)
        self.drafts: list[Draft] = []
        self.contents: list[str] = []

    def is_covered(self) -> bool:
        """Say whether the structure holds nearly all words of the page, each once."""
        tags = self._page.tags
        if tags is None or not self._page.words:
            return False
        marks = tags.marks()
        if len(set(marks)) < len(marks):
            return False
        inside = sum(len(word.text) for mark in marks for word in self._words.get(mark, ()))
        covered = inside >= _COVERED * sum(len(word.text) for word in self._page.words)
        return covered and not self._is_scattered(tags)

    def _is_scattered(self, tags: Tag) -> bool:
        """Say whether the structure takes tables apart: no table in it, but many elements of one value each.

        Elements of one line each that follow each other on the same lines tell the same.
        """
        leaves = values = level = 0
        before: list[Word] = []
        stack: list[Tag] = [tags]
        while stack:
            tag = stack.pop()
            if tag.kind in {"Table", *_LISTED}:
                return False
            stack += [part for part in reversed(tag.parts) if isinstance(part, Tag)]
            if not _is_inline(tag) and all(_is_inline(part) for part in tag.parts if isinstance(part, Tag)):
                held = self._of(tag)
                level += _is_level(before, held)
                before = held
            words = [word for part in tag.parts if isinstance(part, int) for word in self._words.get(part, ())]
            if words:
                leaves += 1
                values += len(words) <= _VALUE_WORDS and is_value(" ".join(word.text for word in words))
        return (values >= _SCATTERED and values >= _SCATTERED_SHARE * leaves) or (
            level >= _LEVEL and level >= _LEVEL_SHARE * leaves
        )

    def left_over(self) -> list[Word]:
        """Return the words that no element holds."""
        marks = set(self._page.tags.marks()) if self._page.tags is not None else set()
        return [word for mark, words in self._words.items() if mark not in marks for word in words]

    def read(self) -> None:
        """Make drafts of all elements, in their order."""
        if self._page.tags is not None:
            self._walk(self._page.tags, 0)
            self.drafts = _with_descriptions(self.drafts)

    def _of(self, tag: Tag) -> list[Word]:
        return [word for mark in tag.marks() for word in self._words.get(mark, ())]

    def _walk(self, tag: Tag, lists: int) -> None:
        loose: list[int | Tag] = []
        for part in tag.parts:
            if isinstance(part, Tag) and not _is_inline(part):
                self._flush(loose)
                self._element(part, lists)
            else:
                loose.append(part)
        self._flush(loose)

    def _flush(self, loose: list[int | Tag]) -> None:
        """Make a paragraph of text that stands in no element of its own."""
        if loose:
            self._text(self._of(Tag("P", list(loose))), BlockKind.PARAGRAPH)
            loose.clear()

    def _element(self, tag: Tag, lists: int) -> None:
        if tag.kind in _HEADINGS:
            self._text(self._of(tag), BlockKind.HEADING, _HEADINGS[tag.kind])
        elif tag.kind == "H":
            self._text(self._of(tag), BlockKind.HEADING)
        elif tag.kind == "L":
            self._walk(tag, lists + 1)
        elif tag.kind == "LI":
            self._item(tag, lists)
        elif tag.kind == "Table":
            self._table(tag)
        elif tag.kind in _LISTED:
            self.contents += [words_text(row) for row in rows_of(self._of(tag))]
        elif tag.kind in _NOTES:
            self._note(tag)
        elif tag.kind == "Figure":
            self._figure(tag)
        elif tag.kind in _LEAVES and all(map(_is_in_text, tag.parts)):
            self._leaf(tag)
        else:
            self._walk(tag, lists)

    def _leaf(self, tag: Tag) -> None:
        """Write an element of running text; the footnotes that it holds follow it."""
        notes = [part for part in tag.parts if isinstance(part, Tag) and part.kind in _NOTES]
        rest = Tag(tag.kind, [part for part in tag.parts if part not in notes])
        kind = {"Caption": BlockKind.CAPTION, "Code": BlockKind.CODE}.get(tag.kind, BlockKind.PARAGRAPH)
        self._text(self._of(rest), kind)
        for note in notes:
            self._note(note)

    def _text(self, words: list[Word], kind: BlockKind, level: int = 0) -> Draft | None:
        if not words:
            return None
        lines = _lines(words)
        piece = piece_of(words)
        box = joined_box([word.box for word in words])
        draft = Draft(kind, lines, self._page.number, box, piece.size, piece.bold, level, stated=bool(level))
        draft.base = words[0].base
        self.drafts.append(draft)
        return draft

    def _item(self, tag: Tag, lists: int) -> None:
        label = next((part for part in tag.parts if isinstance(part, Tag) and part.kind == "Lbl"), None)
        number = words_text(self._of(label)).strip() if label is not None else ""
        rest = Tag("LBody", [part for part in tag.parts if part is not label])
        before = len(self.drafts)
        self._walk(rest, lists)
        made = [draft for draft in self.drafts[before:] if draft.kind is BlockKind.PARAGRAPH]
        if not made:
            return
        item = made[0]
        item.kind, item.level, item.stated = BlockKind.LIST_ITEM, max(lists - 1, 0), True
        item.number = number if any(character.isalnum() for character in number) else ""
        item.style = style_of_mark(number) if number else ""

    def _note(self, tag: Tag) -> None:
        label = next((part for part in tag.parts if isinstance(part, Tag) and part.kind == "Lbl"), None)
        rest = Tag("Note", [part for part in tag.parts if part is not label])
        draft = self._text(self._of(rest), BlockKind.FOOTNOTE)
        if draft is not None and label is not None:
            draft.number = "".join(word.text for word in self._of(label)).strip("().[] ")

    def _figure(self, tag: Tag) -> None:
        words = self._of(tag)
        if tag.alt.strip():
            box = joined_box([word.box for word in words]) if words else self._page.frame.page
            self.drafts.append(Draft(BlockKind.CAPTION, [tag.alt.strip()], self._page.number, box, 0.0))
        elif words:
            self._walk(Tag("Div", tag.parts), 0)

    def _table(self, tag: Tag) -> None:
        caption = next((part for part in tag.parts if isinstance(part, Tag) and part.kind == "Caption"), None)
        table = _table(_rows(tag), self._of, self._page.frame, self._page.number)
        words = self._of(tag)
        if table is None or not words:
            self._walk(Tag("Div", tag.parts), 0)
            return
        box = joined_box([word.box for word in words])
        if caption is not None:
            text = " ".join(_lines(self._of(caption)))
            table = Table(table.rows, table.header_rows, table.header_columns, text, table.spanned, table.places)
        draft = Draft(BlockKind.TABLE, [], self._page.number, box, 0.0)
        place = Place(self._page.number, self._page.frame.shown(box))
        draft.block = Block(BlockKind.TABLE, "", place=place, table=table)
        self.drafts.append(draft)


def _with_descriptions(drafts: list[Draft]) -> list[Draft]:
    """Put small letters right below a line that ends no sentence on the same draft: they say more of what it names."""
    result: list[Draft] = []
    for draft in drafts:
        before = result[-1] if result else None
        if before is not None and _describes(before, draft):
            before.lines += draft.lines
            before.box = joined_box([before.box, draft.box])
        else:
            result.append(draft)
    return result


def _describes(before: Draft, draft: Draft) -> bool:
    if before.kind is not BlockKind.PARAGRAPH or draft.kind is not BlockKind.PARAGRAPH or len(before.lines) > 1:
        return False
    close = 0 <= draft.box[1] - before.box[3] + draft.size < _BELOW_EM * draft.size
    level = abs(draft.box[0] - before.box[0]) < 0.5 * draft.size
    opens = not without_shifts(before.lines[0]).rstrip().endswith(ENDS)
    return close and level and opens and without_shifts(draft.lines[0])[:1].islower()


def _is_in_text(part: "int | Tag") -> bool:
    return isinstance(part, int) or _is_inline(part) or part.kind in _NOTES


def _is_level(one: list[Word], two: list[Word]) -> bool:
    """Say whether two elements are one line each, and both stand on the same one, apart."""
    if not one or not two or len({round(word.base) for word in (*one, *two)}) > 1:
        return False
    return two[0].left - one[-1].right > _APART_EM * two[0].run.size


def _is_inline(tag: Tag) -> bool:
    inline = tag.kind in _INLINE
    return inline and all(isinstance(part, int) or _is_inline(part) for part in tag.parts)


def _lines(words: list[Word]) -> list[str]:
    """Return the lines of an element: by their places in each column that it stands in."""
    lines: list[str] = []
    part: list[Word] = []
    for word in words:
        if part and word.base < part[-1].base - 3 * max(word.run.size, part[-1].run.size):
            lines += [words_text(row) for row in rows_of(part)]
            part = []
        part.append(word)
    return lines + [words_text(row) for row in rows_of(part)]


def _rows(tag: Tag) -> list[Tag]:
    rows: list[Tag] = []
    for part in tag.parts:
        if isinstance(part, Tag):
            if part.kind == "TR":
                rows.append(part)
            elif part.kind in {"THead", "TBody", "TFoot"}:
                rows += _rows(part)
    return rows


def _table(rows: list[Tag], words_of: Callable[[Tag], list[Word]], frame: Frame, page: int) -> Table | None:
    grid: dict[tuple[int, int], str] = {}
    spanned: set[tuple[int, int]] = set()
    heads: dict[tuple[int, int], bool] = {}
    places: list[Place] = []
    extents = _extents(rows, words_of)
    bold = [_is_bold(words_of(row)) for row in rows]
    for index, row in enumerate(rows):
        column = 0
        boxes: list[Box] = []
        cells = _cells(row)
        left = sum(cell.across for cell in cells)
        gaps = left < len(extents) - sum((index, at) in grid for at in range(len(extents)))
        for cell in cells:
            while (index, column) in grid:
                column += 1
            words = words_of(cell)
            boxes += [word.box for word in words]
            text = cell_text(words) if words else ""
            if gaps and words:
                column = _nearest(joined_box([word.box for word in words]), cell.across, column, left, extents)
            left -= cell.across
            if column + cell.across > _MAX_COLUMNS:
                return None
            for down in range(min(cell.down, len(rows) - index)):
                for across in range(cell.across):
                    at = (index + down, column + across)
                    grid[at], heads[at] = text, cell.kind == "TH"
                    if down or across:
                        spanned.add(at)
        places.append(Place(page, frame.shown(joined_box(boxes))) if boxes else Place(page))
    if not grid or len(rows) * (1 + max(column for _, column in grid)) > 20 * len(grid) + 100:
        return None
    width = 1 + max(column for _, column in grid)
    texts = tuple(tuple(grid.get((row, column), "") for column in range(width)) for row in range(len(rows)))
    stated = any(heads.values())
    head = _stated_head(heads, len(rows), width) if stated else count_header_rows([*map(list, texts)], bold, {})
    first = [heads.get((row, 0), False) for row in range(head, len(rows))]
    names = all(first) if any(first) else _names_rows(texts, head)
    return Table(texts, head, int(names), "", frozenset(spanned), tuple(places))


def _is_bold(words: list[Word]) -> bool:
    return bool(words) and all(word.run.font.bold for word in words)


def _cells(row: Tag) -> list[Tag]:
    return [part for part in row.parts if isinstance(part, Tag) and part.kind in {"TD", "TH"}]


def _extents(rows: list[Tag], words_of: Callable[[Tag], list[Word]]) -> list[tuple[float, float]]:
    """Return where each column begins and ends, by the rows that leave no cell out; nothing when one is unknown."""
    found: list[tuple[float, float] | None] = [None] * _width(rows)
    hanging: dict[int, int] = {}
    known = True
    for index, row in enumerate(rows):
        cells = _cells(row)
        hanging = {column: last for column, last in hanging.items() if last >= index}
        known = known or not hanging
        whole = known and sum(cell.across for cell in cells) + len(hanging) == len(found)
        column = 0
        for cell in cells:
            while whole and column in hanging:
                column += 1
            here = range(column, min(column + cell.across, len(found)))
            if cell.down > 1:
                hanging.update(dict.fromkeys(here, index + cell.down - 1))
            words = words_of(cell) if whole and len(here) == 1 else []
            if words:
                left, _, right, _ = joined_box([word.box for word in words])
                before = found[column] or (left, right)
                found[column] = (min(before[0], left), max(before[1], right))
            column += cell.across
        known = whole or (known and not any(cell.down > 1 for cell in cells))
    extents = [extent for extent in found if extent is not None]
    ordered = all(one[0] < two[0] for one, two in itertools.pairwise(extents))
    return extents if len(extents) == len(found) and ordered else []


def _width(rows: list[Tag]) -> int:
    """Return how many columns a table has: as many as its widest row covers, with what hangs down into it."""
    width = 0
    hanging: list[tuple[int, int]] = []
    for index, row in enumerate(rows):
        cells = _cells(row)
        hanging = [(last, across) for last, across in hanging if last >= index]
        width = max(width, sum(cell.across for cell in cells) + sum(across for _, across in hanging))
        hanging += [(index + cell.down - 1, cell.across) for cell in cells if cell.down > 1]
    return min(width, _MAX_COLUMNS)


def _nearest(box: Box, across: int, first: int, left: int, extents: list[tuple[float, float]]) -> int:
    """Return the column in which a cell begins whose row leaves cells out: the one that it stands in the middle of.

    Programs that tag a page leave out cells that hold nothing.

    Args:
        box: around its text.
        across: how many columns it covers.
        first: the first column that is free.
        left: how many columns it and the cells behind it cover.
        extents: where columns begin and end.
    """
    last = max(len(extents) - left, first)

    def off(column: int) -> tuple[float, float]:
        begin, end = extents[column][0], extents[min(column + across, len(extents)) - 1][1]
        outside = max(begin - box[0], 0.0) + max(box[2] - end, 0.0)
        return outside, abs(begin + end - box[0] - box[2])

    return min(range(first, last + 1), key=off) if last < len(extents) else first


def _stated_head(heads: dict[tuple[int, int], bool], rows: int, width: int) -> int:
    """Return how many rows at the top are heads by their tags."""
    head = 0
    while head < rows - 1 and all(heads.get((head, column), True) for column in range(1 if width > 1 else 0, width)):
        head += 1
    return head


def _names_rows(texts: tuple[tuple[str, ...], ...], head: int) -> bool:
    """Say whether the first column names the rows by what it holds, where no cell of it is marked as a head."""
    plain = [[False] * len(row) for row in texts]
    return bool(count_header_columns([list(row) for row in texts], plain, head))
