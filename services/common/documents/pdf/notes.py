"""Footnotes: small print at the foot of a page or under a table that begins with a mark which the text carries."""

import re
from typing import Final

from services.common.documents.document import BlockKind
from services.common.documents.pdf.blocks import Draft, Style
from services.common.documents.pdf.lines import END_OF_SHIFT, SUPERSCRIPT

_RAISED: Final = re.compile(f"^{SUPERSCRIPT}([^{END_OF_SHIFT}]{{1,4}}){END_OF_SHIFT}\\s*")
_PLAIN: Final = re.compile(
    r"^(\d{1,3}|[*\u2020\u2021\u00a7\u00b6]{1,3}|[a-z])(?:[.)]\s+|\s+|(?<=[*\u2020\u2021])(?=\w))(?=\S)"
)
_BRACKETED: Final = re.compile(r"^(\[\d{1,3}\]|\(\d{1,2}\))\s+(?=\S)")
_SMALLER: Final = 0.94
_REFERENCE: Final = re.compile(f"{SUPERSCRIPT}([^{SUPERSCRIPT}-{END_OF_SHIFT}]+){END_OF_SHIFT}")
_SYMBOLS: Final = "*\u2020\u2021\u00a7\u00b6"


def find_notes(drafts: list[Draft], body: Style) -> frozenset[str]:
    """Make footnotes of the drafts of one page that are some; return their marks."""
    references = {
        mark.strip()
        for draft in drafts
        for line in _texts(draft)
        for found in _REFERENCE.findall(line)
        for mark in (found, *re.split(r"[,\s]+", found))
    }
    symbols = {character for draft in drafts for line in _texts(draft) for character in line if character in _SYMBOLS}
    marks: set[str] = set()
    for draft in drafts:
        if draft.kind is BlockKind.FOOTNOTE and draft.number:
            marks.add(draft.number)  # the file itself says so
        if draft.kind not in {BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.HEADING} or not draft.lines:
            continue
        small = draft.size <= _SMALLER * body.size
        raised = _RAISED.match(draft.lines[0])
        if raised is not None and draft.kind is not BlockKind.HEADING:
            mark, end = raised[1].strip(), raised.end()
        else:
            mark, end = _plain_mark(draft, references, symbols, small=small)
        if not mark:
            continue
        marks.add(mark)
        draft.lines[0] = draft.lines[0][end:]
        draft.kind, draft.number, draft.level = BlockKind.FOOTNOTE, mark, 0
    return frozenset(marks)


def _texts(draft: Draft) -> list[str]:
    table = draft.block.table if draft.block is not None else None
    return draft.lines if table is None else [cell for row in table.rows for cell in row]


def _plain_mark(draft: Draft, references: set[str], symbols: set[str], *, small: bool) -> tuple[str, int]:
    if not small:
        return "", 0
    if draft.kind is BlockKind.LIST_ITEM:
        mark = draft.number.strip("().[]") or draft.style
        return (mark, 0) if mark in references or (mark in set(_SYMBOLS) and mark in symbols) else ("", 0)
    match = _PLAIN.match(draft.lines[0])
    if match is not None and (match[1] in references or (match[1][0] in _SYMBOLS and match[1][0] in symbols)):
        return match[1], match.end()
    return "", 0
