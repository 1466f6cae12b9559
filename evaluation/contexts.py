"""The context of a labelled claim as a document, and the calibrated cosines of one that it bears out (ADR 0012)."""

from collections.abc import Sequence
from typing import Final

from services.common.documents.document import Block, BlockKind, Document

GROUNDED: Final = 0.75
PARTIAL: Final = 0.60


def document(context: Sequence[str]) -> Document:
    """Return a context's passages as the paragraphs of a plain text."""
    paragraphs = [" ".join(part.split()) for text in context for part in text.split("\n\n")]
    return Document("text/plain", "", tuple(Block(BlockKind.PARAGRAPH, text) for text in paragraphs if text))
