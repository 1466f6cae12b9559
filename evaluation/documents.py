"""How well documents are read, against what a careful person sees: cells, order, hidden text, furniture, facts."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from evaluation.document_labels import LabelledDocument, LabelledTable
from evaluation.fact_labels import FactLabels, bare, plain
from services.common.documents.document import Block, Document, Table
from services.common.documents.facts.chunking import chunk
from services.common.documents.facts.draft import FactDraft
from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import CrpError

LIMITS: Final = ReadingLimits(max_bytes=64 << 20, max_pages=2_000, max_chars=64_000_000)


@dataclass(slots=True)
class Score:
    """What was right of what was labelled, in one document or several.

    Attributes:
        rights: by measure, how many were right.
        wholes: by measure, of how many.
        facts: how many were made.
        misses: what was wrong, for people.
    """

    documents: int = 0
    unread: int = 0
    facts: int = 0
    rights: Counter[str] = field(default_factory=Counter)
    wholes: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def note(self, measure: str, *, right: bool, miss: str) -> None:
        """Count one labelled thing."""
        self.wholes[measure] += 1
        self.rights[measure] += right
        if not right:
            self.misses.append(f"{measure}: {miss}")

    def add(self, other: "Score") -> None:
        """Count all of another one's."""
        self.documents += other.documents
        self.unread += other.unread
        self.facts += other.facts
        self.rights.update(other.rights)
        self.wholes.update(other.wholes)

    def wrong(self, measure: str) -> int:
        """Return how many were wrong."""
        return self.wholes[measure] - self.rights[measure]

    def share(self, measure: str) -> float | None:
        """Return the share that was right; ``None`` where nothing was labelled."""
        return self.rights[measure] / self.wholes[measure] if self.wholes[measure] else None


CELLS: Final = "cells"
HEADS: Final = "heads"
ORDER: Final = "order"
HEADINGS: Final = "headings"
HIDDEN: Final = "hidden"
FURNITURE: Final = "furniture"
TOGETHER: Final = "together"
APART: Final = "apart"
SHARES: Final = (CELLS, HEADS, ORDER, HEADINGS, TOGETHER)
"""Measures that are told as shares of what is right."""
COUNTS: Final = (HIDDEN, FURNITURE, APART)
"""Measures that are told as numbers of what is wrong."""


def score_document(labelled: LabelledDocument, count: Callable[[str], int]) -> Score:
    """Read a document, cut it into facts and compare both with its labels; ``count`` counts tokens."""
    score = Score(documents=1)
    try:
        document = read_document(labelled.path.read_bytes(), "", labelled.path.name, LIMITS)
        drafts: Sequence[FactDraft] = chunk(document, count)
    except CrpError as error:
        score.unread = 1
        score.misses.append(f"unread: {error}")
        document, drafts = Document("", "", ()), ()
    blocks = [block for block in document.blocks if _within(block.place.page, labelled.pages)]
    facts = [draft.content for draft in drafts if _within(draft.place.page, labelled.pages)]
    score.facts = len(facts)
    score_tables(score, labelled.tables, [block.table for block in document.blocks if block.table is not None])
    _score_order(score, labelled.order, blocks)
    titles = {bare(block.text) for block in blocks if block.kind == "HEADING"}
    for _, text in labelled.headings:
        score.note(HEADINGS, right=bare(text) in titles, miss=repr(text))
    labels = FactLabels(labelled)
    for text in labelled.hidden:
        score.note(HIDDEN, right=not labels.told(text, facts), miss=repr(text))
    for text in labelled.furniture:
        score.note(FURNITURE, right=not labels.told(text, facts), miss=repr(text))
    _score_facts(score, labels, facts)
    return score


def _within(page: int, pages: tuple[int, int] | None) -> bool:
    return pages is None or not page or pages[0] <= page <= pages[1]


def score_tables(score: Score, labelled: Sequence[LabelledTable], found: Sequence[Table]) -> None:
    """Compare each labelled table with the produced one that has most of its cells; each is taken once."""
    produced = [[[plain(cell) for cell in row] for row in table.rows] for table in found]
    wanted = [[[plain(cell) for cell in row] for row in table.grid] for table in labelled]
    pairs = sorted(
        ((_equal_cells(want, have), -i, -j) for i, want in enumerate(wanted) for j, have in enumerate(produced)),
        reverse=True,
    )
    of: dict[int, int] = {}
    for equal, i, j in pairs:
        if equal and -i not in of and -j not in of.values():
            of[-i] = -j
    for index, table in enumerate(labelled):
        have = produced[of[index]] if index in of else []
        for row, cells in enumerate(wanted[index]):
            for column, cell in enumerate(cells):
                got = _cell(have, row, column)
                name = f"{table.where or table.caption}, row {row + 1}, column {column + 1}"
                score.note(CELLS, right=got == cell, miss=f"{name}: {cell!r}, read as {got!r}")
        heads = (table.header_rows, table.header_columns)
        read = (found[of[index]].header_rows, found[of[index]].header_columns) if index in of else None
        score.note(HEADS, right=heads == read, miss=f"{table.where or table.caption}: {heads}, read as {read}")


def _equal_cells(want: Sequence[Sequence[str]], have: Sequence[Sequence[str]]) -> int:
    return sum(
        bool(cell) and cell == other
        for cells, others in zip(want, have, strict=False)
        for cell, other in zip(cells, others, strict=False)
    )


def _cell(rows: Sequence[Sequence[str]], row: int, column: int) -> str | None:
    return rows[row][column] if row < len(rows) and column < len(rows[row]) else None


def _score_order(score: Score, order: Sequence[str], blocks: Iterable[Block]) -> None:
    """Count adjacent snippets that stand one after the other in the blocks."""
    stream = bare(" ".join(part for block in blocks for part in _stream(block)))
    places = [stream.find(bare(snippet)) for snippet in order]
    for (first, at), (second, then) in zip(
        zip(order, places, strict=True), list(zip(order, places, strict=True))[1:], strict=False
    ):
        missing = [text for text, place in ((first, at), (second, then)) if place < 0]
        told = f"not found: {missing}" if missing else f"{first!r} after {second!r}"
        score.note(ORDER, right=0 <= at < then, miss=told)


def _stream(block: Block) -> Iterable[str]:
    yield from (block.number, block.term, block.text)
    if block.table is not None:
        yield block.table.caption
        for index, row in enumerate(block.table.rows):
            yield from (cell for at, cell in enumerate(row) if (index, at) not in block.table.spanned)


def _score_facts(score: Score, labels: FactLabels, facts: Sequence[str]) -> None:
    for group in labels.together:
        score.note(TOGETHER, right=any(group.all_in(fact) for fact in facts), miss=repr(list(group.texts)))
    for group in labels.apart:
        wrong = next((unit for fact in facts if (unit := labels.false_part(group, fact))), None)
        score.note(APART, right=wrong is None, miss=f"{list(group.texts)!r} in {wrong!r}")
