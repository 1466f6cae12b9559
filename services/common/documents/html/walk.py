"""Walks a page without recursion: text gathers until a block begins or ends, and every element says what that makes."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from selectolax.lexbor import LexborNode

from services.common.documents.document import NOWHERE, Block, BlockKind, HiddenText, Place
from services.common.documents.html.attributes import by_role
from services.common.documents.html.furniture import is_furniture, named_furniture
from services.common.documents.html.hidden import Paint, painted, why_hidden
from services.common.documents.html.lines import Line, read_line, split_lines
from services.common.documents.html.lists import ListNumbers
from services.common.documents.html.note_marks import NoteMarks
from services.common.documents.html.styles import Declarations, Styles
from services.common.documents.html.tables import TableParts
from services.common.documents.marks import (
    BOLD,
    BOLD_END,
    BREAK,
    STRUCK,
    STRUCK_END,
    SUB,
    SUB_END,
    SUP,
    SUP_END,
    plain_of,
)
from services.common.documents.wording import collapse, has_words, language_code

Attributes = dict[str, str | None]
Close = Callable[[], None]
Enter = Callable[[LexborNode, str, Attributes], Close | None]

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
_RAISED: Final = {"super": (SUP, SUP_END), "sub": (SUB, SUB_END)}
_INLINE: Final = frozenset({"span", "small", "font", "i", "em"})
_CAPTIONED: Final = re.compile(
    r"(?:table|figure|fig\.|example|listing|tabelle|abbildung|abb\.|beispiel|tableau|exemple)\s*[A-Z]?\d", re.IGNORECASE
)
_DEEPEST: Final = 6


@dataclass(slots=True)
class Sink:
    """Where blocks go: the page, a cell, or a part of which it is not known yet what it is."""

    blocks: list[Block] = field(default_factory=list)
    linked: list[bool] = field(default_factory=list)
    """Of each block, whether it is a link and nothing else."""
    marked: bool = True
    """Every line of text so far was bold."""
    lines: int = 0
    """So many lines of text and pieces of code so far."""
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
class Item:
    """An open list item, definition or ``details``."""

    number: str = ""
    term: str = ""
    fresh: bool = True
    """Nothing of it has been written yet."""


@dataclass(slots=True)
class Terms:
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
        self.language = ""
        self._styles = styles
        self._notes = notes
        self._run: list[str] = []
        self._unseen: list[str] = []
        self._unseen_why = ""
        self._paint = Paint()
        self._items: list[Item] = []
        self._lists: list[ListNumbers] = []
        self._terms: list[Terms] = []
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
        self._captured: tuple[tuple[int, str], ...] = ()
        self._enters: dict[str, Enter] = {}

    def walk(self, root: LexborNode) -> None:
        """Visit every node before and after its children; the stack is ours: depth is the document's to choose."""
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
        if why != self._unseen_why:
            self._flush_unseen()
            self._unseen_why = why
        if why:
            self._unseen.append(text)
        else:
            self._run.append(plain_of(text))

    def _flush_unseen(self) -> None:
        """Tell of the text gathered so far that a colour, a size or its visibility hides."""
        if self._unseen:
            text = "".join(self._unseen)
            self._unseen.clear()
            self._hide(text, self._unseen_why)

    def _hide(self, text: str, why: str) -> None:
        told = collapse(plain_of(text))
        if has_words(told):
            self.hidden.append(HiddenText(told, why, self._place))

    def _enter(self, node: LexborNode) -> list[Close] | None:
        """Return what is to be done after the children; ``None`` when they are not to be visited."""
        tag = node.tag or ""
        if tag in _UNREAD or tag == "br":
            self._run.append(("\n" if self._pre else BREAK) if tag == "br" else "")
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
            self._languages.append(language_code(attributes["lang"]))
            self._after(closes, self._languages.pop)
        if attributes.get("id") or attributes.get("name"):
            self._mark_place(tag, attributes, closes)
        if named_furniture(tag, attributes):
            self._maybe_furniture(tag, attributes, closes)
        if self._open(node, *by_role(tag, attributes), style, closes):
            return closes
        for close in reversed(closes):
            close()
        return None

    def _open(
        self, node: LexborNode, tag: str, attributes: Attributes, style: Declarations, closes: list[Close]
    ) -> bool:
        """Begin what an element is; ``False`` when what is in it is not read."""
        if tag in _PAIRS:
            opening, closing = _PAIRS[tag]
            self._run.append(opening)
            closes.append(lambda: self._run.append(closing))
        elif style.get("vertical-align") in _RAISED and tag in _INLINE:
            opening, closing = _RAISED[style["vertical-align"]]
            self._run.append(opening)
            closes.append(lambda: self._run.append(closing))
        elif tag == "button" and not ((self._heading or self._items) and _says_all(node)):
            return False
        elif tag in self._enters:
            close = self._enters[tag](node, tag, attributes)
            if close is None:
                return False
            closes.append(close)
        elif tag in _BLOCKS or style.get("display") == "block":
            self.flush()
            closes.append(self.flush)
        return True

    def _after(self, closes: list[Close], close: Callable[[], object]) -> None:
        """Have something done after what gathers inside has been flushed."""

        def done() -> None:
            close()

        closes.insert(0, done)

    def _repaint(self, tag: str, attributes: Attributes, style: Declarations, closes: list[Close]) -> None:
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
        self._flush_unseen()
        if not self._run:
            return
        raw = "".join(self._run)
        self._run.clear()
        if not raw.strip():
            return
        for part in split_lines(raw) if not self._heading else [raw]:
            line = read_line(part, self._notes.raised)
            if line.text or line.pictures:
                self._write(line)

    def _write(self, line: Line) -> None:
        text = line.text
        if not has_words(text) and not self._tables:
            text = ""
        if text:
            self.sink.marked = self.sink.marked and line.bold
            self.sink.lines += 1
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
        language = self._languages[-1] if self._languages else ""
        if language and language != self.language:
            block = replace(block, language=language)
        if linked:
            block = replace(block, linked=True)
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
        if line.opens_with and not self._items:
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
        if line.bold and _CAPTIONED.match(text):
            return Block(BlockKind.CAPTION, text, place=self._place, within=within, notes=notes)
        if line.bold and not within and not self._tables and self._kind is BlockKind.PARAGRAPH and is_title(text):
            self._last_heading = text
            return Block(BlockKind.HEADING, text, min(max(self._level, 1) + 1, _DEEPEST), self._place, notes=notes)
        return Block(self._kind, text, place=self._place, within=within, notes=notes)

    def _announce(self, items: list[Item]) -> None:
        """Write what is still unwritten of the items around a block: their terms, without text of their own."""
        for level, item in enumerate(items):
            if item.fresh and item.term:
                item.fresh = False
                self._add(Block(BlockKind.DEFINITION, "", level, self._place, term=item.term))


def _says_all(node: LexborNode) -> bool:
    """Say whether an element holds all the text of the one around it, as the button of a heading that unfolds does."""
    around = node.parent
    return around is not None and collapse(around.text(deep=True)) == collapse(node.text(deep=True))


def is_title(text: str) -> bool:
    """Say whether a bold line stands above what follows as a title does."""
    return len(text) <= 80 and len(text.split()) <= 10 and not text.endswith((".", "!", ":", ";", ","))  # noqa: PLR2004
