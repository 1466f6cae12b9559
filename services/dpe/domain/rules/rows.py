"""What a table says in another row (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0095).

A row stands in the facts as "Category: Controlled drugs; Location: Steel cabinet; Check: At each shift change". A claim
that names one row, and says what stands in the same column of another, takes that from the wrong row, be it words or a
value. It is clear where any sentence that names its row says it too. A row is named by its label as it stands ("other
parent" is no other row than "birth parent" by its words of content alone), else by the words of content of it, else by
all of them but a code ("the plotter" for "Plotter P7").
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.reading.agreement import agrees, comparable
from services.common.reading.labelled_rows import labelled_row
from services.common.reading.text_types import Span, Value
from services.common.reading.values import scan_values
from services.common.reading.words import words
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots

_LINE: Final = re.compile(r"[^\n]+")
_MIN_CELLS: Final = 2
_MIN_WORDS: Final = 2
"""A cell of one word ("Yes") is too easily said of something else."""
_MAX_VALUE_WORDS: Final = 4
"""More words beside a value of a cell make it conditional."""
_CODE: Final = re.compile(r"[^\W\d]\d|\d[^\W\d]")
TELLING: Final = frozenset({"other", "others", "another", "no", "non", "not", "without", "all", "any", "own", "up"})
"""Words without content by which labels differ all the same: "other parent" is not any parent."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: the head of its column, its words, and where it stands in its sentence."""

    head: str
    words: tuple[str, ...]
    span: Span
    said: str

    @property
    def read(self) -> str:
        """Head and what is said, in which a value has the unit of its head."""
        return f"{self.head}: {self.said}"

    @property
    def said_at(self) -> int:
        """Where in ``read`` what is said begins."""
        return len(self.head) + len(": ")

    @property
    def place(self) -> tuple[int, int]:
        """Its place in the sentence."""
        return self.span.start, self.span.end


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row, the first of which names it."""

    cells: tuple[Cell, ...]
    label: frozenset[str]
    heads: tuple[str, ...]

    @property
    def name(self) -> str:
        """The words of its label."""
        return joined(self.cells[0].words)


def telling_heads(row: Row) -> list[frozenset[str]]:
    """Return of each column the words of its head that no other head and no label has."""
    heads = [roots(cell.head) for cell in row.cells]
    times = Counter(word for head in heads for word in head)
    return [frozenset(word for word in head if times[word] == 1) - row.label for head in heads]


Placed = tuple["Row", Reading]
"""A row with the sentence in which it stands."""


def placed_rows(sources: Sequence[Reading]) -> list[Placed]:
    """Return the rows of all sentences; a cell that spans columns stands in each of them, as in the other rows."""
    rows = [(row, source) for source in sources for row in source.once(rows_of)]
    finest: dict[str, tuple[str, ...]] = {}
    for row, _ in rows:
        key = _AND.join(row.heads)
        if len(row.heads) > len(finest.get(key, ())):
            finest[key] = row.heads
    return [(_spread(row, finest[_AND.join(row.heads)]), source) for row, source in rows]


_AND: Final = ", "
"""Between the heads of the columns that a cell spans: "Weekdays, Weekends: 15:00-17:00"."""


def _spread(row: Row, heads: tuple[str, ...]) -> Row:
    if row.heads == heads:
        return row
    cells: list[Cell] = []
    for cell in row.cells:
        first = last = len(cells)
        while last < len(heads) and _AND.join(heads[first:last]) != cell.head:
            last += 1
        cells += [replace(cell, head=head) for head in heads[first:last]]
    return Row(tuple(cells), row.label, heads) if len(cells) == len(heads) else row


def changed_row(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return what a claim says of one row of a table that another row says, or ``None``."""
    rows = placed_rows(sources)
    named = named_rows(claim, rows)
    if len({row.name for row, _ in named}) != 1:
        return None
    own, source = named[0]
    changed = changed_value(claim, own, source, rows, sources, given=claim.once(values_of))
    if changed is not None:
        return changed
    said_of_it = [joined(cell.words) for cell in own.cells]
    spoken = joined(word.text for word in claim.tokens)
    for other, _ in rows:
        if other.heads != own.heads or other.name == own.name or is_named(other, own, claim):
            continue
        for ours, theirs in zip(own.cells[1:], other.cells[1:], strict=True):
            if (
                len(theirs.words) >= _MIN_WORDS
                and joined(theirs.words) in spoken
                and not any(joined(theirs.words) in cell for cell in said_of_it)
                and joined(ours.words) not in spoken
                and not _is_said_elsewhere(own, theirs, sources)
            ):
                at = spoken[: spoken.index(joined(theirs.words))].count(" ")
                return _departure(claim, at, at + len(theirs.words), source, ours)
    return None


def named_rows(claim: Reading, rows: Sequence[Placed]) -> list[Placed]:
    """Return the rows whose label stands in the claim, else those whose words of content do; of both the longest."""
    spoken = joined(word.text for word in claim.tokens)
    called = [(row, source) for row, source in rows if row.name in spoken]
    if called:
        return [(row, source) for row, source in called if not any(_is_longer(other, row) for other, _ in called)]
    named = [
        (row, source)
        for row, source in rows
        if row.label and row.label <= claim.content and not TELLING.intersection(row.cells[0].words)
    ]
    if named:
        return [(row, source) for row, source in named if not any(row.label < other.label for other, _ in named)]
    return _rows_without_code(claim, rows)


