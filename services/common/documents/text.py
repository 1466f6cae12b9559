"""Plain text: paragraphs are separated by blank lines, list items begin with a bullet or a number."""

import re
from typing import Final

from services.common.documents.document import Block, BlockKind, Document, Place

_BLANK_LINES: Final = re.compile(r"\n[ \t]*\n\s*")
_ITEM: Final = re.compile(r"^(\s*)(?:[-*\u2022\u25aa\u2023\u2013]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)])\s+(?=\S)")
_INDENT_CHARS: Final = 2


def collapse(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def read_text(text: str) -> Document:
    """Parse plain text; the place of a block is its paragraph's number."""
    blocks: list[Block] = []
    normal = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    paragraphs = [part for part in _BLANK_LINES.split(normal) if part.strip()]
    for number, paragraph in enumerate(paragraphs, start=1):
        blocks.extend(lines_to_blocks(paragraph.split("\n"), Place(path=f"paragraph {number}")))
    return Document("text/plain", "", tuple(blocks))


def lines_to_blocks(lines: list[str], place: Place) -> list[Block]:
    """Return the paragraph and list items that consecutive lines make; a line without a mark continues its block."""
    blocks: list[Block] = []
    texts: list[str] = []
    number = ""
    kind, level = BlockKind.PARAGRAPH, 0

    def close() -> None:
        joined = collapse(" ".join(texts))
        if joined:
            blocks.append(Block(kind, joined, level, place, number))
        texts.clear()

    for line in lines:
        match = _ITEM.match(line)
        if match:
            close()
            kind, level = BlockKind.LIST_ITEM, len(match.group(1).expandtabs(4)) // _INDENT_CHARS
            mark = match.group().strip()
            number = mark if mark[-1] in ".)" else ""
            texts.append(line[match.end() :])
        else:
            texts.append(line)
    close()
    return blocks
