"""From a document's blocks to facts: sentence-sized assertions that can be read on their own (CRP-SPEC-009).

Paragraphs are cut into assertions: a sentence, together with the sentences after it that lean on it ("It ...",
"However, ..."). A list item carries its lead-in sentence or its heading, a table row its column names. What is shorter
than 10 tokens joins a neighbour; what is longer than 512 tokens is cut into windows that overlap by 10%. (Between whole
assertions the overlap has no effect: an assertion in two chunks has one id and is stored once.)

Invariants: reading order is kept; the same document gives the same drafts; no word of a paragraph, item or row is lost.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from services.common.documents.document import NOWHERE, Block, BlockKind, Document, Place, Table, row_text
from services.common.documents.fact_draft import FactDraft
from services.common.documents.sentences import split_sentences
from services.common.names import plain_name

CountTokens: TypeAlias = Callable[[str], int]

MIN_FACT_TOKENS: Final = 10
MAX_FACT_TOKENS: Final = 2048
CHUNK_TOKENS: Final = 512
OVERLAP_RATIO: Final = 0.10
WHOLE_ITEM_TOKENS: Final = 64
"""A list item up to this long stays one fact: its later sentences rarely stand on their own."""

_LEANING: Final = re.compile(
    r"(?:it|its|this|that|these|those|they|them|their|he|she|his|her|such|both|neither|either|the former|the latter"
    r"|however|otherwise|therefore|thus|hence|instead|moreover|furthermore|in addition|additionally|also|then"
    r"|afterwards|in that case|in this case|in such cases|if so|if not|for example|for instance|nevertheless"
    r"|consequently|as a result|accordingly|exceptions?|but|and|or|nor|yet|so)\b",
    re.IGNORECASE,
)
CONTEXT_TOKENS: Final = 24
"""A sentence up to this long carries its heading when the heading has words that the sentence lacks."""
_GENERIC_TITLE_WORDS: Final = frozenset(
    {
        *("about", "annex", "appendix", "background", "chapter", "contents", "definitions", "detail", "details"),
        *("document", "from", "general", "information", "introduction", "notes", "other", "overview", "part"),
        *("preamble", "purpose", "remarks", "scope", "section", "summary", "this", "what", "when", "which", "with"),
    }
)
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
MAX_GROUP_SENTENCES: Final = 3
MAX_CONTEXT_CHARS: Final = 2_000
"""A longer heading or lead-in is text of its own: repeated before all that it stands above, it would multiply."""
MAX_LIST_DEPTH: Final = 32
"""Items nested deeper are read as items of this depth."""
_CLOSED: Final = (".", "!", "?", ":", ";", "…")


@dataclass(slots=True)
class _LeadIn:
    """Text that announces what follows; ``used`` once something took it up (or there is nothing to take up)."""

    text: str = ""
    place: Place = NOWHERE
    used: bool = False


@dataclass(frozen=True, slots=True)
class _Unit:
    text: str
    section: str
    location: str
    joinable: bool


class _Chunker:
    """Walks the blocks once, with the headings, the pending lead-in and the parent items that are open."""

    def __init__(self, count: CountTokens) -> None:
        self._count = count
        self._headings: list[tuple[int, str]] = []
        self._lead_in = _LeadIn(used=True)
        self._parents: dict[int, _LeadIn] = {}
        self._units: list[_Unit] = []

    def units(self, blocks: tuple[Block, ...]) -> list[_Unit]:
        for index, block in enumerate(blocks):
            if block.kind is BlockKind.LIST_ITEM:
                self._item(block)
                continue
            self._close_parents(0)
            if block.kind is BlockKind.HEADING and len(block.text) <= MAX_CONTEXT_CHARS:
                self._close_lead_in()
                self._headings = [entry for entry in self._headings if entry[0] < block.level]
                self._headings.append((0 if index == 0 and block.level == 1 else block.level, block.text))
            elif block.kind in {BlockKind.PARAGRAPH, BlockKind.HEADING}:
                self._close_lead_in()
                self._paragraph(block)
            elif block.table is not None:
                self._table(block.table, block.place)
            else:
                self._emit(_joined(self._context(), block.text), block.place, joinable=False)
        self._close_parents(0)
        self._close_lead_in()
        return self._units

    def _paragraph(self, block: Block) -> None:
        sentences = list(split_sentences(block.text))
        if sentences and sentences[-1].endswith(":") and len(sentences[-1]) <= MAX_CONTEXT_CHARS:
            self._lead_in = _LeadIn(sentences.pop(), block.place)
        for index, text in enumerate(merge_short(group_leaning(sentences), self._count)):
            if self._needs_title(text, first=index == 0):
                self._emit(_joined(self._title(), text), block.place, joinable=True)
            else:
                self._emit(text, block.place, joinable=True)

    def _item(self, block: Block) -> None:
        level = min(block.level, MAX_LIST_DEPTH)
        self._close_parents(level)
        parents = [
            parent for _, parent in sorted(self._parents.items()) if self._count(parent.text) <= WHOLE_ITEM_TOKENS
        ]
        for parent in self._parents.values():
            parent.used = True
        context = parents[-1].text if parents else self._context()
        whole = _joined(context, block.text)
        announces = block.text.endswith(":") and self._count(whole) <= WHOLE_ITEM_TOKENS
        self._parents[level] = _LeadIn(whole, block.place, used=not announces)
        if announces:
            return
        if self._count(block.text) <= WHOLE_ITEM_TOKENS:
            self._emit(whole, block.place, joinable=False)
            return
        for text in merge_short(group_leaning(list(split_sentences(block.text))), self._count):
            self._emit(_joined(context, text), block.place, joinable=False)

    def _table(self, table: Table, place: Place) -> None:
        """Write a fact for each row below the heads, with the names of its columns."""
        context = self._table_context()
        columns = table.rows[table.header_rows - 1] if table.header_rows else ()
        for index, row in enumerate(table.rows[table.header_rows :], start=table.header_rows):
            text = row_text(columns, row)
            if text:
                where = table.places[index] if table.places else place
                self._emit(_joined(context, text), where, joinable=False)

    def _needs_title(self, text: str, *, first: bool) -> bool:
        """Say whether the heading tells something that the text alone does not."""
        title, size = self._title(), self._count(text)
        if first and (title.endswith("?") or size < MIN_FACT_TOKENS or _LEANING.match(text)):
            return True
        is_document_title = bool(self._headings) and self._headings[-1][0] == 0
        return size <= CONTEXT_TOKENS and not is_document_title and _adds_words(title, text)

    def _context(self) -> str:
        self._lead_in.used = True
        return self._lead_in.text or self._title()

    def _table_context(self) -> str:
        """Return what a row needs to be read alone: cells are short, so the document's title is named as well."""
        near = self._context()
        document = self._headings[0][1] if self._headings and self._headings[0][0] == 0 else ""
        return (
            f"{document}, {near}" if near and not _content_words(document) <= _content_words(near) else near or document
        )

    def _title(self) -> str:
        return self._headings[-1][1] if self._headings else ""

    def _close_lead_in(self) -> None:
        """Keep a lead-in that introduced nothing as text of its own."""
        if not self._lead_in.used:
            self._emit(_joined(self._title(), self._lead_in.text), self._lead_in.place, joinable=True)
        self._lead_in = _LeadIn(used=True)

    def _close_parents(self, level: int) -> None:
        """Close the items that are not above ``level``; one that announced items and has none is kept as text."""
        for depth in sorted(depth for depth in self._parents if depth >= level):
            parent = self._parents.pop(depth)
            if not parent.used:
                self._emit(parent.text, parent.place, joinable=False)

    def _emit(self, text: str, place: Place, *, joinable: bool) -> None:
        if not _has_words(text):
            return
        section = " > ".join(f"{'#' * max(level, 1)} {title}" for level, title in self._headings)
        location = plain_name(", ".join(part for part in (str(place), section) if part))
        self._units.append(_Unit(text, section, location, joinable))


