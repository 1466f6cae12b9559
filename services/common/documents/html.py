"""HTML, walked without recursion: text is gathered until a block element begins or ends."""

import re
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from services.common.documents.attributes import most_attributes
from services.common.documents.document import Block, BlockKind, Document, Table
from services.common.documents.limits import require_at_most
from services.common.documents.text import collapse

_DROPPED: Final = ("script", "style", "noscript", "template", "nav", "svg", "iframe", "form", "button", "head")
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS: Final = frozenset(
    {
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "dd",
            "details",
            "dialog",
            "div",
            "dl",
            "dt",
            "fieldset",
        ),
        *(
            "figcaption",
            "figure",
            "footer",
            "header",
            "hr",
            "html",
            "li",
            "main",
            "ol",
            "p",
            "pre",
            "section",
            "summary",
        ),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "caption", *_HEADINGS),
    }
)
MAX_DEPTH: Final = 2_000
MAX_ATTRIBUTES: Final = 4_096
"""Of one element: the parser compares each with all others, and takes 20 ms for so many."""
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_OFTEN_OPEN: Final = frozenset(
    {
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"),
        *("html", "head", "body", "p", "li", "dt", "dd", "option", "optgroup", "rb", "rt", "rtc", "rp"),
        *("thead", "tbody", "tfoot", "tr", "td", "th", "colgroup", "caption"),
    }
)
_LISTS: Final = frozenset({"ul", "ol"})
_CELLS: Final = frozenset({"td", "th"})
_MARKS: Final = frozenset({*_HEADINGS, "li", "pre"})
"""Elements that decide what kind of block the text inside them is."""


@dataclass(slots=True)
class _Row:
    cells: list[str] = field(default_factory=list)
    headers: int = 0


@dataclass(slots=True)
class _Walk:
    blocks: list[Block] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    """Those of ``_MARKS`` that are open, outermost first; no list of all tags, which would have to be searched."""
    lists: int = 0
    """How many lists are open."""
    table: list[tuple[str, ...]] = field(default_factory=list)
    header_rows: int = 0
    row: _Row | None = None


def read_html(text: str) -> Document:
    """Parse HTML; navigation, scripts, styles and forms are left out.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE: elements nest deeper, or one has more attributes, than in any document
            that people write.
    """
    require_at_most("nested elements", _depth(text), MAX_DEPTH)
    require_at_most("attributes of one element", most_attributes(text, MAX_ATTRIBUTES), MAX_ATTRIBUTES)
    tree = LexborHTMLParser(text)
    title_node = tree.css_first("title")
    title = collapse(title_node.text()) if title_node else ""
    tree.strip_tags(list(_DROPPED))
    walk = _Walk()
    root = tree.body
    if root is not None:
        _traverse(walk, root)
    first = next((block.text for block in walk.blocks if block.kind is BlockKind.HEADING and block.level == 1), "")
    return Document("text/html", title or first, tuple(walk.blocks))


def _depth(text: str) -> int:
    """Return how deep the tags nest, at most, in one pass: the parser's time grows with the square of it.

    Tags that HTML lets people leave open, or that never close, do not count.
    """
    depth = deepest = 0
    for match in _TAG.finditer(text):
        if match[2].lower() in _OFTEN_OPEN:
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _traverse(walk: _Walk, root: LexborNode) -> None:
    """Visit every node before and after its children, with a stack of our own: depth is the document's to choose."""
    stack: list[tuple[LexborNode, bool]] = [(root, False)]
    while stack:
        node, leaving = stack.pop()
        tag = node.tag or ""
        if tag == "-text":
            walk.texts.append(node.text_content or "")
            continue
        if leaving:
            _leave(walk, tag)
            continue
        _enter(walk, tag)
        stack.append((node, True))
        children: list[LexborNode] = []
        child = node.child
        while child is not None:
            children.append(child)
            child = child.next
        stack.extend((child, False) for child in reversed(children))
    _flush(walk)


def _enter(walk: _Walk, tag: str) -> None:
    if tag == "br":
        walk.texts.append(" ")
    if tag not in _BLOCK_TAGS:
        return
    if tag not in _CELLS:
        _flush(walk)
    if tag == "table":
        _close_table(walk)
    elif tag == "tr":
        walk.row = _Row()
    elif tag in _CELLS:
        walk.texts.clear()
    walk.lists += tag in _LISTS
    if tag in _MARKS:
        walk.marks.append(tag)


def _leave(walk: _Walk, tag: str) -> None:
    if tag not in _BLOCK_TAGS:
        return
    if tag in _CELLS and walk.row is not None:
        walk.row.cells.append(collapse("".join(walk.texts)))
        walk.row.headers += tag == "th"
        walk.texts.clear()
    elif tag == "tr":
        _close_row(walk)
    else:
        _flush(walk)
    if tag == "table":
        _close_table(walk)
    walk.lists -= tag in _LISTS
    if tag in _MARKS:
        walk.marks.pop()


def _close_row(walk: _Walk) -> None:
    row, walk.row = walk.row, None
    if row is None or not row.cells:
        return
    if row.headers == len(row.cells):
        _close_table(walk)
        walk.header_rows = 1
    walk.table.append(tuple(row.cells))


def _close_table(walk: _Walk) -> None:
    """Make a block of the rows gathered so far; rows that are shorter are filled."""
    width = max((len(row) for row in walk.table), default=0)
    rows = tuple((*row, *[""] * (width - len(row))) for row in walk.table)
    if rows:
        walk.blocks.append(Block(BlockKind.TABLE, "", table=Table(rows, walk.header_rows)))
    walk.table, walk.header_rows = [], 0


def _flush(walk: _Walk) -> None:
    """Make a block of the text gathered so far; inside a table cell text goes on gathering."""
    if walk.row is not None:
        walk.texts.append(" ")
        return
    raw = "".join(walk.texts)
    walk.texts.clear()
    text = collapse(raw)
    if not text:
        return
    innermost = walk.marks[-1] if walk.marks else ""
    if innermost in _HEADINGS:
        walk.blocks.append(Block(BlockKind.HEADING, text, _HEADINGS[innermost]))
    elif innermost == "li":
        walk.blocks.append(Block(BlockKind.LIST_ITEM, text, max(walk.lists - 1, 0)))
    elif innermost == "pre":
        walk.blocks.append(Block(BlockKind.CODE, raw.strip()))
    else:
        walk.blocks.append(Block(BlockKind.PARAGRAPH, text))
