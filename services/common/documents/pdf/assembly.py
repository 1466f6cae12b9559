"""From the pages' pieces to the blocks of the document: layout, tables with their captions, footnotes, what goes on."""

import itertools
import re
from dataclasses import replace
from typing import Final

from services.common.documents.document import Block, BlockKind, Place, Table
from services.common.documents.pdf.aligned import header_above, pairs_of, read_aligned
from services.common.documents.pdf.blocks import ENDS, BlockMaker, Draft, Style, is_table_caption
from services.common.documents.pdf.frame import Frame, joined_box
from services.common.documents.pdf.furniture import contents_rows, is_contents_title
from services.common.documents.pdf.joining import join_running_on, join_tables
from services.common.documents.pdf.layout import Region, lay_out
from services.common.documents.pdf.levels import (
    find_definitions,
    find_plain_headings,
    find_untagged_headings,
    restore_initials,
    set_heading_levels,
    set_item_levels,
)
from services.common.documents.pdf.lines import Piece, Whole, pieces_of
from services.common.documents.pdf.notes import find_notes
from services.common.documents.pdf.page import PageContent
from services.common.documents.pdf.structure import TaggedPage
from services.common.documents.pdf.texts import join_lines, place_shifts, reference, take_references, without_shifts

_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_UNDER_EM: Final = 4.0
_ROW_GAPS: Final = 2
_ROW_GAP_EM: Final = 1.5
_TITLE_CHARS: Final = 120
_TITLE_GAP: Final = 1.2
_TITLE_SHIFT: Final = 0.02
_SYMBOLS: Final = "*\u2020\u2021\u00a7\u00b6"


def assemble(pages: list[PageContent], body: Style) -> tuple[list[Block], list[str]]:
    """Return the blocks of all pages, and the entries of contents and indexes, which are none."""
    drafts: list[Draft] = []
    contents: list[str] = []
    known = _vocabulary(pages)
    heading = ""
    for page in pages:
        maker = _PageDrafts(page, body, heading)
        made = maker.make()
        heading = maker.heading
        contents += maker.contents
        marks = find_notes(made, body)
        for draft in made:
            draft.marks = list(marks)
        drafts += made
        page.pieces, page.words = [], []  # only what is written of them is needed from here on
    drafts = join_running_on(_notes_last(drafts))
    restore_initials(drafts)
    find_plain_headings(drafts)
    set_item_levels(drafts)
    set_heading_levels(drafts)
    frames = {page.number: page.frame for page in pages}
    blocks = [_block(draft, frames, known) for draft in drafts]
    joined, notices = join_tables([block for block in blocks if block.text or block.table])
    return _with_captions(joined), contents + notices


def _notes_last(drafts: list[Draft]) -> list[Draft]:
    """Return each page's footnotes after its text, but those of a table right below it; its order is else as it is."""
    ordered: list[Draft] = []
    notes: list[Draft] = []
    following = _followed(drafts)
    for draft, followed in zip(drafts, following, strict=True):
        if notes and draft.page != notes[0].page:
            ordered += notes
            notes = []
        if draft.kind is not BlockKind.FOOTNOTE or (followed and not notes and _is_under_table(ordered, draft)):
            ordered.append(draft)
        else:
            notes.append(draft)
    return ordered + notes


def _followed(drafts: list[Draft]) -> list[bool]:
    """Say of each draft whether the next one that is no footnote stands below it on the same page."""
    result: list[bool] = []
    after: Draft | None = None
    for draft in reversed(drafts):
        result.append(after is not None and after.page == draft.page and after.box[1] >= draft.box[3] - 1.0)
        if draft.kind is not BlockKind.FOOTNOTE:
            after = draft
    return result[::-1]


def _is_under_table(before: list[Draft], note: Draft) -> bool:
    """Say whether a footnote stands right below a table or another footnote of it."""
    if not before or before[-1].page != note.page or before[-1].kind not in {BlockKind.TABLE, BlockKind.FOOTNOTE}:
        return False
    return 0 <= note.box[1] - before[-1].box[3] + 1.0 < _UNDER_EM * note.size


def _vocabulary(pages: list[PageContent]) -> frozenset[str]:
    """Return the words of the document when any of them is divided at the end of a line; else nothing."""
    divided = any(piece.words and piece.words[-1].text.endswith("-") for page in pages for piece in page.pieces)
    if not divided:
        return frozenset()
    found: set[str] = set()
    for page in pages:
        for piece in page.pieces:
            for word in piece.words:
                found.update(match.lower() for match in _WORD.findall(word.text))
    return frozenset(found)