def _adds_words(title: str, text: str) -> bool:
    """Say whether the title has content words and none of them, by its first five letters, occurs in the text."""
    words = _content_words(title)
    return bool(words) and words.isdisjoint(_content_words(text))


def _content_words(text: str) -> frozenset[str]:
    return frozenset(word[:5] for word in _WORD.findall(text.lower()) if word not in _GENERIC_TITLE_WORDS)


def group_leaning(sentences: list[str]) -> list[str]:
    """Join to each sentence the ones after it that lean on it, at most two, so that each text can be read alone."""
    groups: list[list[str]] = []
    for sentence in sentences:
        if groups and len(groups[-1]) < MAX_GROUP_SENTENCES and _LEANING.match(sentence):
            groups[-1].append(sentence)
        else:
            groups.append([sentence])
    return [" ".join(group) for group in groups]


def merge_short(texts: list[str], count: CountTokens) -> list[str]:
    """Join texts of fewer than 10 tokens to the one before them, or to the next one when they come first."""
    merged: list[list[str]] = []
    for text in texts:
        if merged and (count(text) < MIN_FACT_TOKENS or count(" ".join(merged[-1])) < MIN_FACT_TOKENS):
            merged[-1].append(text)
        else:
            merged.append([text])
    return [" ".join(parts) for parts in merged]


