"""Markdown (CommonMark with tables), walked as the parser's token stream."""

import re
from dataclasses import dataclass, field
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from services.common.documents.document import Block, BlockKind, Document, Table
from services.common.documents.html import read_html
from services.common.documents.text import collapse

_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\n(.*?\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE_LINE: Final = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_TASK_MARK: Final = re.compile(r"^\[[ xX]\]\s+")


@dataclass(slots=True)
class _Walk:
    """State of the walk: open lists, the item being read, the table being read."""

    blocks: list[Block] = field(default_factory=list)
    depth: int = -1
    items: list[list[str]] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)


def read_markdown(text: str) -> Document:
    """Parse Markdown; the title is the front matter's, else the first heading of level 1."""
    normal = text.replace("\r\n", "\n")
    front = _FRONT_MATTER.match(normal)
    title = ""
    if front:
        found = _TITLE_LINE.search(front.group(1))
        title = found.group(1).strip("\"' ") if found else ""
        normal = normal[front.end() :]
    tokens = MarkdownIt("commonmark").enable("table").parse(normal)
    walk = _Walk()
    for index, token in enumerate(tokens):
        _step(walk, token, tokens[index - 1] if index else None)
    first = next((block.text for block in walk.blocks if block.kind is BlockKind.HEADING and block.level == 1), "")
    return Document("text/markdown", title or first, tuple(walk.blocks))


def _step(walk: _Walk, token: Token, before: Token | None) -> None:
    kind = token.type
    if kind in {"bullet_list_open", "ordered_list_open"}:
        _flush_item(walk)
        walk.depth += 1
    elif kind in {"bullet_list_close", "ordered_list_close"}:
        walk.depth -= 1
    elif kind == "list_item_open":
        walk.items.append([])
    elif kind == "list_item_close":
        _flush_item(walk)
        walk.items.pop()
    elif kind in {"fence", "code_block"}:
        _flush_item(walk)
        _add(walk, BlockKind.CODE, token.content.strip())
    elif kind == "html_block":
        walk.blocks.extend(read_html(token.content).blocks)
    elif kind == "inline":
        _inline(walk, token, before)
    else:
        _table(walk, kind)


def _inline(walk: _Walk, token: Token, before: Token | None) -> None:
    text = collapse(_inline_text(token.children or []))
    opener = before.type if before else ""
    if opener in {"td_open", "th_open"}:
        walk.cells.append(text)
    elif opener == "heading_open" and before is not None:
        _flush_item(walk)
        _add(walk, BlockKind.HEADING, text, int(before.tag[1:]))
    elif walk.items:
        walk.items[-1].append(_TASK_MARK.sub("", text))
    else:
        _add(walk, BlockKind.PARAGRAPH, text)


def _table(walk: _Walk, kind: str) -> None:
    if kind == "table_open":
        walk.rows = []
    elif kind == "tr_open":
        walk.cells = []
    elif kind == "tr_close":
        walk.rows.append(tuple(walk.cells))
    elif kind == "table_close":
        walk.blocks.append(Block(BlockKind.TABLE, "", table=Table(tuple(walk.rows), header_rows=1)))


def _flush_item(walk: _Walk) -> None:
    """Write what the innermost open item has so far: before its nested list, or at its end."""
    if walk.items and walk.items[-1]:
        _add(walk, BlockKind.LIST_ITEM, " ".join(walk.items[-1]), max(walk.depth, 0))
        walk.items[-1].clear()


def _add(walk: _Walk, kind: BlockKind, text: str, level: int = 0) -> None:
    if text:
        walk.blocks.append(Block(kind, text, level))


def _inline_text(children: list[Token]) -> str:
    parts: list[str] = []
    for child in children:
        if child.type in {"text", "code_inline"}:
            parts.append(child.content)
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        elif child.type == "image":
            parts.append(child.content)
    return "".join(parts)
