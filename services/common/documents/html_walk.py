"""Walks a page without recursion: text gathers until a block begins or ends, and every element says what that makes."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from selectolax.lexbor import LexborNode

from services.common.documents.document import NOWHERE, Block, BlockKind, HiddenText, Place
from services.common.documents.html_furniture import is_furniture, is_navigation, named_furniture
from services.common.documents.html_hidden import Paint, painted, why_hidden
from services.common.documents.html_lists import ListNumbers
from services.common.documents.html_marks import NoteMarks
from services.common.documents.html_styles import Styles
from services.common.documents.html_tables import Cell, TableParts, build_table, is_layout
from services.common.documents.inline import (
    BOLD,
    BOLD_END,
    BREAK,
    LINK,
    LINK_END,
    NOTE,
    NOTE_END,
    PICTURE,
    PICTURE_END,
    STRUCK,
    STRUCK_END,
    SUB,
    SUB_END,
    SUP,
    SUP_END,
    Line,
    plain_of,
    read_line,
    split_lines,
)
from services.common.documents.text import collapse

Attributes = dict[str, str | None]
Close = Callable[[], None]

_UNREAD: Final = frozenset(
    {
        *("script", "style", "head", "template", "iframe", "object", "embed", "video", "audio", "canvas", "map"),
        *("select", "textarea", "input", "datalist", "progress", "meter", "rp", "rt", "colgroup", "link", "meta"),
    }
)
HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "center", "dialog", "div", "fieldset", "figure"),
        *("footer", "form", "header", "hgroup", "hr", "html", "legend", "main", "nav", "p", "search", "section"),
        *("menu", "optgroup", "option", "tbody", "tfoot", "thead"),
    }
)
_PAIRS: Final = {
    "sup": (SUP, SUP_END),
    "sub": (SUB, SUB_END),
    "q": ("\u201c", "\u201d"),
    **dict.fromkeys(("del", "s", "strike"), (STRUCK, STRUCK_END)),
    **dict.fromkeys(("b", "strong"), (BOLD, BOLD_END)),
}
_FILE_NAME: Final = re.compile(r"[^\s]+\.(?:png|jpe?g|gif|svg|webp|bmp|avif|ico)", re.IGNORECASE)
_NO_PICTURE: Final = frozenset({"", "image", "img", "picture", "photo", "logo", "icon", "spacer", "bild", "foto", "*"})
_ANCHOR_SIGNS: Final = frozenset(
    {"\u00b6", "#", "\u00a7", "\U0001f517", "[source]", "[edit]", "[bearbeiten]", "[quelltext]"}
)
_MAX_CODE_BLANKS: Final = 2
_DEEPEST: Final = 6


@dataclass(slots=True)
class Sink:
    """Where blocks go: the page, a cell, or a part of which it is not known yet what it is."""

    blocks: list[Block] = field(default_factory=list)
    linked: list[bool] = field(default_factory=list)
    """Of each block, whether it is a link and nothing else."""
    marked: bool = True
    """Every line of text so far was bold."""
    current: list[str] = field(default_factory=list)
    """What still holds of each line."""
    struck: dict[int, str] = field(default_factory=dict)
    """What still holds of the blocks of which a part is struck out, by their place."""

    def add(self, block: Block, *, linked: bool = False) -> None:
        """Put a block at the end."""
        self.blocks.append(block)
        self.linked.append(linked)

    def extend(self, other: "Sink") -> None:
        """Put all of another one's at the end."""
        self.blocks.extend(other.blocks)
        self.linked.extend(other.linked)


@dataclass(slots=True)
class _Item:
    """An open list item, definition or ``details``."""

    number: str = ""
    term: str = ""
    fresh: bool = True
    """Nothing of it has been written yet."""


@dataclass(slots=True)
class _Terms:
    """An open definition list."""

    terms: list[str] = field(default_factory=list)
    defined: bool = False