def windows(text: str, count: CountTokens) -> list[str]:
    """Cut a text of more than 512 tokens at white space into windows of at most 512 that overlap by about 10%."""
    if count(text) <= CHUNK_TOKENS:
        return [text]
    pieces = [piece for word in re.findall(r"\S+\s*", text) for piece in _pieces(word, count)]
    sizes = [count(piece) for piece in pieces]
    result: list[str] = []
    start = 0
    while start < len(pieces):
        end, total = start, 0
        while end < len(pieces) and (end == start or total + sizes[end] <= CHUNK_TOKENS):
            total += sizes[end]
            end += 1
        result.append("".join(pieces[start:end]).strip())
        if end == len(pieces):
            break
        start = max(start + 1, _step_back(sizes, end))
    return result


def _step_back(sizes: list[int], end: int) -> int:
    """Return where the next window starts: so far before ``end`` that 10% of a chunk is read again."""
    overlap, start = 0, end
    while start > 0 and overlap + sizes[start - 1] <= CHUNK_TOKENS * OVERLAP_RATIO:
        overlap += sizes[start - 1]
        start -= 1
    return start


def _pieces(word: str, count: CountTokens) -> list[str]:
    """Cut a single word that alone exceeds a chunk (a data URI, a key) into parts of a safe length."""
    if count(word) <= CHUNK_TOKENS:
        return [word]
    safe = CHUNK_TOKENS // 4
    return [word[start : start + safe] for start in range(0, len(word), safe)]


def chunk(document: Document, count: CountTokens) -> tuple[FactDraft, ...]:
    """Return the facts of a document in reading order, each once per section.

    Args:
        document: what a parser gave.
        count: tokens of a text in the ingestion tokenizer.
    """
    units = _join_fragments(_Chunker(count).units(document.blocks), count)
    drafts: dict[tuple[str, str], FactDraft] = {}
    for unit in units:
        for text in windows(unit.text, count):
            if _has_words(text):
                drafts.setdefault((unit.section, text), FactDraft(text, unit.section, unit.location))
    return tuple(drafts.values())


def _join_fragments(units: list[_Unit], count: CountTokens) -> list[_Unit]:
    """Join paragraphs that are still below 10 tokens to a neighbouring paragraph of the same section."""
    joined: list[list[_Unit]] = []
    for unit in units:
        last = joined[-1][0] if joined else None
        fits = last is not None and last.joinable and unit.joinable and last.section == unit.section
        if fits and (count(unit.text) < MIN_FACT_TOKENS or count(_run_on(joined[-1])) < MIN_FACT_TOKENS):
            joined[-1].append(unit)
        else:
            joined.append([unit])
    return [replace(parts[0], text=_run_on(parts)) if len(parts) > 1 else parts[0] for parts in joined]


def _run_on(units: list[_Unit]) -> str:
    """Return the texts of units one after the other, each closed before the next."""
    closed = [unit.text if unit.text.endswith(_CLOSED) else f"{unit.text}." for unit in units[:-1]]
    return " ".join([*closed, units[-1].text])


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _joined(context: str, text: str) -> str:
    """Return ``context: text``; the context's own final punctuation is kept."""
    if not context or text.startswith(context):
        return text
    if context.endswith(_CLOSED):
        return f"{context} {text}"
    return f"{context}: {text}"
