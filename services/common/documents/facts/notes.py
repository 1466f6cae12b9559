"""Footnotes said where they are referred to: a footnote joins the sentence, item or cell that has its mark."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from services.common.documents.document import Block, BlockKind

_MAX_CHARS: Final = 300
"""A longer footnote stands as a fact of its own."""


class NoteTexts:
    """Finds the footnote that a mark refers to: the next one so marked, else the last one before.

    Args:
        blocks: of the document.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._at: dict[str, list[int]] = {}
        for index, block in enumerate(blocks):
            if block.kind is BlockKind.FOOTNOTE:
                self._at.setdefault(block.number, []).append(index)
        self.told: set[int] = set()
        """Footnotes that were joined to a text, by block."""

    def text(self, mark: str, index: int) -> str:
        """Return the footnote that a mark in the block ``index`` refers to; empty where there is none or it is long."""
        places = self._at.get(mark)
        if not places:
            return ""
        found = places[min(bisect_left(places, index), len(places) - 1)]
        note = self._blocks[found].text
        if len(note) > _MAX_CHARS:
            return ""
        self.told.add(found)
        return note

    def joined(self, block: Block, index: int, sentences: Sequence[str]) -> list[str]:
        """Return the sentences of a block, each with the footnotes that it refers to."""
        if not block.notes:
            return list(sentences)
        result: list[str] = []
        waiting = list(block.notes)
        end = 0
        for number, sentence in enumerate(sentences):
            end = block.text.find(sentence, end) + len(sentence)
            last = number == len(sentences) - 1
            here = [mark for at, mark in waiting if at <= end or last]
            waiting = [(at, mark) for at, mark in waiting if at > end and not last]
            told = [text for mark in here if (text := self.text(mark, index))]
            result.append(
                f"{sentence} ({'; '.join(dict.fromkeys(text.rstrip('.') for text in told))})" if told else sentence
            )
        return result
