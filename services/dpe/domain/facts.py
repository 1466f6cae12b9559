"""The envelope's facts as the provenance stages read them: clauses with their words, values and names; value tracing.

A fact is read clause by clause, not whole: a claim must not count as borne out because some number of it stands
anywhere in the fact.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.agreement import MEASURED, ONE_MEASURE, readings, same_measure
from services.common.reading.clauses import clauses
from services.common.reading.dates import dates_agree
from services.common.reading.places import Place, read_places
from services.common.reading.sentences import sentences
from services.common.reading.text_types import Span, Value
from services.common.reading.values import mark_numbers, scan_values
from services.common.reading.words import content_stems, normal_text

_MIN_PART_WORDS: Final = 3
_ROUNDED_DIGITS: Final = (1, 2, 3)
_ORDINAL_ENDINGS: Final = frozenset({"st", "nd", "rd", "th"})


@dataclass(frozen=True, slots=True)
class FactSource:
    """The document that a fact was taken from, and where in it: for people, no rule reads it (ADR 0097).

    Attributes:
        section: headings over the fact; empty where there is none.
        page: 1 and up; 0 for a format without pages.
    """

    source_id: str
    uri: str
    title: str
    section: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class EnvelopeFact:
    """One fact as the envelope gives it; ``entities`` and ``embedding`` are ``None`` when it gives none.

    Attributes:
        source_id: of the source that it was ingested from; empty when the envelope names none.
        superseded: it does not hold now: its source replaced it, or its validity is over or to come (ADR 0109).
        expired: it is merely past its time to live.
        time: when it held, or will, as people read it; empty for one that holds.
        ended_at: since when it holds no more; ``None`` when it holds, or nobody said.
        stale_reason: why it is STALE, as the envelope says it; empty for one that is not.
        source: its document for people; ``None`` when the envelope names none.
    """

    fact_id: str
    content: str = field(repr=False)
    importance_weight: float = 0.0
    entities: tuple[Entity, ...] | None = None
    embedding: NDArray[np.float32] | None = None
    source_id: str = ""
    superseded: bool = False
    expired: bool = False
    time: str = ""
    ended_at: datetime | None = None
    stale_reason: str = ""
    source: FactSource | None = None


@dataclass(frozen=True, slots=True)
class FactClause:
    """One clause of a fact with all that claims are compared with; offsets are in the fact's content."""

    fact_index: int
    span: Span
    sentence: Span
    text: str
    stems: frozenset[str]
    normal: str
    values: tuple[Value, ...]
    names: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class FactView:
    """A fact, its clauses and its values.

    Attributes:
        parts: texts that a claim may match besides the whole fact: its clauses, and what stands after a lead-in
            ("Deadlines: report a loss within 14 days"); empty when the fact is one plain clause.
        places: its values with what each is said of.
        stems: of the words of content of the whole fact.
    """

    fact: EnvelopeFact
    clauses: tuple[FactClause, ...]
    values: tuple[Value, ...]
    parts: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    stems: frozenset[str] = frozenset()


def read_fact(index: int, fact: EnvelopeFact, names: Sequence[Entity]) -> FactView:
    """Split a fact into clauses."""
    values = scan_values(fact.content)
    begun = sorted((name.start, at) for at, name in enumerate(names))
    read: list[FactClause] = []
    for sentence in sentences(fact.content):
        for span in clauses(fact.content, sentence.start, sentence.end):
            text = fact.content[span.start : span.end]
            read.append(
                FactClause(
                    index,
                    span,
                    Span(sentence.start, sentence.end),
                    text,
                    content_stems(without_values(fact.content, span, within(values, span))),
                    normal_text(text),
                    within(values, span),
                    _inside(names, begun, span),
                )
            )
    parts, places = _parts(fact.content, read), read_places(index, fact.content, values)
    return FactView(fact, tuple(read), values, parts, places, content_stems(fact.content))


def _inside(names: Sequence[Entity], places: Sequence[tuple[int, int]], span: Span) -> tuple[Entity, ...]:
    """Return the names that lie inside the span, in their order; ``places`` are where each begins, in order."""
    begun = places[bisect_left(places, (span.start, 0)) : bisect_left(places, (span.end + 1, 0))]
    return tuple(names[at] for at in sorted(at for _, at in begun) if names[at].end <= span.end)


def _parts(content: str, read: Sequence[FactClause]) -> tuple[str, ...]:
    texts = [content[clause.span.start : clause.span.end] for clause in read]
    texts += [tail for text in texts if len((tail := text.rsplit(": ", 1)[-1]).split()) >= _MIN_PART_WORDS]
    whole = normal_text(content)
    return tuple(dict.fromkeys(text for text in texts if normal_text(text) != whole))


