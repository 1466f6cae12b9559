"""What goes on beyond the end of a column or page: paragraphs, list items, tables with a repeated head."""

import re
from dataclasses import replace
from typing import Final

from services.common.documents.document import Block, BlockKind, Table
from services.common.documents.pdf.blocks import Draft
from services.common.documents.pdf.texts import without_shifts

_CLOSED: Final = (".", "!", "?", ":", ";", "\u2026", ".)", '."', ".\u201d", ".\u00bb")
_NOTICE: Final = re.compile(
    r"[\W_]*(?:\w+\s+){0,3}(?:continue[sd]|cont\.|fortsetzung|fortgesetzt|suite|contin\u00faa|continua|segue|vervolg)\b(?:\s+\S+){0,5}",
    re.IGNORECASE,
)
NOTICE_CHARS: Final = 60
_FOOT_TEXTS: Final = 2
_PASSED: Final = frozenset({BlockKind.FOOTNOTE, BlockKind.CAPTION, BlockKind.TABLE})
_RUNNING: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM})


def join_running_on(drafts: list[Draft]) -> list[Draft]:
    """Join a paragraph that a column or page ends in the middle of with its rest."""
    result: list[Draft] = []
    for draft in drafts:
        open_one = _open(result, draft)
        if open_one is not None:
            open_one.lines += draft.lines
            open_one.marks += draft.marks
            open_one.ends_column, open_one.reaches = draft.ends_column, draft.reaches
        else:
            result.append(draft)
    return result


def _open(before: list[Draft], draft: Draft) -> Draft | None:
    """Return the paragraph that a draft goes on with."""
    if draft.kind is not BlockKind.PARAGRAPH or not draft.lines:
        return None
    for one in before[: -12 - 1 : -1]:
        if one.kind in _RUNNING:
            return one if _goes_on_with(one, draft) else None
        if one.kind not in _PASSED:
            return None
    return None


def _goes_on_with(one: Draft, draft: Draft) -> bool:
    """Say whether a draft is the rest of what a column ended in the middle of."""
    if not one.ends_column or abs(one.size - draft.size) > 0.08 * draft.size or draft.page - one.page > 1:
        return False
    if draft.page == one.page and draft.box[1] > one.box[3] - draft.size and draft.box[0] < one.box[2]:
        return False  # it stands below, after something else
    end, start = without_shifts(one.lines[-1]).rstrip(), without_shifts(draft.lines[0])
    if end.endswith(_CLOSED):
        return False
    full = draft.bold == one.bold and one.reaches and len(one.lines) > 1 and one.kind is BlockKind.PARAGRAPH
    return full or start[:1].islower() or start[:1].isdigit() or end.endswith(("-", ",", "\u2013"))


def join_tables(blocks: list[Block]) -> tuple[list[Block], list[str]]:
    """Join a table that a page ends with its rest on the next one; a head that is repeated is left out.

    Lines that only say that the table goes on are returned apart.
    """
    result: list[Block] = []
    notices: list[str] = []
    for block in blocks:
        at = _table_before(result)
        before = result[at] if at is not None else None
        if (
            before is not None
            and at is not None
            and block.table is not None
            and before.table is not None
            and _table_goes_on(before, block, before.table, block.table, between=result[at + 1 :])
        ):
            rest = result[at + 1 :]
            titles = [one.text for one in rest if one.kind is BlockKind.HEADING]
            table = _joined(_with_group(before.table, titles[0]) if titles else before.table, block.table)
            notes = [
                one
                for one in rest
                if one.kind is BlockKind.FOOTNOTE or (one.kind is BlockKind.PARAGRAPH and not _is_passed(one))
            ]
            notices += [one.text for one in rest if one.kind is BlockKind.PARAGRAPH and _is_passed(one)]
            result[at:] = [Block(BlockKind.TABLE, "", place=before.place, table=table), *notes]
        else:
            result.append(block)
    return result, notices


