"""Which marks of a page refer to footnotes, found before it is walked."""

import re
from collections.abc import Mapping
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from services.common.documents.wording import collapse

_MARK: Final = re.compile(r"[\[(]?\s*([\w*\u2020\u2021\u00a7\u00b6#]{1,4})\s*[\])]?\.?")
_PLAIN_MARK: Final = re.compile(
    r"\s*(?:[\[(]([*\u2020\u2021]{1,3}|\d{1,2}|[a-z])[\])]|([*\u2020\u2021]{1,3}|\d{1,2}(?=\))|[a-z](?=\))))\)?\s*"
)
_REFERENCES: Final = ("footnote", "noteref", "fnref", "reference", "citation", "footnote-ref")
_BACK: Final = re.compile(
    r"[\u21a9\u2191\u2934\u23ce\u21d1\ufe0e\ufe0f^\s]+\d{0,2}|back|zur\u00fcck|retour", re.IGNORECASE
)
_FIRST_STEPS: Final = 6


class NoteMarks:
    """The footnotes of a page.

    Attributes:
        marks: that stand before a footnote's text.
        raised: those of them that no link refers to: raised text alone may.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._by_target: dict[str, str] = {}
        own: set[str] = set()
        for link in tree.css(
            "sup a[href^='#'], a.footnote-ref, a.footnote-reference, a.noteref, a[role~='doc-noteref']"
        ):
            self._learn(link)
        for link in tree.css("a[href^='#'] > sup"):
            if link.parent is not None:
                self._learn(link.parent)
        marks = set(self._by_target.values())
        for raised in tree.css("sup"):
            if _opens_its_block(raised):
                own.add(collapse(raised.text(deep=True)).strip("()[] ."))
        for node in tree.css("p, li, small, div, td"):
            mark = _plain_mark(node)
            if mark:
                own.add(mark)
        self.marks = frozenset(one for one in marks | own if one)
        self.raised = frozenset(one for one in own - marks if one)

    def _learn(self, link: LexborNode) -> None:
        href = link.attributes.get("href") or ""
        found = _MARK.fullmatch(collapse(link.text(deep=True)))
        if href.startswith("#") and found and len(href) > 1:
            self._by_target.setdefault(href[1:], found[1])

    def mark_of(self, name: str) -> str:
        """Return the mark by which an anchor's footnote is referred to; empty when it is none."""
        return self._by_target.get(name, "")

    def is_reference(self, node: LexborNode) -> bool:
        """Say whether a link to a footnote shows its mark, and no words."""
        return bool(_MARK.fullmatch(collapse(node.text(deep=True))))

    def is_back_link(self, node: LexborNode, attributes: Mapping[str, str | None], href: str) -> bool:
        """Say whether a link leads from a footnote to where it is referred to."""
        if href.startswith("#") and _BACK.fullmatch(collapse(node.text(deep=True))):
            return True
        names = f"{attributes.get('class') or ''} {attributes.get('role') or ''} {attributes.get('rev') or ''}".lower()
        return (
            "backref" in names
            or "backlink" in names
            or "doc-backlink" in names
            or href.startswith(("#fnref", "#cite_ref", "#footnote-ref", "#footnoteref", "#ref-fn", "#back"))
        )

    def without_mark(self, text: str, mark: str) -> str:
        """Return a footnote's text without its own mark."""
        return re.sub(rf"^\W*{re.escape(mark)}[\])]?[.:]?\s+", "", text, count=1) or text


def _opens_its_block(node: LexborNode) -> bool:
    """Say whether nothing stands before a node in its paragraph."""
    here: LexborNode | None = node
    for _ in range(_FIRST_STEPS):
        if here is None:
            return False
        before = here.prev
        while before is not None and before.tag == "-text" and not (before.text_content or "").strip():
            before = before.prev
        if before is not None:
            return before.tag == "br"
        here = here.parent
        if here is None or here.tag in {"p", "li", "div", "dd", "aside", "section", "body"}:
            return True
        if here.tag in {"td", "th", "h1", "h2", "h3", "h4", "h5", "h6"}:
            return False
    return False


def _plain_mark(node: LexborNode) -> str:
    """Return the mark that a paragraph's own text opens with."""
    here = node.child
    for _ in range(_FIRST_STEPS):
        while here is not None and here.tag == "-text" and not (here.text_content or "").strip():
            here = here.next
        if here is None:
            return ""
        if here.tag == "-text":
            found = _PLAIN_MARK.match((here.text_content or "")[:12])
            return (found[1] or found[2]) if found else ""
        if here.tag not in {"small", "b", "i", "em", "strong", "span", "font", "p"}:
            return ""
        here = here.child
    return ""
