"""HTML: what a person sees of a page, in the order in which it is read (ADR 0106).

Hidden text and furniture go apart, tables become grids, raised figures stay what they are, footnotes keep their place.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from services.common.documents.document import Block, BlockKind, Document, HiddenText, first_heading
from services.common.documents.html.attributes import most_attributes
from services.common.documents.html.elements import PageWalk
from services.common.documents.html.furniture import without_feet
from services.common.documents.html.note_marks import NoteMarks
from services.common.documents.html.signs import settle_notes
from services.common.documents.html.styles import Styles
from services.common.documents.limits import require_at_most
from services.common.documents.wording import collapse, language_code

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
_CAPTION: Final = re.compile(
    r"(?:table|tabelle|tab\.|tableau|tabla|tabella|tabel|tabela)\s*(?:[A-Z]?\d+(?:[.-]\d+)*|[IVX]+)?\s*"
    r"(?:[:\u2013\u2014]\s*|[.-]\s+)(?=\S)",
    re.IGNORECASE,
)
_NUMBERLESS: Final = re.compile(r"table\s*:\s*", re.IGNORECASE)
_MAX_CAPTION_CHARS: Final = 200
_MAX_PROPERTIES: Final = 50
_MAX_PROPERTY_CHARS: Final = 500
_UNTOLD: Final = frozenset({"viewport", "generator", "robots", "theme-color", "format-detection", "referrer"})
_VALIDITY: Final = re.compile(r"(start|end)\s*=\s*([\d-]{4,10})")


def read_html(text: str) -> Document:
    """Parse HTML.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE: elements nest deeper, or one has more attributes, than in any document
            that people write.
    """
    require_at_most("nested elements", _depth(text), MAX_DEPTH)
    require_at_most("attributes of one element", most_attributes(text, MAX_ATTRIBUTES), MAX_ATTRIBUTES)
    tree = LexborHTMLParser(text)
    title_node = tree.css_first("head > title") or tree.css_first("title")
    title = collapse(title_node.text()) if title_node else ""
    walk = PageWalk(Styles(tree), NoteMarks(tree))
    root = tree.root
    walk.language = language_code(root.attributes.get("lang") if root is not None else "")
    if tree.body is not None:
        walk.walk(tree.body)
    blocks, feet = without_feet(settle_notes(_with_captions(walk.sink.blocks)))
    furniture = [*walk.furniture, *(block.text for block in feet)]
    return Document(
        "text/html",
        title or first_heading(blocks, 1),
        tuple(blocks),
        hidden=_distinct(walk.hidden),
        furniture=tuple(dict.fromkeys(furniture)),
        language=walk.language,
        properties=_properties(tree),
    )


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


def _with_captions(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with a line such as ``Table 3: Rates`` before or after a table as its caption."""
    found: list[Block] = []
    for block in blocks:
        last = found[-1] if found else None
        if block.table is not None and not block.table.caption and last is not None and _is_caption(last):
            found[-1] = replace(block, table=replace(block.table, caption=_NUMBERLESS.sub("", last.text, count=1)))
        elif _is_caption(block) and last is not None and last.table is not None and not last.table.caption:
            found[-1] = replace(last, table=replace(last.table, caption=_NUMBERLESS.sub("", block.text, count=1)))
        else:
            found.append(block)
    return found


def _is_caption(block: Block) -> bool:
    short = block.kind in {BlockKind.PARAGRAPH, BlockKind.CAPTION} and len(block.text) <= _MAX_CAPTION_CHARS
    return short and bool(_CAPTION.match(block.text))


def _distinct(hidden: Sequence[HiddenText]) -> tuple[HiddenText, ...]:
    return tuple({(one.text, one.why): one for one in hidden}.values())


def _properties(tree: LexborHTMLParser) -> dict[str, str]:
    """Return what the page's head says of it."""
    found: dict[str, str] = {}
    for meta in tree.css("head > meta[content]"):
        attributes = meta.attributes
        name = (attributes.get("name") or attributes.get("property") or "").strip().lower()
        content = collapse(attributes.get("content") or "")[:_MAX_PROPERTY_CHARS]
        if name and content and name not in _UNTOLD and len(found) < _MAX_PROPERTIES:
            found.setdefault(name, content)
            if name in {"dcterms.valid", "dc.date.valid", "valid"}:
                found |= {
                    "valid_from" if bound == "start" else "valid_to": day for bound, day in _VALIDITY.findall(content)
                }
    return found
