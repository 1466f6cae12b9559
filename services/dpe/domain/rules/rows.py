"""What a table says in another row (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0095).

A row stands in the facts as "Category: Controlled drugs; Location: Steel cabinet; Check: At each shift change". A claim
that names one row, and says what stands in the same column of another, takes that from the wrong row. It is clear where
any sentence that names its row says it too.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from services.common.reading.text_types import Span
from services.common.reading.words import words
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots

_CELL: Final = re.compile(r"(?P<head>[^:;|\n]{1,60}):\s(?P<said>[^;|\n]{1,120})")
_LINE: Final = re.compile(r"[^\n]+")
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

    cells: tuple[_Cell, ...]
    label: frozenset[str]
    heads: tuple[str, ...]


def changed_row(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return what a claim says of one row of a table that another row says, or ``None``."""
    rows = [(row, source) for source in sources for row in source.once(_rows)]
    named = [(row, source) for row, source in rows if row.label and row.label <= claim.content]
    named = [(row, source) for row, source in named if not any(row.label < other.label for other, _ in named)]
    if len({row.label for row, _ in named}) != 1:
        return None
    own, source = named[0]
    said_of_it = [_joined(cell.words) for cell in own.cells]
    spoken = _joined(word.text for word in claim.tokens)
    for other, _ in rows:
        if other.heads != own.heads or other.label <= claim.content:
            continue
        for ours, theirs in zip(own.cells[1:], other.cells[1:], strict=True):
            if (
                len(theirs.words) >= _MIN_WORDS
                and _joined(theirs.words) in spoken
                and not any(_joined(theirs.words) in cell for cell in said_of_it)
                and _joined(ours.words) not in spoken
                and not _is_said_elsewhere(own, theirs, sources)
            ):
                at = spoken[: spoken.index(_joined(theirs.words))].count(" ")
                return _departure(claim, at, at + len(theirs.words), source, ours)
    return None


def _rows(source: Reading) -> tuple[_Row, ...]:
    """Return the rows of a sentence: of a table that was read as one each line is a row."""
    found: list[_Row] = []
    for line in _LINE.finditer(source.text):
        if ";" in line.group() or "|" in line.group():
            cells = tuple(_cells(line.group(), line.start()))
            if len(cells) >= _MIN_CELLS:
                label = roots(" ".join(cells[0].words))
                found.append(_Row(cells, label, tuple(cell.head for cell in cells)))
    return tuple(found)


def _cells(line: str, start: int) -> list[_Cell]:
    found: list[_Cell] = []
    for match in _CELL.finditer(line):
        over, _, said = match["said"].rpartition(": ")
        # What stands over the table comes before the head of its first cell: "Storage: Category: Controlled drugs".
        head = over.rpartition(": ")[2] if over and not found else match["head"]
        said = (said if over and not found else match["said"]).rstrip(" .")
        begin = start + match.end("said") - len(match["said"][match["said"].rindex(said) :])
        held = tuple(word.text for word in words(said))
        if held:
            found.append(_Cell(head.strip().casefold(), held, Span(begin, begin + len(said))))
    return found


def _joined(spoken: Iterable[str]) -> str:
    return f" {' '.join(spoken)} "


def _is_said_elsewhere(own: _Row, cell: _Cell, sources: list[Reading]) -> bool:
    """Say whether a sentence that names the row, and is no other row, holds the words of the cell."""
    wanted = _joined(cell.words)
    return any(
        own.label <= source.known and wanted in _joined(word.text for word in source.tokens)
        for source in sources
        if not source.once(_rows)
    )


def _departure(claim: Reading, first: int, end: int, source: Reading, cell: _Cell) -> Departure:
    tokens = claim.tokens
    return Departure(
        DistortionType.ENTITY_SUBSTITUTED,
        Rule.ROW,
        claim.span(tokens[first].start, tokens[end - 1].end),
        source,
        source.span(cell.span.start, cell.span.end),
    )
