"""Sources as the passages that claims are held against: stretches of whole sentences, rows of tables (page, D1).

A passage is verbatim: what stands in the source from its first to its last character, so that evidence has offsets in
the source. A heading or a lead-in stays with what it heads, a list with its lead-in, and a paragraph is cut between
sentences when it is long. Only a row of a table is read with the names of its columns; its evidence is the whole row.
Linear in the text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from services.common.reading.sentences import sentences
from services.common.reading.text_types import Sentence, SentenceKind, Span
from services.dpe.domain.facts import EnvelopeFact, FactSource
from services.dpe.domain.guard.source_tables import tables_in

PASSAGE_CHARS: Final = 1_000
"""A passage that is longer begins a new one with its next sentence; about what the grounding model reads at once."""
_HEADING_CHARS: Final = 90
_ENDS: Final = (".", "!", "?", "…", ";", ",")
_LEADS_IN: Final = ":"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source as it was given; ``source_id`` is its caller's."""

    source_id: str
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a source.

    Attributes:
        source: of the request, counted from 0.
        span: where it stands in it.
        text: as it is read: verbatim, or a row with the names of its columns.
        is_row: it is a row.
    """

    source: int
    span: Span
    text: str = field(repr=False)
    is_row: bool = False

    def place(self, start: int, end: int) -> Span:
        """Return where a stretch of the text stands in the source; of a row always the whole row."""
        return self.span if self.is_row else Span(self.span.start + start, self.span.start + end)


def passages_of(sources: Sequence[SourceText]) -> tuple[Passage, ...]:
    """Cut the sources; a passage that says word for word what one before it says is left out."""
    found: dict[str, Passage] = {}
    for number, source in enumerate(sources):
        for passage in sorted(_passages(number, source.content), key=lambda one: one.span.start):
            found.setdefault(passage.text, passage)
    return tuple(found.values())


def facts_of(passages: Sequence[Passage], sources: Sequence[SourceText]) -> tuple[EnvelopeFact, ...]:
    """Return the passages as the facts of an analysis: passage number n is the fact ``p<n>``, counted from 1."""
    return tuple(
        EnvelopeFact(f"p{number}", passage.text, source=FactSource("", "", sources[passage.source].source_id))
        for number, passage in enumerate(passages, start=1)
    )


def _passages(number: int, content: str) -> Iterator[Passage]:
    tables = tables_in(content)
    for span in _between(len(content), [where for where, _ in tables]):
        for stretch in _stretches(content, span):
            yield Passage(number, stretch, content[stretch.start : stretch.end])
    for _, rows in tables:
        for row in rows:
            yield Passage(number, row.span, row.text, is_row=True)


def _between(length: int, tables: Sequence[Span]) -> list[Span]:
    """Return what stands before, between and after the tables."""
    edges = [Span(0, 0), *tables, Span(length, length)]
    return [Span(left.end, right.start) for left, right in pairwise(edges) if left.end < right.start]


def _stretches(content: str, span: Span) -> Iterator[Span]:
    text = content[span.start : span.end]
    current: list[Sentence] = []
    for sentence in sentences(text):
        if current and _begins_anew(text, current, sentence):
            yield _around(current, span.start)
            current = []
        current.append(sentence)
    if current:
        yield _around(current, span.start)


def _around(group: Sequence[Sentence], by: int) -> Span:
    return Span(group[0].start + by, group[-1].end + by)


def _begins_anew(text: str, current: Sequence[Sentence], sentence: Sentence) -> bool:
    """Say whether a sentence opens a passage: the last one is full, or a blank line or a heading parts the two."""
    last = current[-1]
    if sentence.end - current[0].start > PASSAGE_CHARS:
        return True
    if _heads(text, last) and not (last.kind is SentenceKind.LIST_ITEM and _is_listed(text, current)):
        return False
    if sentence.kind is SentenceKind.HEADING:
        return True
    parted = text.count("\n", last.end, sentence.start) > 1
    return parted and not (text[last.start : last.end].endswith(_LEADS_IN) and sentence.kind is SentenceKind.LIST_ITEM)


def _is_listed(text: str, current: Sequence[Sentence]) -> bool:
    """Say whether the last sentence is an item of a list, not the number of a heading ("1. Rent")."""
    return len(current) > 1 and (current[-2].kind is SentenceKind.LIST_ITEM or not _heads(text, current[-2]))


def _heads(text: str, sentence: Sentence) -> bool:
    """Say whether a sentence is a heading, or a line that reads like one."""
    if sentence.kind is SentenceKind.HEADING:
        return True
    said = text[sentence.start : sentence.end]
    alone = "\n" in text[sentence.end : sentence.end + 2] or sentence.end == len(text)
    return alone and len(said) <= _HEADING_CHARS and not said.endswith(_ENDS)