class Walk:
    """Makes blocks of a page.

    Args:
        styles: of the page.
        notes: its footnotes.
    """

    def __init__(self, styles: Styles, notes: NoteMarks) -> None:
        self.sink = Sink()
        self.hidden: list[HiddenText] = []
        self.furniture: list[str] = []
        self._styles = styles
        self._notes = notes
        self._run: list[str] = []
        self._unseen: list[str] = []
        self._paint = Paint()
        self._items: list[_Item] = []
        self._lists: list[ListNumbers] = []
        self._terms: list[_Terms] = []
        self._tables: list[TableParts] = []
        self._in_head = False
        self._heading = 0
        self._level = 0
        self._footnote = ""
        self._kind = BlockKind.PARAGRAPH
        self._pre = False
        self._place = NOWHERE
        self._languages: list[str] = []
        self._titled = False
        self._last_heading = ""
        self._enters: dict[str, Callable[[LexborNode, str, Attributes], Close | None]] = {
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
            "a": self._link,
            "img": self._picture,
            "svg": self._drawing,
        }

    def walk(self, root: LexborNode) -> None:
        """Visit every node before and after its children, with a stack of our own: depth is the document's to choose."""
        stack: list[LexborNode | Close] = [root]
        while stack:
            one = stack.pop()
            if not isinstance(one, LexborNode):
                one()
            elif one.tag == "-text":
                self._text(one.text_content or "")
            elif one.is_comment_node:
                self._hide(one.comment_content or "", "comment")
            elif one.is_element_node:
                closes = self._enter(one)
                if closes is None:
                    continue
                stack.extend(closes)
                children: list[LexborNode] = []
                child = one.child
                while child is not None:
                    children.append(child)
                    child = child.next
                stack.extend(reversed(children))
        self.flush()

    def _text(self, text: str) -> None:
        why = self._paint.why
        if why and text.strip():
            self._hide(text, why)
        else:
            self._run.append(plain_of(text))

    def _hide(self, text: str, why: str) -> None:
        told = collapse(plain_of(text))
        if any(character.isalnum() for character in told):
            self.hidden.append(HiddenText(told, why, self._place))

    def _enter(self, node: LexborNode) -> list[Close] | None:
        """Return what is to be done after the children; ``None`` when they are not to be visited."""
        tag = node.tag or ""
        if tag in _UNREAD:
            return None
        if tag == "br":
            self._run.append("\n" if self._pre else BREAK)
            return None
        attributes = node.attributes
        style = self._styles.of(node, attributes.get("style") or "")
        why = "noscript" if tag == "noscript" else why_hidden(tag, attributes, style, self._styles)
        if why:
            self._hide(node.text(deep=True, separator=" "), why)
            return None
        closes: list[Close] = []
        if style or tag in {"font", "body", "table", "tr", "td", "th"} or self._styles.linked:
            self._repaint(tag, attributes, style, closes)
        if attributes.get("lang"):
            self._languages.append(language_of(attributes["lang"]))
            self._after(closes, self._languages.pop)
        if attributes.get("id") or attributes.get("name"):
            self._mark_place(tag, attributes, closes)
        if named_furniture(tag, attributes):
            self._maybe_furniture(tag, attributes, closes)
        if tag in _PAIRS:
            opening, closing = _PAIRS[tag]
            self._run.append(opening)
            closes.append(lambda: self._run.append(closing))
            return closes
        if tag == "button" and not (self._heading or self._items):
            return None
        enter = self._enters.get(tag)
        if enter is not None:
            close = enter(node, tag, attributes)
            if close is None:
                return None
            closes.append(close)
        elif tag in _BLOCKS or style.get("display") == "block":
            self.flush()
            closes.append(self.flush)
        return closes

    def _after(self, closes: list[Close], close: Callable[[], object]) -> None:
        """Have something done after what gathers inside has been flushed."""

        def done() -> None:
            close()

        closes.insert(0, done)

    def _repaint(self, tag: str, attributes: Attributes, style: "dict[str, str]", closes: list[Close]) -> None:
        before = self._paint
        after = painted(before, tag, attributes, style, linked=self._styles.linked)
        if after is before or after == before:
            return
        self._paint = after

        def restore() -> None:
            self._paint = before

        closes.append(restore)

    def _mark_place(self, tag: str, attributes: Attributes, closes: list[Close]) -> None:
        """Remember the nearest anchor, and whether a footnote begins here."""
        name = attributes.get("id") or attributes.get("name") or ""
        mark = self._notes.mark_of(name)
        if mark and tag not in HEADINGS and tag != "sup":
            self.flush()
            self._footnote = mark
            if tag not in {"a", "span"}:
                self._after(closes, self._end_footnote)
        elif attributes.get("id") and (tag in HEADINGS or tag in {"section", "div", "article", "dt", "p", "table"}):
            self._place = Place(path=f"#{name[:100]}")

    def _end_footnote(self) -> None:
        self.flush()
        self._footnote = ""

    def _maybe_furniture(self, tag: str, attributes: Attributes, closes: list[Close]) -> None:
        self.flush()
        outer, self.sink = self.sink, Sink()
        titled = self._titled

        def decide() -> None:
            self.flush()
            inner, self.sink = self.sink, outer
            if is_furniture(tag, attributes, inner.blocks, sum(inner.linked)):
                self._titled = titled
                self._discard(inner.blocks)
            else:
                outer.extend(inner)

        closes.insert(0, decide)

    def _discard(self, blocks: list[Block]) -> None:
        for block in blocks:
            cells = [] if block.table is None else [cell for row in block.table.rows for cell in row]
            text = collapse(" ".join([block.term, block.text, *cells]))
            if text:
                self.furniture.append(text)

    def flush(self) -> None:
        """Make blocks of the text gathered so far."""
        if not self._run:
            return
        raw = "".join(self._run)
        self._run.clear()
        if not raw.strip():
            return
        for part in split_lines(raw) if not self._heading else [raw]:
            line = read_line(part, self._notes.marks)
            if line.text or line.pictures:
                self._write(line)

    def _write(self, line: Line) -> None:
        text = line.text
        if not any(character.isalnum() for character in text) and not self._tables:
            text = ""
        if text:
            self.sink.marked = self.sink.marked and line.bold
            self.sink.current.append(line.current)
            self._add(self._block(line), linked=line.links > 0)
            if line.current != text:
                self.sink.struck[len(self.sink.blocks) - 1] = line.current
            if line.links > 1 and not text.endswith((".", "!", "?")) and self._kind is BlockKind.PARAGRAPH:
                self._take_links()
        for picture in line.pictures:
            kind = BlockKind.CAPTION if not self._tables else BlockKind.PARAGRAPH
            self._add(Block(kind, picture, place=self._place, within=len(self._items)))

    def _take_links(self) -> None:
        """Move a paragraph of several links and nothing else to the furniture."""
        last = self.sink.blocks[-1]
        if last.kind is BlockKind.PARAGRAPH and not last.within and not self._tables_open_here():
            self.sink.blocks.pop()
            self.sink.linked.pop()
            self._discard([last])

    def _tables_open_here(self) -> bool:
        return bool(self._tables) and self._tables[-1].bordered

    def _add(self, block: Block, *, linked: bool = False) -> None:
        language = self._languages[-1] if len(self._languages) > 1 else ""
        if language and language != self._languages[0]:
            block = replace(block, language=language)
        self.sink.add(block, linked=linked)

    def _block(self, line: Line) -> Block:
        """Return the block that a line of text is, where it stands."""
        text, notes = (line.text, line.notes) if self._tables or self._heading else (line.current, line.notes)
        if line.current != line.text:
            notes = tuple((min(at, len(text)), mark) for at, mark in notes)
        if self._heading:
            self._level = self._heading
            self._titled = self._titled or self._heading == 1
            self._last_heading = text
            return Block(BlockKind.HEADING, text, self._heading, self._place, notes=notes)
        if self._footnote:
            told = self._notes.without_mark(text, self._footnote)
            return Block(BlockKind.FOOTNOTE, told, place=self._place, number=self._footnote, notes=notes)
        if line.opens_with and not self._items and line.opens_with in self._notes.marks:
            return Block(BlockKind.FOOTNOTE, text, place=self._place, number=line.opens_with, notes=notes)
        item = self._items[-1] if self._items else None
        if item is None or not item.fresh:
            return self._paragraph(line, text, notes)
        self._announce(self._items[:-1])
        item.fresh = False
        level = len(self._items) - 1
        if item.term:
            return Block(BlockKind.DEFINITION, text, level, self._place, term=item.term, notes=notes)
        return Block(BlockKind.LIST_ITEM, text, level, self._place, item.number, notes=notes)

    def _paragraph(self, line: Line, text: str, notes: tuple[tuple[int, str], ...]) -> Block:
        within = len(self._items)
        if line.bold and not within and not self._tables and self._kind is BlockKind.PARAGRAPH and is_title(text):
            self._last_heading = text
            return Block(BlockKind.HEADING, text, min(max(self._level, 1) + 1, _DEEPEST), self._place, notes=notes)
        return Block(self._kind, text, place=self._place, within=within, notes=notes)

    def _announce(self, items: list[_Item]) -> None:
        """Write what is still unwritten of the items around a block: their terms, without text of their own."""
        for level, item in enumerate(items):
            if item.fresh and item.term:
                item.fresh = False
                self._add(Block(BlockKind.DEFINITION, "", level, self._place, term=item.term))

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
        if self._notes.is_back_link(attributes, href):
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
        if told.lower() not in _NO_PICTURE and not _FILE_NAME.fullmatch(told):
            self._run.append(f"{PICTURE}{told}{PICTURE_END}")

    def _drawing(self, node: LexborNode, _tag: str, attributes: Attributes) -> None:
        title = node.css_first("title")
        told = attributes.get("aria-label") or (title.text() if title is not None else "")
        self._picture(node, "img", {"alt": told})

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
                self.sink.current.append(collapse(text))
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
        return self._open_item(_Item(number))

    def _open_item(self, item: _Item) -> Close:
        self._items.append(item)

        def close() -> None:
            self.flush()
            self._items.pop()

        return close

    def _definitions(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        self._announce(self._items)
        self._terms.append(_Terms())

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
                self._terms.append(_Terms())
            terms = self._terms[-1]
            if terms.defined:
                terms.terms, terms.defined = [], False
            if text:
                terms.terms.append(text)

        return self._capture(take)

    def _definition(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        terms = self._terms[-1] if self._terms else _Terms()
        terms.defined = True
        return self._open_item(_Item(term=" / ".join(terms.terms)))

    def _details(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        return self._open_item(_Item())

    def _summary(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        def take(text: str) -> None:
            if self._items:
                self._items[-1].term = text

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
            take(" ".join(block.text for block in inner.blocks if block.text))

        return close

    # Tables and figures

    def _table(self, _node: LexborNode, _tag: str, attributes: Attributes) -> Close:
        self.flush()
        self._announce(self._items)
        parts = TableParts(
            bordered=(attributes.get("border") or "0").strip() not in {"0", ""} or "rules" in attributes,
            presentation=(attributes.get("role") or "").lower() in {"presentation", "none"},
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

    def _table_head(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self._in_head = True

        def close() -> None:
            self._in_head = False

        return close

    def _row(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        self.flush()
        if self._tables:
            self._tables[-1].rows.append(([], self._in_head))
        return self.flush

    def _cell(self, node: LexborNode, tag: str, attributes: Attributes) -> Close:
        self.flush()
        outer, self.sink = self.sink, Sink()
        style = self._styles.of(node, attributes.get("style") or "")
        marked = bool(attributes.get("bgcolor")) or style.get("font-weight", "") in {"bold", "bolder", "600", "700"}
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
                marked=marked or (inner.marked and bool(inner.current)),
                columns=_span(attributes.get("colspan")) or 1,
                rows=_span(attributes.get("rowspan", "1")),
                current=" ".join(inner.current),
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


def _span(text: str | None) -> int:
    plain = (text or "").strip()
    return min(int(plain), 1_000) if plain.isdecimal() and len(plain) <= 9 else 1  # noqa: PLR2004


def language_of(text: str | None) -> str:
    """Return the ISO 639-1 code of a language tag; empty where it has none."""
    code = (text or "").replace("_", "-").split("-")[0].strip().lower()
    return code if len(code) == 2 and code.isalpha() else ""  # noqa: PLR2004


def is_title(text: str) -> bool:
    """Say whether a bold line stands above what follows as a title does."""
    return len(text) <= 80 and len(text.split()) <= 10 and not text.endswith((".", "!", ":", ";", ","))  # noqa: PLR2004
