"""Footnotes that are marked by signs in the text alone: ``12 EUR*`` above and ``* net of tax`` below."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from services.common.documents.document import Block, BlockKind, Table

_OWN_MARK: Final = re.compile(r"[\[(]?([*\u2020\u2021]{1,3}|\d{1,2}(?=[\])])|[a-z](?=[\])]))[\])]?+\s*+(?=\S)")
_SIGN: Final = re.compile(r"(?<=[\w)%\u20ac$\u00a3\u201d\"'.])\s?([*\u2020\u2021]{1,3})(?=[\s.,;:!?)]|$)")
_SIGNS: Final = frozenset("*\u2020\u2021")


def settle_notes(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the blocks with paragraphs that are footnotes called so, and with the signs in the text taken as notes."""
    referred = {mark for block in blocks for mark in _marks_of(block)}
    seen = {mark for block in blocks for text in _texts(block) for mark in _SIGN.findall(text)}
    own: set[str] = set()
    found: list[Block] = []
    for block in blocks:
        match = _OWN_MARK.match(block.text) if block.kind is BlockKind.PARAGRAPH else None
        if match and (match[1] in referred or (match[1][0] in _SIGNS and match[1] in seen)):
            own.add(match[1])
            block = replace(  # noqa: PLW2901
                block, kind=BlockKind.FOOTNOTE, number=match[1], text=block.text[match.end() :], notes=()
            )
        found.append(block)
    signs = frozenset(mark for mark in own if mark[0] in _SIGNS)
    return tuple(_with_signs(block, signs) for block in found) if signs & seen else tuple(found)


def _marks_of(block: Block) -> list[str]:
    marks = [mark for _, mark in block.notes]
    return marks if block.table is None else marks + [mark for _, _, mark in block.table.notes]


def _texts(block: Block) -> list[str]:
    if block.kind is BlockKind.CODE:
        return []
    table = [] if block.table is None else [block.table.caption, *(cell for row in block.table.rows for cell in row)]
    return [block.text, *table]


def _with_signs(block: Block, signs: frozenset[str]) -> Block:
    if block.kind is BlockKind.CODE:
        return block
    text, notes = _take_signs(block.text, signs)
    if notes:
        block = replace(block, text=text, notes=(*block.notes, *notes))
    if block.table is not None:
        return replace(block, table=_table_with_signs(block.table, signs))
    return block


def _table_with_signs(table: Table, signs: frozenset[str]) -> Table:
    notes = list(table.notes)
    caption, found = _take_signs(table.caption, signs)
    notes += [(-1, 0, mark) for _, mark in found]
    rows: list[tuple[str, ...]] = []
    for index, row in enumerate(table.rows):
        cells: list[str] = []
        for column, cell in enumerate(row):
            text, found = _take_signs(cell, signs)
            notes += [(index, column, mark) for _, mark in found]
            cells.append(text)
        rows.append(tuple(cells))
    return replace(table, rows=tuple(rows), caption=caption, notes=tuple(notes)) if notes else table


def _take_signs(text: str, signs: frozenset[str]) -> tuple[str, list[tuple[int, str]]]:
    if not any(sign in text for sign in _SIGNS):
        return text, []
    parts: list[str] = []
    notes: list[tuple[int, str]] = []
    start = size = 0
    for match in _SIGN.finditer(text):
        if match[1] not in signs:
            continue
        piece = text[start : match.start()]
        parts.append(piece)
        size += len(piece)
        notes.append((size, match[1]))
        start = match.end()
    return "".join([*parts, text[start:]]), notes
