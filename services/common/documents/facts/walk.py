"""Walks a document's blocks once, and gives each text what it needs to be read alone (ADR 0106).

Paragraphs are cut into sentences with those that lean on them; a list item carries its lead-in sentence or its heading
and its number, a definition its term, a table row its heads; a footnote is said where it is referred to.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.documents.document import NOWHERE, Block, BlockKind, Place, Table
from services.common.documents.facts.draft import FactKind
from services.common.documents.facts.headings import Headings
from services.common.documents.facts.kinds import is_notice
from services.common.documents.facts.leaning import (
    MAX_CARRIED_CHARS,
    MIN_FACT_TOKENS,
    CountTokens,
    group_leaning,
    leans,
    merge_short,
    points_back,
)
from services.common.documents.facts.notes import NoteTexts
from services.common.documents.facts.rows import MAX_NAME_NOTE_CHARS, rows_of
from services.common.documents.facts.sentences import split_sentences
from services.common.documents.facts.tables import pieces_of, table_context
from services.common.documents.facts.texts import CLOSED, ENDED, joined, labelled, tells
from services.common.documents.facts.titles import adds_words, is_bare, is_generic
from services.common.documents.facts.units import Unit
from services.common.documents.mail_phrases import is_custom
from services.common.documents.wording import has_words

WHOLE_ITEM_TOKENS: Final = 64
"""A list item up to this long stays one fact: its later sentences rarely stand on their own."""
CONTEXT_TOKENS: Final = 24
"""A sentence up to this long carries its heading when the heading has words that the sentence lacks."""
LINK_WORDS: Final = 5
"""A link of so many words with nothing beside it leads elsewhere, and says nothing."""
MAX_CONTEXT_CHARS: Final = 2_000
"""A longer heading or lead-in is text of its own: repeated before all that it stands above, it would multiply."""
MAX_LIST_DEPTH: Final = 32
"""Items nested deeper are read as items of this depth."""
_STEP_NUMBER: Final = re.compile(
    r"(?<!\W)\W*+(?:step|schritt|\u00e9tape)?\s*+[\dA-Za-z]++(?:[.-]\d++)*+\W*+", re.IGNORECASE
)


@dataclass(slots=True)
class _LeadIn:
    """Text that announces what follows; ``used`` once something took it up (or there is nothing to take up)."""

    text: str = ""
    place: Place = NOWHERE
    used: bool = False
    base: str = ""
    """What an item's further paragraphs carry; empty = the text."""
    unit: int = -1
    """Which unit was made of the item."""
    listed: bool = False
    """Items took it up: what stands below them is not what it announces."""