def _rows_without_code(claim: Reading, rows: Sequence[Placed]) -> list[Placed]:
    """Return the rows that are named but for a code: "the plotter" where "Plotter P7" alone has that word.

    A claim with a code of its own may speak of something that is in no row.
    """
    if any(_has_code(word.text) for word in claim.tokens):
        return []
    labels = {(row.heads, row.name): row.label for row, _ in rows}
    held = Counter((heads, word) for (heads, _), label in labels.items() for word in label)
    return [
        (row, source)
        for row, source in rows
        if (plain := {word for word in row.label if not _has_code(word)}) < row.label
        and plain <= claim.content
        and any(held[row.heads, word] == 1 for word in plain)
    ]


def _has_code(word: str) -> bool:
    return _CODE.search(word) is not None


def _is_longer(row: Row, other: Row) -> bool:
    return row.name != other.name and other.name in row.name


def is_named(other: Row, own: Row, claim: Reading) -> bool:
    """Say whether the claim speaks of another row too, beside words that both labels share."""
    spoken = joined(word.text for word in claim.tokens)
    if other.name in spoken and not _is_longer(own, other):
        return True
    return bool(other.label - own.label) and other.label <= claim.content


def changed_value(
    claim: Reading,
    own: Row,
    source: Reading,
    rows: Sequence[Placed],
    sources: list[Reading],
    *,
    given: Sequence[Value],
) -> Departure | None:
    """Return the value, or both ends of a range, of another row that a claim gives in place of its own row's."""
    for other, _ in rows if given else ():
        if other.heads != own.heads or other.name == own.name or is_named(other, own, claim):
            continue
        for ours, theirs in zip(own.cells[1:], other.cells[1:], strict=True):
            taken = _taken(given, ours, theirs)
            if (
                taken
                and not any(agrees(taken[0], value) for cell in own.cells for value in scan_values(cell.read))
                and _is_of_column(taken[0], ours, claim)
                and not _gives_elsewhere(own, taken[0], sources)
            ):
                span = claim.span(taken[0].start, taken[-1].end)
                return Departure(DistortionType.NUMBER_CHANGED, Rule.ROW, span, source, source.span(*ours.place))
    return None


def _taken(given: Sequence[Value], ours: Cell, theirs: Cell) -> list[Value]:
    """Return the values of a claim that a cell of another row has, all of them, and the own row's has not."""
    known, foreign = _values_in(ours), _values_in(theirs)
    if len(known) != len(foreign) or not known:
        return []
    pairs = list(zip(known, foreign, strict=True))
    if any(agrees(one, other) or not comparable(one, other) for one, other in pairs):
        return []
    taken = [value for value in given if any(agrees(value, other) for other in foreign)]
    is_own = any(agrees(value, one) for value in given for one in known)
    return taken if len(taken) == len(foreign) and not is_own else []


def _values_in(cell: Cell) -> list[Value]:
    """Return the value of a cell, or the two ends of its range, where it holds hardly more."""
    found = [value for value in scan_values(cell.read) if value.start >= cell.said_at]
    return found if len(found) <= _ENDS and len(cell.words) <= _MAX_VALUE_WORDS * len(found) else []


_ENDS: Final = 2


def one_value(cell: Cell) -> Value | None:
    """Return the value of a cell that holds one and hardly more, with the unit of its head."""
    found = _values_in(cell)
    return found[0] if len(found) == 1 else None


def values_of(reading: Reading) -> tuple[Value, ...]:
    """Return the values of a sentence."""
    return scan_values(reading.text)


def _is_of_column(value: Value, cell: Cell, claim: Reading) -> bool:
    """Say whether a value measures what the column does: by its unit, or by a word of the column's head."""
    if value.unit and any(value.unit == known.unit for known in _values_in(cell)):
        return True
    return bool(roots(cell.head) & (claim.content | roots(value.text)))


def _gives_elsewhere(own: Row, value: Value, sources: list[Reading]) -> bool:
    """Say whether a sentence that names the row, and is no row of its table, gives the value."""
    return any(
        own.label <= source.known and any(agrees(value, other) for other in source.once(values_of))
        for source in sources
        if not any(row.heads == own.heads for row in source.once(rows_of))
    )


def rows_of(source: Reading) -> tuple[Row, ...]:
    """Return the rows of a sentence: of a table that was read as one each line is a row."""
    found: list[Row] = []
    for line in _LINE.finditer(source.text):
        cells = tuple(_cells(line.group(), line.start()))
        if len(cells) >= _MIN_CELLS:
            label = roots(" ".join(cells[0].words))
            found.append(Row(cells, label, tuple(cell.head for cell in cells)))
    return tuple(found)


def _cells(line: str, start: int) -> list[Cell]:
    found: list[Cell] = []
    for cell in labelled_row(line):
        said = line[cell.start : cell.end]
        held = tuple(word.text for word in words(said))
        if held:
            found.append(Cell(cell.head, held, Span(start + cell.start, start + cell.end), said))
    return found


def joined(spoken: Iterable[str]) -> str:
    """Return words between blanks, in which a run of words is found by ``in``."""
    return f" {' '.join(spoken)} "


def _is_said_elsewhere(own: Row, cell: Cell, sources: list[Reading]) -> bool:
    """Say whether a sentence that names the row, and is no other row, holds the words of the cell."""
    wanted = joined(cell.words)
    return any(
        own.label <= source.known and wanted in joined(word.text for word in source.tokens)
        for source in sources
        if not source.once(rows_of)
    )


def _departure(claim: Reading, first: int, end: int, source: Reading, cell: Cell) -> Departure:
    tokens = claim.tokens
    return Departure(
        DistortionType.ENTITY_SUBSTITUTED,
        Rule.ROW,
        claim.span(tokens[first].start, tokens[end - 1].end),
        source,
        source.span(cell.span.start, cell.span.end),
    )
