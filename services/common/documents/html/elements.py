"""What each element of a page makes: headings, lists, definitions, tables, figures, links, pictures, code."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from selectolax.lexbor import LexborNode

from services.common.documents.document import Block, BlockKind, Place
from services.common.documents.html.furniture import is_navigation
from services.common.documents.html.lists import ListNumbers
from services.common.documents.html.note_marks import NoteMarks
from services.common.documents.html.styles import Styles
from services.common.documents.html.tables import MAX_SPAN, Cell, TableParts, build_table, is_layout
from services.common.documents.html.walk import HEADINGS, Attributes, Close, Item, Sink, Terms, Walk
from services.common.documents.marks import (
    LINK,
    LINK_END,
    NOTE,
    NOTE_END,
    PICTURE,
    PICTURE_END,
    SUB,
    SUB_END,
    SUP,
    SUP_END,
    plain_of,
)
from services.common.documents.numerals import whole
from services.common.documents.wording import collapse

_FILE_NAME: Final = re.compile(r"[^\s]+\.(?:png|jpe?g|gif|svg|webp|bmp|avif|ico)", re.IGNORECASE)

_TOGGLE: Final = re.compile(
    r"(?:click (?:here )?to )?(?:expand|show|hide|toggle|read|view|see|open|more|details|mehr|weniger|anzeigen"
    r"|einblenden|voir|afficher)\b(?:\s\w+){0,2}\W*",
    re.IGNORECASE,
)
"""What a summary says that names no content."""
_LOGO: Final = re.compile(r"\blogo\b", re.IGNORECASE)
_NO_PICTURE: Final = frozenset({"", "image", "img", "picture", "photo", "logo", "icon", "spacer", "bild", "foto", "*"})
_ANCHOR_SIGNS: Final = frozenset(
    {"\u00b6", "#", "\u00a7", "\U0001f517", "[source]", "[edit]", "[bearbeiten]", "[quelltext]"}
)


_BOLD_WEIGHTS: Final = frozenset({"bold", "bolder", "600", "700", "800"})


class PageWalk(Walk):
    """Knows the elements.

    Args:
        styles: of the page.
        notes: its footnotes.
    """

    def __init__(self, styles: Styles, notes: NoteMarks) -> None:
        super().__init__(styles, notes)
        self._row_marked = False
        self._enters = {
            **dict.fromkeys(("ul", "ol"), self._list),
            **dict.fromkeys(HEADINGS, self._head),
            **dict.fromkeys(("td", "th"), self._cell),
            "li": self._list_item,
            "dl": self._definitions,
            "dt": self._term,
            "dd": self._definition,
            "table": self._table,
            "tr": self._row,
            "caption": self._caption,
            "thead": self._table_head,
            "details": self._details,
            "summary": self._summary,
            "figure": self._figure,
            "pre": self._code,
            "figcaption": self._figure_caption,
            "math": self._math,
            **dict.fromkeys(("msup", "msub", "mfrac"), self._formula),
            "a": self._link,
            "img": self._picture,
            "svg": self._drawing,
        }

    # Headings, pictures, links, code

    def _head(self, _node: LexborNode, tag: str, _attributes: Attributes) -> Close:
        self.flush()
        self._announce(self._items)
        before, self._heading = self._heading, HEADINGS[tag]

        def close() -> None:
            self.flush()
            self._heading = before

        return close

    def _link(self, node: LexborNode, _tag: str, attributes: Attributes) -> Close | None:
        href = attributes.get("href") or ""
        if self._notes.is_back_link(node, attributes, href):
            return None
        names = (attributes.get("class") or "").lower()
        if "headerlink" in names or "viewcode" in names or "edit" in names.split():
            return None
        if href.startswith("#") and collapse(node.text(deep=True)).lower() in _ANCHOR_SIGNS:
            return None
        mark = self._notes.mark_of(href[1:]) if href.startswith("#") else ""
        if mark and self._notes.is_reference(node):
            self._run.append(f"{NOTE}{mark}{NOTE_END}")
            return None
        if not href:
            return lambda: None
        self._run.append(LINK)
        return lambda: self._run.append(LINK_END)

    def _picture(self, _node: LexborNode, _tag: str, attributes: Attributes) -> None:
        told = collapse(plain_of(attributes.get("alt") or ""))
        if told.lower() not in _NO_PICTURE and not _FILE_NAME.fullmatch(told) and not _LOGO.search(told):
            self._run.append(f"{PICTURE}{told}{PICTURE_END}")

    def _drawing(self, node: LexborNode, _tag: str, attributes: Attributes) -> None:
        title = node.css_first("title")
        told = attributes.get("aria-label") or (title.text() if title is not None else "")
        self._picture(node, "img", {"alt": told})

    def _math(self, _node: LexborNode, _tag: str, attributes: Attributes) -> Close | None:
        """Read a formula as its author wrote it down, where that is told."""
        told = attributes.get("alttext")
        if not told:
            return lambda: None
        self._run.append(plain_of(told))
        return None

    def _formula(self, node: LexborNode, tag: str, _attributes: Attributes) -> None:
        parts: list[str] = []
        child = node.child
        while child is not None:
            if child.is_element_node:
                parts.append(collapse(plain_of(child.text(deep=True))))
            child = child.next
        opening, closing = {"msup": (SUP, SUP_END), "msub": (SUB, SUB_END), "mfrac": ("/", "")}[tag]
        self._run.append(f"{parts[0]}{opening}{parts[1]}{closing}" if len(parts) > 1 else "".join(parts))

    def _code(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        self._announce(self._items)
        before, self._pre = self._pre, True

        def close() -> None:
            self._pre = before
            raw = "".join(self._run)
            self._run.clear()
            text = plain_of(raw).strip("\n").rstrip()
            if text.strip():
                within = len(self._items)
                self.sink.lines += 1
                self._add(Block(BlockKind.CODE, text, place=self._place, within=within))

        return close

    # Lists and definitions

    def _list(self, node: LexborNode, tag: str, attributes: Attributes) -> Close:
        self.flush()
        self._announce(self._items)
        items = 0
        child = node.child if "reversed" in attributes else None
        while child is not None:
            items += child.tag == "li"
            child = child.next
        style = self._styles.of(node, attributes.get("style") or "")
        self._lists.append(ListNumbers(tag, attributes, style, items))
        start, sink, heading = len(self.sink.blocks), self.sink, self._last_heading

        def close() -> None:
            self.flush()
            self._lists.pop()
            if self._items or self.sink is not sink:
                return
            if is_navigation(sink.linked[start:], heading, before_title=not self._titled):
                self._discard(sink.blocks[start:])
                del sink.blocks[start:], sink.linked[start:]

        return close

    def _list_item(self, _node: LexborNode, _tag: str, attributes: Attributes) -> Close:
        self.flush()
        number = self._lists[-1].number(attributes.get("value")) if self._lists else ""
        return self._open_item(Item(number))

    def _open_item(self, item: Item) -> Close:
        self._items.append(item)

        def close() -> None:
            self.flush()
            self._items.pop()

        return close

    def _definitions(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        self._announce(self._items)
        self._terms.append(Terms())

        def close() -> None:
            self.flush()
            terms = self._terms.pop()
            if terms.terms and not terms.defined:
                text = " / ".join(terms.terms)
                self._add(Block(BlockKind.PARAGRAPH, text, place=self._place, within=len(self._items)))

        return close

    def _term(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        def take(text: str) -> None:
            if not self._terms:
                self._terms.append(Terms())
            terms = self._terms[-1]
            if terms.defined:
                terms.terms, terms.defined = [], False
            if text:
                terms.terms.append(text)

        return self._capture(take)

    def _definition(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        terms = self._terms[-1] if self._terms else Terms()
        terms.defined = True
        return self._open_item(Item(term=" / ".join(terms.terms)))

    def _details(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        return self._open_item(Item(fresh=False))

    def _summary(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        def take(text: str) -> None:
            if self._items and text and not _TOGGLE.fullmatch(text):
                self._items[-1].term = text
                self._items[-1].fresh = True

        return self._capture(take)

    def _capture(self, take: Callable[[str], None]) -> Close:
        """Gather what is inside as one text, not as blocks."""
        self.flush()
        outer, self.sink = self.sink, Sink()
        items, self._items = self._items, []
        heading, self._heading = self._heading, 0

        def close() -> None:
            self.flush()
            inner, self.sink = self.sink, outer
            self._items, self._heading = items, heading
            self._captured = tuple(note for block in inner.blocks for note in block.notes)
            take(" ".join(block.text for block in inner.blocks if block.text))

        return close

    # Tables and figures

    def _table(self, _node: LexborNode, _tag: str, attributes: Attributes) -> Close:
        self.flush()
        self._announce(self._items)
        parts = TableParts(
            bordered=(attributes.get("border") or "0").strip() not in {"0", ""} or "rules" in attributes,
            presentation=(attributes.get("role") or "").lower() in {"presentation", "none"},
            unbordered=(attributes.get("border") or "").strip() == "0",
        )
        self._tables.append(parts)
        place, in_head = self._place, self._in_head
        items, self._items = self._items, []
        terms, self._terms = self._terms, []
        lists, self._lists = self._lists, []

        def close() -> None:
            self.flush()
            self._tables.pop()
            self._items, self._terms, self._lists, self._in_head = items, terms, lists, in_head
            self._write_table(parts, place)

        return close

    def _write_table(self, parts: TableParts, place: Place) -> None:
        if self._take_footnotes(parts):
            return
        table = None if is_layout(parts) else build_table(parts)
        if table is None:
            for cell in parts.cells:
                for at, block in enumerate(cell.blocks):
                    self.sink.add(replace(block, text=cell.struck[at]) if at in cell.struck else block)
            return
        self.sink.marked = False
        self._add(Block(BlockKind.TABLE, "", place=place, table=table, within=len(self._items)))
        heads = [collapse(cell.text) for cell in parts.rows[0][0]] if table.header_rows else []
        for row, _ in parts.rows:
            for index, cell in enumerate(row):
                for block in cell.blocks:
                    if block.table is not None:
                        lead = [row[0].text] if index else []
                        lead += [f"{heads[index]}: {cell.text}" if index < len(heads) else cell.text]
                        term = block.term or ", ".join(part.strip(": ") for part in lead if part)
                        self._add(replace(block, term=term))

    def _take_footnotes(self, parts: TableParts) -> bool:
        """Read a table of marks and texts as the footnotes that they are."""
        found: list[Block] = []
        for row, _ in parts.rows:
            mark = row[0].text.strip("()[]. ") if len(row) == 2 else ""  # noqa: PLR2004
            if mark not in self._notes.marks:
                return False
            found.append(Block(BlockKind.FOOTNOTE, row[1].text, place=self._place, number=mark))
        for block in found:
            self._add(block)
        return bool(found)

    def _table_head(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self._in_head = True

        def close() -> None:
            self._in_head = False

        return close

    def _row(self, node: LexborNode, _tag: str, attributes: Attributes) -> Close:
        self.flush()
        style = self._styles.of(node, attributes.get("style") or "")
        self._row_marked = bool(attributes.get("bgcolor")) or style.get("font-weight", "") in _BOLD_WEIGHTS
        if self._tables:
            self._tables[-1].rows.append(([], self._in_head))
        return self.flush

    def _cell(self, node: LexborNode, tag: str, attributes: Attributes) -> Close:
        self.flush()
        outer, self.sink = self.sink, Sink()
        style = self._styles.of(node, attributes.get("style") or "")
        marked = self._row_marked or bool(attributes.get("bgcolor")) or style.get("font-weight", "") in _BOLD_WEIGHTS
        in_head = self._in_head

        def close() -> None:
            self.flush()
            inner, self.sink = self.sink, outer
            self._in_head = in_head
            if not self._tables:
                outer.extend(inner)
                return
            cell = Cell(
                inner.blocks,
                head=tag == "th",
                scope=(attributes.get("scope") or "").lower(),
                marked=marked or (inner.marked and inner.lines > 0),
                columns=min(whole(attributes.get("colspan"), 1), MAX_SPAN) or 1,
                rows=min(whole(attributes.get("rowspan"), 1), MAX_SPAN),
                struck=inner.struck,
            )
            rows = self._tables[-1].rows
            if not rows:
                rows.append(([], in_head))
            rows[-1][0].append(cell)

        return close

    def _caption(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        def take(text: str) -> None:
            if self._tables:
                self._tables[-1].caption = text
                self._tables[-1].caption_notes = self._captured

        return self._capture(take)

    def _figure(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        start = len(self.sink.blocks)
        sink = self.sink

        def close() -> None:
            self.flush()
            blocks = sink.blocks[start:]
            tables = [at for at, block in enumerate(blocks) if block.table is not None]
            captions = [at for at, block in enumerate(blocks) if block.kind is BlockKind.CAPTION]
            if len(tables) != 1 or len(captions) != 1:
                return
            table = blocks[tables[0]]
            if table.table is not None and not table.table.caption:
                told = replace(table.table, caption=blocks[captions[0]].text)
                sink.blocks[start + tables[0]] = replace(table, table=told)
                del sink.blocks[start + captions[0]], sink.linked[start + captions[0]]

        return close

    def _figure_caption(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        before, self._kind = self._kind, BlockKind.CAPTION

        def close() -> None:
            self.flush()
            self._kind = before

        return close