class BlockWalk:
    """Walks the blocks once, with the headings, the pending lead-in and the parent items that are open.

    Args:
        blocks: of the document.
        count: tokens of a text.
    """

    def __init__(self, blocks: Sequence[Block], count: CountTokens) -> None:
        self._blocks = blocks
        self._count = count
        self._notes = NoteTexts(blocks)
        self._headings = Headings()
        self._lead_in = _LeadIn(used=True)
        self._parents: dict[int, _LeadIn] = {}
        self._units: list[Unit] = []
        self._last_sentence = ""
        self._tables = 0
        self._numbered: bool | None = None
        self._has_headings = any(block.kind is BlockKind.HEADING for block in blocks)

    def units(self) -> list[Unit]:
        """Return the texts in reading order."""
        footnotes: list[int] = []
        for index, block in enumerate(self._blocks):
            if block.kind is BlockKind.FOOTNOTE:
                footnotes.append(index)
                self._units.append(Unit("", "", "", block.place, FactKind.FOOTNOTE, joinable=False))
            else:
                self._read(block, index)
        self._close_parents(0)
        self._close_lead_in()
        return self._with_footnotes(footnotes)

    def _read(self, block: Block, index: int) -> None:
        short = block.kind is not BlockKind.HEADING and len(block.text.split()) <= LINK_WORDS
        if block.linked and short and not self._nested_follows(block, index):
            return  # the name of another page
        if block.kind in {BlockKind.LIST_ITEM, BlockKind.DEFINITION}:
            self._item(block, index)
            return
        self._close_parents(min(block.within, MAX_LIST_DEPTH))
        self._numbered = self._numbered if block.within else None
        if block.kind is BlockKind.HEADING and len(block.text) <= MAX_CONTEXT_CHARS:
            self._close_lead_in()
            self._headings.open(block.level, block.text, own=block.is_apart or (index == 0 and block.level == 1))
            self._last_sentence = ""
            for _, mark in block.notes:
                if told := self._notes.text(mark, index):
                    self._emit(joined(block.text, told), block.place, FactKind.FOOTNOTE)
        elif block.kind in {BlockKind.PARAGRAPH, BlockKind.HEADING}:
            if block.within and self._parents:
                self._continued(block, index)
            else:
                self._close_lead_in()
                self._paragraph(block, index)
        elif block.table is not None:
            self._table(block, block.table, index)
        else:
            if block.kind is BlockKind.CAPTION and self._follows(index, {BlockKind.CODE}):
                self._close_lead_in()
                self._lead_in = _LeadIn(block.text, block.place)
                return
            kind = FactKind.CODE if block.kind is BlockKind.CODE else FactKind.CAPTION
            text = self._notes.joined(block, index, [block.text])[0]
            self._emit(joined(self._context_of(block), text), block.place, kind)

    def _with_footnotes(self, footnotes: list[int]) -> list[Unit]:
        """Put footnotes that nothing refers to where they stood."""
        waiting = iter(footnotes)
        result: list[Unit] = []
        section = title = ""
        for unit in self._units:
            if unit.text:
                section, title = unit.section, unit.title
                result.append(unit)
                continue
            index = next(waiting)
            block = self._blocks[index]
            if index not in self._notes.told and has_words(block.text):
                result.append(Unit(block.text, section, title, block.place, FactKind.FOOTNOTE, joinable=False))
        return result

    def _paragraph(self, block: Block, index: int) -> None:
        if is_custom(block.text):
            return
        sentences = self._notes.joined(block, index, split_sentences(block.text))
        if not sentences or is_bare(block.text):
            if self._follows(index, {BlockKind.CODE}):
                self._lead_in = _LeadIn(block.text, block.place)
            return
        if self._announces(sentences[-1], index):
            lead = sentences.pop()
            if sentences and points_back(lead) and self._count(f"{sentences[-1]} {lead}") <= WHOLE_ITEM_TOKENS:
                lead = f"{sentences[-1]} {lead}"
            self._lead_in = _LeadIn(lead, block.place)
        groups = merge_short(group_leaning(sentences), self._count)
        for number, text in enumerate(groups):
            self._prose(text, block.place, first=number == 0)
        if groups:
            self._last_sentence = groups[-1] if groups[-1].endswith(ENDED) else ""

    def _prose(self, text: str, place: Place, *, first: bool) -> None:
        """Write sentences of a paragraph, with the heading or the sentence before where they need them."""
        if first and points_back(text) and self._last_sentence and len(self._last_sentence) <= MAX_CARRIED_CHARS:
            self._emit(f"{self._last_sentence} {text}", place, FactKind.STATEMENT)
            return
        if is_notice(text):
            self._emit(text, place, FactKind.BOILERPLATE)
            return
        fragment = not text.endswith(ENDED) and self._count(text) < MIN_FACT_TOKENS
        if fragment and not self._headings.title and self._has_headings and not tells(text):
            return  # above the first heading: the name of the house, a line of a cover
        title = self._headings.title
        loose = not text.endswith(ENDED) and self._count(text) <= WHOLE_ITEM_TOKENS and adds_words(title, text)
        if title and (self._needs_title(text, first=first) or fragment or loose):
            self._emit(joined(title, text), place, FactKind.STATEMENT)
        else:
            self._emit(text, place, FactKind.STATEMENT, joinable=True)

    def _continued(self, block: Block, index: int) -> None:
        """Write a further paragraph of an item: it belongs to the item's text, or else carries the item's beginning."""
        level = max(self._parents)
        parent = self._parents[level]
        sentences = self._notes.joined(block, index, split_sentences(block.text))
        if not sentences:
            return
        announced = sentences.pop() if self._announces(sentences[-1], index) else ""
        text = " ".join(sentences)
        last = self._units[-1] if self._units else None
        if (
            text
            and last is not None
            and parent.unit == len(self._units) - 1
            and self._count(f"{last.text} {text}") <= WHOLE_ITEM_TOKENS * 2
        ):
            closed = last.text if last.text.endswith(CLOSED) else f"{last.text}."
            self._units[-1] = replace(last, text=f"{closed} {text}")
        elif text:
            base = parent.base or parent.text
            context = base if self._count(base) <= WHOLE_ITEM_TOKENS else self._headings.title
            for part in merge_short(group_leaning(sentences), self._count):
                self._emit(joined(context, part), block.place, FactKind.LIST_ITEM)
        if announced:
            base = parent.base or parent.text
            self._parents[level] = _LeadIn(joined(base, announced), block.place, base=base)
        else:
            parent.used = True

    def _announces(self, sentence: str, index: int) -> bool:
        """Say whether a sentence introduces what follows it."""
        if len(sentence) > MAX_CONTEXT_CHARS:
            return False
        return sentence.endswith(":") or (
            not sentence.endswith((*ENDED, ")", ";"))
            and self._follows(index, {BlockKind.LIST_ITEM})
            and self._blocks[index + 1].level >= self._blocks[index].within
        )

    def _follows(self, index: int, kinds: set[BlockKind]) -> bool:
        return index + 1 < len(self._blocks) and self._blocks[index + 1].kind in kinds

    def _item(self, block: Block, index: int) -> None:
        level = min(block.level, MAX_LIST_DEPTH)
        self._close_parents(level)
        if level == 0:
            if self._numbered not in {None, bool(block.number)}:
                self._close_lead_in()  # another list: what announced the one before does not announce it
            self._numbered = bool(block.number)
        parents = [
            parent for _, parent in sorted(self._parents.items()) if self._count(parent.text) <= WHOLE_ITEM_TOKENS
        ]
        for parent in self._parents.values():
            parent.used = True
        kind = FactKind.DEFINITION if block.kind is BlockKind.DEFINITION else FactKind.LIST_ITEM
        context = parents[-1].text if parents else self._context_of_item(block)
        if block.number and _STEP_NUMBER.fullmatch(block.number):
            kind = FactKind.STEP
        label = block.term or block.number
        said = self._notes.joined(block, index, split_sentences(block.text))
        text = labelled(label, " ".join(said), term=bool(block.term))
        whole = joined(context, text)
        nested = self._nested_follows(block, index)
        announces = (block.text.endswith(":") or nested) and self._count(whole) <= WHOLE_ITEM_TOKENS
        if block.kind is BlockKind.DEFINITION:
            self._parents[level] = _LeadIn(joined(context, block.term if block.text else text), block.place, used=True)
            announces = announces or not block.text
        else:
            self._parents[level] = _LeadIn(whole, block.place, used=not announces)
        if announces:
            self._parents[level] = _LeadIn(whole, block.place, used=not block.text)
            return
        if self._count(block.text) <= WHOLE_ITEM_TOKENS:
            self._emit(whole, block.place, kind)
            self._parents[level].unit = len(self._units) - 1
            return
        for number, part in enumerate(merge_short(group_leaning(said), self._count)):
            told = labelled(label, part, term=bool(block.term)) if block.term or number == 0 else part
            self._emit(joined(context, told), block.place, kind)

    def _nested_follows(self, block: Block, index: int) -> bool:
        """Say whether an item only names those below it: it is no sentence, and they follow at once."""
        if block.text.endswith(ENDED) or index + 1 >= len(self._blocks):
            return False
        after = self._blocks[index + 1]
        return after.kind in {BlockKind.LIST_ITEM, BlockKind.DEFINITION} and after.level > block.level

    def _context_of_item(self, block: Block) -> str:
        """Return what stands before an item: its lead-in with the heading where that adds something, or the heading."""
        self._lead_in.used = self._lead_in.listed = True
        title, lead = self._headings.title, self._lead_in.text
        if not lead:
            short = self._count(block.text) <= CONTEXT_TOKENS or block.kind is BlockKind.LIST_ITEM
            return "" if block.kind is BlockKind.DEFINITION and (is_generic(title) or not short) else title
        if self._headings.tells(f"{lead} {block.text}") and self._count(lead) <= CONTEXT_TOKENS:
            return joined(title, lead)
        return lead

    def _context_of(self, block: Block) -> str:
        """Return what stands before code, captions and tables: their item, their lead-in or their heading."""
        parent = self._parents.get(min(block.within, MAX_LIST_DEPTH) - 1)
        if parent is None:
            return self._context()
        parent.used = True
        return parent.text if self._count(parent.text) <= WHOLE_ITEM_TOKENS else self._headings.title

    def _table(self, block: Block, table: Table, index: int) -> None:
        """Write a fact for each row below the heads, with the names of its columns."""
        self._tables += 1
        notes = [text for row, _, mark in table.notes if row < 0 and (text := self._notes.text(mark, index))]
        near = [self._context_of(block), block.term]
        if table.caption:
            near.pop(0)
        context = table_context(table.caption, notes, near, self._headings, self._count)
        context = context if len(context) <= MAX_CONTEXT_CHARS else ""
        width = len(table.rows[0]) if table.rows else 0
        for row in rows_of(table, lambda mark: self._notes.text(mark, index)):
            where = table.places[row.row] if table.places else block.place
            span = (row.row + 1, row.row + 1)
            place = replace(where, table=self._tables, rows=span, columns=(1, width))
            for text in pieces_of(row, self._count):
                self._emit(joined(context, text), place, FactKind.TABLE_ROW)
        for row_at, _, mark in table.notes:
            told = self._notes.text(mark, index) if 0 <= row_at < table.header_rows else ""
            if len(told) > MAX_NAME_NOTE_CHARS:
                self._emit(joined(context, told), block.place, FactKind.FOOTNOTE)

    def _needs_title(self, text: str, *, first: bool) -> bool:
        """Say whether the heading tells something that the text alone does not."""
        title, size = self._headings.title, self._count(text)
        if first and (title.endswith("?") or size < MIN_FACT_TOKENS or leans(text)):
            return True
        return size <= CONTEXT_TOKENS and self._headings.tells(text)

    def _context(self) -> str:
        if self._lead_in.listed:
            return self._headings.title
        self._lead_in.used = True
        return self._lead_in.text or self._headings.title

    def _close_lead_in(self) -> None:
        """Keep a lead-in that introduced nothing as text of its own."""
        if not self._lead_in.used:
            text = joined(self._headings.title, self._lead_in.text)
            self._emit(text, self._lead_in.place, FactKind.STATEMENT, joinable=True)
        self._lead_in = _LeadIn(used=True)

    def _close_parents(self, level: int) -> None:
        """Close the items that are not above ``level``; one that announced items and has none is kept as text."""
        for depth in sorted(depth for depth in self._parents if depth >= level):
            parent = self._parents.pop(depth)
            if not parent.used:
                self._emit(parent.text, parent.place, FactKind.LIST_ITEM)

    def _emit(self, text: str, place: Place, kind: FactKind, *, joinable: bool = False) -> None:
        if not has_words(text):
            return
        if kind is not FactKind.STATEMENT:
            self._last_sentence = ""
        self._units.append(Unit(text, self._headings.section, self._headings.title, place, kind, joinable))