class _PageDrafts:
    """Makes the drafts of one page, in reading order.

    Args:
        heading: the last heading of the pages before.
    """

    def __init__(self, page: PageContent, body: Style, heading: str) -> None:
        self._page = page
        body = Style(page.size, body.fixed, body.bold) if page.size else body
        self._body = body
        self._maker = BlockMaker(body, page.frame, page.number)
        self.heading = heading
        self.contents: list[str] = []
        self._drafts: list[Draft] = []

    def make(self) -> list[Draft]:
        pieces = self._page.pieces
        stated = TaggedPage(self._page) if self._page.tags is not None else None
        if stated is not None and stated.is_covered():
            stated.read()
            self._drafts, self.contents = stated.drafts, stated.contents
            find_untagged_headings(self._drafts, self._body)
            pieces = pieces_of(stated.left_over())
        self._add(lay_out(pieces, self._page.rules), set())
        for line in self._page.turned:
            box = self._page.frame.page
            self._drafts.append(Draft(BlockKind.PARAGRAPH, [line], self._page.number, box, 0.0))
        return self._drafts

    def _add(self, regions: list[Region], placed: set[int]) -> None:
        regions = _with_heads(regions)
        for region in regions:
            if region.cuts:
                self._table(region)
            else:
                self._lines(region.rows, placed)
            if region.alone and self._drafts:
                self._drafts[-1].ends_column = False

    def _lines(self, rows: list[list[Piece]], placed: set[int]) -> None:
        """Add the blocks of lines, with the tables and boxes between them."""
        plain: list[list[Piece]] = []
        for row in rows:
            texts = [piece for piece in row if piece.whole is None]
            if texts:
                plain.append(texts)
            for piece in row:
                if piece.whole is not None and id(piece.whole) not in placed:
                    placed.add(id(piece.whole))
                    self._text(plain)
                    plain = []
                    self._whole(piece.whole, placed)
        self._text(plain)

    def _whole(self, whole: Whole, placed: set[int]) -> None:
        if whole.table is not None:
            self._table_block(whole.table, whole.box)
        else:
            self._add(lay_out(whole.pieces, self._page.rules), placed)

    def _text(self, rows: list[list[Piece]]) -> None:
        if not rows:
            return
        entries = set(contents_rows(rows, self._title_of(rows)))
        self.contents += [without_shifts(" ".join(piece.text for piece in rows[index])) for index in sorted(entries)]
        part: list[list[Piece]] = []
        for index, row in enumerate(rows):
            if index in entries:
                self._plain(part)
                part = []
            elif _is_table_row(row):
                self._plain(part)
                part = []
                cuts = tuple((one.right + other.left) / 2 for one, other in itertools.pairwise(row))
                self._table(Region([row], cuts))
            else:
                part.append(row)
        self._plain(part)

    def _plain(self, rows: list[list[Piece]]) -> None:
        drafts = find_definitions(self._maker.drafts(rows))
        for draft in drafts:
            if draft.kind is BlockKind.HEADING:
                self.heading = without_shifts(draft.text)
        if drafts:
            drafts[-1].ends_column = True
        self._drafts += drafts

    def _title_of(self, rows: list[list[Piece]]) -> str:
        """Return the heading above lines: the first of them when it announces contents, else the last one before."""
        for row in rows[:3]:
            text = without_shifts(" ".join(piece.text for piece in row))
            if is_contents_title(text):
                return text
        return self.heading

    def _table(self, region: Region) -> None:
        entries = set(contents_rows(region.rows, self._title_of(region.rows)))
        if len(entries) >= 0.6 * len(region.rows):
            self.contents += [without_shifts(" ".join(piece.text for piece in row)) for row in region.rows]
            return
        pairs = pairs_of(region.rows, region.cuts)
        box = joined_box([piece.box for row in region.rows for piece in row])
        if pairs:
            size = region.rows[0][0].size
            self._drafts += [Draft(BlockKind.PARAGRAPH, [line], self._page.number, box, size) for line in pairs]
            return
        if region.table is not None:
            table = region.table.as_table(self._page.frame, self._page.number)
        else:
            table = read_aligned(region.rows, region.cuts, self._page.rules, self._page.frame, self._page.number)
        self._table_block(table, box)

    def _table_block(self, table: Table, box: tuple[float, float, float, float]) -> None:
        draft = Draft(BlockKind.TABLE, [], self._page.number, box, 0.0)
        draft.block = Block(BlockKind.TABLE, "", place=self._maker.place(box), table=table)
        self._drafts.append(draft)


def _is_table_row(row: list[Piece]) -> bool:
    """Say whether one line is a table by itself: three or more pieces far apart, and no code."""
    gaps = [(other.left - one.right) / max(one.size, 1.0) for one, other in itertools.pairwise(row)]
    return len(gaps) >= _ROW_GAPS and min(gaps) >= _ROW_GAP_EM and not all(piece.fixed for piece in row)


