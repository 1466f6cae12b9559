"""The context of a labelled claim as a document, and the calibrated cosines of one that it bears out (ADR 0012)."""

from collections.abc import Sequence
from typing import Final

from services.common.documents.document import Block, BlockKind, Document

GROUNDED: Final = 0.75
PARTIAL: Final = 0.60
PAGES: Final = frozenset({"wice"})
"""Sets whose context is one page, line by line; in the others each text is a passage of its own."""


def sources(dataset: str, context: Sequence[str]) -> tuple[str, ...]:
    """Return a context as the sources that somebody has who holds a claim against it: a page is one."""
    return ("\n".join(context),) if dataset in PAGES else tuple(context)


def document(context: Sequence[str]) -> Document:
    """Return a context's passages as the paragraphs of a plain text."""
    paragraphs = [" ".join(part.split()) for text in context for part in text.split("\n\n")]
    return Document("text/plain", "", tuple(Block(BlockKind.PARAGRAPH, text) for text in paragraphs if text))
