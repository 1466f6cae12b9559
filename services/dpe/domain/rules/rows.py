"""What a table says in another row (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0095).

A row stands in the facts as "Category: Controlled drugs; Location: Steel cabinet; Check: At each shift change". A claim
that names one row, and says what stands in the same column of another, takes that from the wrong row. It is clear where
any sentence that names its row says it too.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.text_types import Span
from services.dpe.domain.words import Word

_CELL: Final = re.compile(r"(?P<head>[^:;|\n]{1,60}):\s(?P<said>[^;|\n]{1,120})")
_MIN_CELLS: Final = 2
_MIN_WORDS: Final = 2
"""A cell of one word ("Yes") is too easily said of something else."""


@dataclass(frozen=True, slots=True)
class _Cell:
    head: str
    words: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class _Row:
    """The cells of a row, the first of which names it."""

    source: Reading
    cells: tuple[_Cell, ...]

    @property
    def label(self) -> frozenset[str]:
        return roots(" ".join(self.cells[0].words))

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(cell.head for cell in self.cells)


def changed_row(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return what a claim says of one row of a table that another row says, or ``None``."""
    rows = [row for source in sources if (row := _row(source)) is not None]
    named = [row for row in rows if row.label and row.label <= claim.content]
    named = [row for row in named if not any(row.label < other.label for other in named)]
    if len({row.label for row in named}) != 1:
        return None
    own = named[0]
    spoken = [word.text for word in claim.tokens]
    for other in rows:
        if other.heads != own.heads or other.label == own.label or other.label <= claim.content:
            continue
        for ours, theirs in zip(own.cells[1:], other.cells[1:], strict=True):
            at = _said(spoken, theirs.words)
            if at is None or set(theirs.words) <= set(ours.words) or _said(spoken, ours.words) is not None:
                continue
            if not _is_said_elsewhere(own, theirs, sources):
                return _departure(claim, at, at + len(theirs.words), own, ours)
    return None


def _row(source: Reading) -> _Row | None:
    if ";" not in source.text:
        return None
    cells = tuple(_cells(source))
    return _Row(source, cells) if len(cells) >= _MIN_CELLS else None


def _cells(source: Reading) -> list[_Cell]:
    found: list[_Cell] = []
    for match in _CELL.finditer(source.text):
        held = [word.text for word in source.tokens if match.start("said") <= word.start < match.end("said")]
        # What stands over the table is cut off the head of its first cell: "Storage: Category: Controlled drugs".
        head = match["head"].strip().casefold()
        said, start = match["said"].rstrip(" ."), match.start("said")
        if ": " in said and not found:
            head, _, said = said.rpartition(": ")
            start = match.end("said") - len(match["said"].rpartition(": ")[2])
            held = [word.text for word in source.tokens if start <= word.start < match.end("said")]
            head = head.rpartition(": ")[2].strip().casefold()
        if held:
            found.append(_Cell(head, tuple(held), Span(start, start + len(said))))
    return found


def _said(spoken: list[str], cell: tuple[str, ...]) -> int | None:
    """Return where the words of a cell stand one behind the other; ``None`` where they do not, or are too few."""
    if len(cell) < _MIN_WORDS:
        return None
    first = cell[0]
    for at, word in enumerate(spoken):
        if word == first and tuple(spoken[at : at + len(cell)]) == cell:
            return at
    return None


def _is_said_elsewhere(own: _Row, cell: _Cell, sources: list[Reading]) -> bool:
    """Say whether a sentence that names the row, and is no other row, holds the words of the cell."""
    return any(
        own.label <= source.known and _said([word.text for word in source.tokens], cell.words) is not None
        for source in sources
        if source is own.source or _row(source) is None
    )


def _departure(claim: Reading, first: int, end: int, own: _Row, cell: _Cell) -> Departure:
    tokens: tuple[Word, ...] = claim.tokens
    return Departure(
        DistortionType.ENTITY_SUBSTITUTED,
        Rule.ROW,
        claim.span(tokens[first].start, tokens[end - 1].end),
        own.source,
        own.source.span(cell.span.start, cell.span.end),
    )