def _with_heads(regions: list[Region]) -> list[Region]:
    """Move heads over several columns, which cross the white that divides the others, to their table."""
    result: list[Region] = []
    for region in regions:
        if region.cuts and region.table is None and result and not result[-1].cuts:
            above = [row for row in result[-1].rows if all(piece.whole is None for piece in row)]
            if len(above) == len(result[-1].rows):
                count = header_above(above, region.cuts, region.left, region.right)
                if count:
                    rest = result.pop().rows
                    if rest[:-count]:
                        result.append(Region(rest[:-count]))
                    region = Region([*rest[-count:], *region.rows], region.cuts, region.left, region.right)  # noqa: PLW2901
        result.append(region)
    return result


def _block(draft: Draft, frames: dict[int, Frame], known: frozenset[str]) -> Block:
    marks = frozenset(draft.marks)
    if draft.block is not None and draft.block.table is not None:
        return Block(BlockKind.TABLE, "", place=draft.block.place, table=_finished(draft.block.table, marks))
    place = Place(draft.page, frames[draft.page].shown(draft.box))
    notes: tuple[tuple[int, str], ...] = ()
    if draft.kind is BlockKind.CODE:
        text = "\n".join(without_shifts(line) for line in draft.lines)
    else:
        text, notes = take_references(_plain(join_lines(draft.lines, known), marks))
    level = draft.level if draft.kind in {BlockKind.HEADING, BlockKind.LIST_ITEM} else 0
    return Block(draft.kind, text, level, place, draft.number, draft.term, notes=notes)


def _plain(text: str, marks: frozenset[str]) -> str:
    text = place_shifts(text, marks)
    for mark in marks:
        if mark[0] in _SYMBOLS:
            text = re.sub(rf"(?<=[\w.,;:)%])(?: (?=\{mark[0]}+$))?{re.escape(mark)}(?![\w*])", reference(mark), text)
    return text


def _finished(table: Table, marks: frozenset[str]) -> Table:
    rows: list[tuple[str, ...]] = []
    caption, found = take_references(_plain(table.caption, marks))
    notes = [(-1, 0, mark) for _, mark in found]
    for index, row in enumerate(table.rows):
        cells = [take_references(_plain(cell, marks)) for cell in row]
        rows.append(tuple(text for text, _ in cells))
        notes += [(index, column, mark) for column, (_, found) in enumerate(cells) for _, mark in found]
    return replace(table, rows=tuple(rows), caption=caption, notes=tuple(notes))


def _with_captions(blocks: list[Block]) -> list[Block]:
    """Give tables the captions that stand right above or below them, whichever is nearer."""
    result: list[Block] = []
    for index, block in enumerate(blocks):
        before = result[-1] if result else None
        after = blocks[index + 1] if index + 1 < len(blocks) else None
        if block.kind is BlockKind.CAPTION and is_table_caption(block.text):
            above = _distance(block, after) if after is not None and after.table is not None else None
            below = _distance(before, block) if before is not None and before.table is not None else None
            if (
                below is not None
                and before is not None
                and before.table is not None
                and not before.table.caption
                and (above is None or below < above)
            ):
                result[-1] = _captioned(before, block.text)
                continue
            if above is not None and after is not None:
                blocks[index + 1] = _captioned(after, block.text)
                continue
        if after is not None and _titles(block, after):
            blocks[index + 1] = _captioned(after, block.text)
            continue
        result.append(block)
    return result


def _titles(block: Block, after: Block) -> bool:
    """Say whether a line stands right above the middle of a table without a caption, as its title does."""
    box, below = block.place.box, after.place.box
    if block.kind is not BlockKind.PARAGRAPH or after.table is None or after.table.caption or box is None or not below:
        return False
    if block.place.page != after.place.page or len(block.text) > _TITLE_CHARS or block.text.endswith((*ENDS, ",")):
        return False
    near = 0 <= below[1] - box[3] < _TITLE_GAP * (box[3] - box[1])
    inside = box[0] > below[0] + _TITLE_SHIFT and box[2] < below[2] - _TITLE_SHIFT
    return near and inside and abs(box[0] + box[2] - below[0] - below[2]) < _TITLE_SHIFT


def _distance(upper: Block, lower: Block) -> float:
    """Return how far two blocks stand apart, in pages."""
    if upper.table is not None and upper.table.places:
        page, box = upper.table.places[-1].page, upper.table.places[-1].box
    else:
        page, box = upper.place.page, upper.place.box
    if box is None or lower.place.box is None:
        return 1.0
    return abs(lower.place.page + lower.place.box[1] - page - box[3])


def _captioned(block: Block, caption: str) -> Block:
    table = block.table
    if table is None:
        return block
    return replace(block, table=replace(table, caption=caption))
