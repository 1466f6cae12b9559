"""Facts of a table: what stands before each row, and long rows in pieces."""

from collections.abc import Sequence
from typing import Final

from services.common.documents.facts.headings import Headings
from services.common.documents.facts.leaning import CountTokens
from services.common.documents.facts.rows import RowText
from services.common.documents.facts.titles import content_words

ROW_TOKENS: Final = 256
"""A longer row is cut between its cells, and its head said again."""
_CONTEXT_TOKENS: Final = 64
"""A longer context loses what is farthest from the table."""


def pieces_of(row: RowText, count: CountTokens) -> list[str]:
    """Return a row as one text, or as several that begin with its head where it is long."""
    whole = "; ".join(row.parts)
    if count(whole) <= ROW_TOKENS:
        return [whole]
    head, rest = row.parts[: row.heads], row.parts[row.heads :]
    room = ROW_TOKENS - sum(map(count, head))
    if not rest or room < ROW_TOKENS // 2:
        return [whole]
    pieces: list[list[str]] = [[]]
    size = 0
    for part in rest:
        tokens = count(part)
        if pieces[-1] and size + tokens > room:
            pieces.append([])
            size = 0
        pieces[-1].append(part)
        size += tokens
    return ["; ".join((*head, *piece)) for piece in pieces]


def table_context(
    caption: str, notes: Sequence[str], near: Sequence[str], headings: Headings, count: CountTokens
) -> str:
    """Return what a row needs to be read alone: cells are short, so document, section and caption are named.

    Args:
        caption: the table's.
        notes: footnotes of the caption.
        near: what stands before the table, the nearest last.
        headings: above it.
        count: tokens of a text.
    """
    said = f"{caption} ({'; '.join(note.rstrip('.') for note in notes)})" if notes else caption
    names = [headings.document, headings.title if headings.has_title else "", *near, said]
    kept: list[str] = []
    for name in reversed(names):
        words = content_words(name)
        if name and name not in kept and not (kept and words and words <= content_words(" ".join(kept))):
            kept.insert(0, name)
    while len(kept) > 1 and count(" ".join(kept)) > _CONTEXT_TOKENS:
        kept.pop(0)
    return ", ".join(part.rstrip(":") if part is not kept[-1] else part for part in kept)