def within(values: Sequence[Value], span: Span) -> tuple[Value, ...]:
    """Return the values that lie inside the span; ``values`` are ordered by start."""
    first = bisect_left(values, span.start, key=lambda value: value.start)
    found: list[Value] = []
    for value in values[first:]:
        if value.start >= span.end:
            break
        if value.end <= span.end:
            found.append(value)
    return tuple(found)


def without_values(text: str, span: Span, values: Sequence[Value], text_start: int = 0) -> str:
    """Return the stretch with its values blanked out: "5 euros" says nothing of what is talked about.

    The values' offsets count from ``text_start`` before the text.
    """
    pieces: list[str] = []
    at = span.start
    for value in values:
        if value.kind in MEASURED or value.kind in {EntityKind.DATE, EntityKind.TIME}:
            pieces.append(text[at : value.start - text_start])
            at = value.end - text_start
    return " ".join([*pieces, text[at : span.end]])


class ValueIndex:
    """Looks values up by what they are, so that tracing a value costs the same however many facts there are."""

    def __init__(self, values: Iterable[Value], fact_count: int) -> None:
        self._fact_count = fact_count
        self._exact: set[tuple[EntityKind, str]] = set()
        self._prefixes: set[tuple[EntityKind, str]] = set()
        self._measured: set[tuple[str, Decimal]] = set()
        self._numbers: set[Decimal] = set()
        self._bare_numbers: set[Decimal] = set()
        self._numerals: set[Decimal] = set()
        self._across: dict[str, list[Value]] = {}
        self._dates: set[str] = set()
        for value in values:
            self._add(value)

    def _add(self, value: Value) -> None:
        self._exact.add((value.kind, value.normal))
        if value.kind in {EntityKind.URL, EntityKind.CITATION}:
            self._prefixes |= {(value.kind, value.normal[:cut]) for cut in _cuts(value.normal)}
        if value.kind is EntityKind.DATE:
            self._dates |= set(readings(value))
        if value.kind is EntityKind.TIME:
            self._exact |= {(value.kind, reading) for reading in readings(value)}
        if value.number is not None and value.magnitude is not None:
            self._measured.add((value.unit, value.magnitude))
            self._numbers.add(value.number)
            if not value.unit:
                self._bare_numbers.add(value.number)
                if not value.counted or value.text[-2:].lower() in _ORDINAL_ENDINGS:
                    self._numerals.add(value.number)  # "from the fourth day" bears "after four days" out
            if any(value.unit in pair for pair in ONE_MEASURE):
                self._across.setdefault(value.unit, []).append(value)

    @cached_property
    def _rounded(self) -> frozenset[tuple[str, Decimal]]:
        """What the values come to when they are rounded; few answers ask for it."""
        known = [*self._measured, *(("", number) for number in self._numbers)]
        return frozenset((unit, rounded) for unit, number in known for rounded in _roundings(number))

    @cached_property
    def _floors(self) -> frozenset[tuple[str, Decimal]]:
        return frozenset(
            (unit, rounded) for unit, number in self._measured for rounded in _roundings(number, ROUND_FLOOR)
        )

    def traces(self, value: Value) -> bool:
        """Say whether the value is among those indexed, in whatever notation."""
        if (value.kind, value.normal) in self._exact or (value.kind, value.normal) in self._prefixes:
            return True
        if value.kind is EntityKind.CITATION and value.normal.startswith("["):
            return all(1 <= number <= self._fact_count for number in mark_numbers(value))
        if value.kind is EntityKind.DATE and any(
            dates_agree(reading, known) for reading in readings(value) for known in self._dates
        ):
            return True
        if value.kind is EntityKind.TIME and any((value.kind, reading) in self._exact for reading in readings(value)):
            return True
        return value.number is not None and value.magnitude is not None and self._traces_number(value)

    def _traces_number(self, value: Value) -> bool:
        # A unit may be missing on one side, where no other word says what is counted; two different units never agree.
        bare = self._numerals if value.unit else self._bare_numbers
        same = (value.unit, value.magnitude) in self._measured or value.number in bare
        unitless = not value.unit and not value.counted and value.number in self._numbers
        if same or unitless or (value.approximate and (value.unit, value.magnitude) in self._rounded):
            return True
        if value.floor and (value.unit, value.magnitude) in self._floors:
            return True
        others = [unit for pair in ONE_MEASURE if value.unit in pair for unit in pair]
        return any(same_measure(value, known) for unit in others for known in self._across.get(unit, ()))


def _cuts(normal: str) -> list[int]:
    return [at for at, char in enumerate(normal) if char in "/(."]


def _roundings(number: Decimal, rounding: str = ROUND_HALF_EVEN) -> set[Decimal]:
    if number == 0:
        return {number}
    return {
        number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1), rounding=rounding)
        for digits in _ROUNDED_DIGITS
    }
