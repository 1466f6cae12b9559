"""Levels: how deep list items are, which lines are headings by where they stand, and how high headings are."""

import itertools
from typing import Final

from services.common.documents.document import BlockKind
from services.common.documents.pdf.blocks import ENDS, Draft, Style
from services.common.documents.pdf.frame import joined_box
from services.common.documents.pdf.texts import without_shifts
from services.common.documents.wording import has_words

_NEST_EM: Final = 0.7
_FAR_EM: Final = 14.0
_FIRST: Final = frozenset({"a", "A", "i", "I", "1"})
_TERM_CHARS: Final = 70
_SIGNATURE_CHARS: Final = 240
_SIGNATURE_LINES: Final = 4
_BULLET_INDENT: Final = 0.4
_TERM_INDENT: Final = (1.2, 9.0)
_LONE_CHARS: Final = 80
_MAX_LEVEL: Final = 6
_TITLE: Final = 1.25
_TITLE_CHARS: Final = 160
_TITLE_LINES: Final = 3


def restore_initials(drafts: list[Draft]) -> None:
    """Make text again of items that begin with a capital and a full stop where no other does: ``A. Smith``."""
    letters = [draft.style == "A." for draft in drafts]
    for index, draft in enumerate(drafts):
        if letters[index] and not any(letters[max(index - 3, 0) : index] + letters[index + 1 : index + 4]):
            draft.kind, draft.lines[0] = BlockKind.PARAGRAPH, f"{draft.number} {draft.lines[0]}"
            draft.number = draft.style = ""


def set_item_levels(drafts: list[Draft]) -> None:
    """Give list items their depth: by how far their marks are indented, on a new page by how they are marked."""
    still: list[tuple[float, str]] = []
    page = 0
    for draft in drafts:
        if draft.kind is not BlockKind.LIST_ITEM:
            outside = draft.kind is BlockKind.PARAGRAPH and bool(still) and draft.box[0] <= still[0][0] + 1.0
            if draft.kind in {BlockKind.HEADING, BlockKind.TABLE} or (outside and draft.page == page):
                still = []
            continue
        if draft.stated:
            continue
        if draft.page != page and page:
            still = _moved_on(still, draft)
        page = draft.page
        left = draft.box[0]
        while still and left < still[-1][0] - _NEST_EM * draft.size:
            still.pop()
        if not still or left > still[-1][0] + _NEST_EM * draft.size:
            if still and left > still[-1][0] + _FAR_EM * draft.size:
                still = []
            still.append((left, draft.style))
        draft.level = len(still) - 1


def _moved_on(still: list[tuple[float, str]], draft: Draft) -> list[tuple[float, str]]:
    """Return the open items as they would stand on a new page whose first item is a draft."""
    styles = [style for _, style in still]
    if draft.style in styles:
        depth = styles.index(draft.style)
    elif draft.number.strip("().") in _FIRST and still:
        depth = len(still)
    else:
        return []
    step = 1.5 * draft.size
    return [(draft.box[0] - step * (depth - index), style) for index, style in enumerate(styles[: depth + 1])]


def find_definitions(drafts: list[Draft]) -> list[Draft]:
    """Make definitions of lines that stand alone with text indented below them: code at once, words when several do."""
    pairs = [index for index in range(len(drafts) - 1) if _defines(drafts[index], drafts[index + 1])]
    if not any(drafts[index].kind is BlockKind.CODE for index in pairs) and len(pairs) < 2:  # noqa: PLR2004
        return drafts
    result: list[Draft] = []
    chosen = set(pairs)
    for index, draft in enumerate(drafts):
        if index in chosen:
            continue
        if index - 1 in chosen:
            term = drafts[index - 1]
            draft.kind, draft.term = BlockKind.DEFINITION, without_shifts(term.text).strip()
            draft.box = joined_box([term.box, draft.box])
        result.append(draft)
    return result


def _defines(term: Draft, text: Draft) -> bool:
    if text.kind is not BlockKind.PARAGRAPH or not term.lines or term.page != text.page:
        return False
    word = without_shifts(term.text).strip()
    signed = word.endswith(")") and "(" in word and len(word) <= _SIGNATURE_CHARS
    if len(term.lines) != 1 and not (signed and len(term.lines) <= _SIGNATURE_LINES):
        return False
    bullet = term.kind is BlockKind.LIST_ITEM and not term.number
    plain = (bullet or term.kind is BlockKind.PARAGRAPH) and not word.endswith(ENDS)
    plain = plain and (len(word) <= _TERM_CHARS or signed)
    if not (plain or term.kind is BlockKind.CODE):
        return False
    indent = text.box[0] - term.box[0]
    close = text.box[1] - term.box[3] < 1.2 * text.size
    least = _BULLET_INDENT if bullet else _TERM_INDENT[0]
    return least * text.size < indent < _TERM_INDENT[1] * text.size and close


def find_plain_headings(drafts: list[Draft]) -> None:
    """Make headings of short lines that stand alone before text, in a document that is set in one size and weight."""
    if any(draft.kind is BlockKind.HEADING for draft in drafts):
        return
    for index, (draft, after) in enumerate(itertools.pairwise(drafts)):
        before = drafts[index - 1] if index else None
        text = without_shifts(draft.text)
        alone = draft.kind is BlockKind.PARAGRAPH and len(draft.lines) == 1 and len(text) <= _LONE_CHARS
        ended = before is None or before.page != draft.page or without_shifts(before.text).endswith(ENDS)
        follows = after.page == draft.page and after.kind is BlockKind.PARAGRAPH and len(after.text) > 2 * len(text)
        if alone and ended and follows and text[:1].isupper() and not text.endswith((*ENDS, ",")):
            draft.kind = BlockKind.HEADING


def find_untagged_headings(drafts: list[Draft], body: Style) -> None:
    """Make headings of what a tagged page calls text though it is set as a heading.

    It is larger than the text; or bold, on one line, where no element of the page is tagged as a heading.
    """
    tagged = any(draft.kind is BlockKind.HEADING for draft in drafts)
    for draft, after in itertools.pairwise(drafts):
        text = without_shifts(draft.text)
        if draft.kind is not BlockKind.PARAGRAPH or len(text) > _TITLE_CHARS or text.endswith((*ENDS, ",")):
            continue
        large = draft.size >= _TITLE * body.size and len(draft.lines) <= _TITLE_LINES
        bold = draft.bold and not body.bold and len(draft.lines) == 1 and len(text) <= _LONE_CHARS
        follows = after.page == draft.page and after.kind is not BlockKind.TABLE
        if has_words(text) and (large or (bold and follows and not tagged and not after.bold)):
            draft.kind = BlockKind.HEADING


def set_heading_levels(drafts: list[Draft]) -> None:
    """Give headings their level: by size over the document, then by weight; numbers tell more of equal ones."""
    headings = [draft for draft in drafts if draft.kind is BlockKind.HEADING and not draft.stated]
    looks = sorted({_look(draft) for draft in headings}, reverse=True)
    ranks = {look: min(index + 1, _MAX_LEVEL) for index, look in enumerate(looks)}
    for draft in headings:
        draft.level = ranks[_look(draft)]


def _look(draft: Draft) -> tuple[float, bool]:
    return round(draft.size * 2) / 2, draft.bold