def _table_before(blocks: list[Block]) -> int | None:
    for index in range(len(blocks) - 1, max(len(blocks) - 8, -1), -1):
        if blocks[index].kind is BlockKind.TABLE:
            return index
        if not _is_passed(blocks[index]) and blocks[index].kind not in {BlockKind.PARAGRAPH, BlockKind.HEADING}:
            return None
    return None


def _is_passed(block: Block) -> bool:
    """Say whether a block stands between the parts of a table without ending it."""
    return block.kind in {BlockKind.FOOTNOTE, BlockKind.CAPTION} or _is_notice(block)


def _is_notice(block: Block) -> bool:
    """Say whether a line only tells that a table goes on: ``continued on the next page``."""
    short = block.kind is BlockKind.PARAGRAPH and len(block.text) <= NOTICE_CHARS
    return short and _NOTICE.fullmatch(block.text) is not None


def _table_goes_on(before: Block, block: Block, one: Table, other: Table, *, between: list[Block]) -> bool:
    last = one.places[-1].page if one.places else before.place.page
    if block.place.page != last + 1 or len(one.rows[0]) != len(other.rows[0]):
        return False
    texts = [block for block in between if not _is_passed(block)]
    same = one.rows[: one.header_rows or 1] == other.rows[: other.header_rows]
    if texts and not (same and _are_below(texts, last) and _are_of_table(texts, one)):
        return False
    if any(block.kind is BlockKind.CAPTION and "cont" not in block.text.lower() for block in between):
        return False
    repeated = one.rows[: one.header_rows] == other.rows[: one.header_rows] and one.header_rows > 0
    if other.caption and not repeated and "cont" not in other.caption.lower() and "fort" not in other.caption.lower():
        return False
    if repeated:
        return True
    box, after = before.place.box, block.place.box
    near = box is None or after is None or (abs(box[0] - after[0]) < 0.03 and abs(box[2] - after[2]) < 0.06)  # noqa: PLR2004
    return near and (other.header_rows == 0 or one.header_rows == 0 or not _is_head(other))


def _are_of_table(texts: list[Block], table: Table) -> bool:
    """Say whether lines below a table leave it open: none is a heading, but the first where groups of it have such."""
    headings = [block.kind is BlockKind.HEADING for block in texts]
    return not any(headings[1:]) and (not headings[0] or _has_groups(table))


def _has_groups(table: Table) -> bool:
    """Say whether lines that cover all columns head groups of a table's rows."""
    width = len(table.rows[0])
    return width > 1 and any(row[0] and len(set(row)) == 1 for row in table.rows[table.header_rows :])


def _with_group(table: Table, title: str) -> Table:
    """Return a table with the heading of a group as its last row, which the rows of the next page stand below."""
    width, at = len(table.rows[0]), len(table.rows)
    spanned = table.spanned | {(at, column) for column in range(1, width)}
    return replace(
        table, rows=(*table.rows, (title,) * width), spanned=spanned, places=(*table.places, *table.places[-1:])
    )


def _are_below(texts: list[Block], page: int) -> bool:
    """Say whether a few lines stand at the foot of the page on which the first part of a table ends."""
    return len(texts) <= _FOOT_TEXTS and all(text.place.page == page for text in texts)


def _is_head(table: Table) -> bool:
    """Say whether the first row is a head of its own rather than only taken for one: no number anywhere in it."""
    return not any(character.isdigit() for text in table.rows[0] for character in text)


def _joined(one: Table, other: Table) -> Table:
    skip = one.header_rows if one.rows[: one.header_rows] == other.rows[: one.header_rows] else 0
    rows = list(other.rows[skip:])
    shift = len(one.rows) - skip
    spanned = one.spanned | {(row + shift, column) for row, column in other.spanned if row >= skip}
    notes = tuple((row + shift, column, mark) for row, column, mark in other.notes if row >= skip)
    return Table(
        (*one.rows, *rows),
        one.header_rows,
        one.header_columns or other.header_columns,
        one.caption or other.caption,
        frozenset(spanned),
        (*one.places, *other.places[skip:]),
        one.doubtful or other.doubtful,
        (*one.notes, *notes),
    )
