"""The envelope's facts as the provenance stages read them: clauses with their words, values and names; value tracing.

A fact is read clause by clause, not whole: a claim must not count as borne out because some number of it stands
anywhere in the fact.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.clauses import clauses
from services.common.reading.dates import dates_agree
from services.common.reading.intervals import APART
from services.common.reading.numerals import rounds_to
from services.common.reading.places import Place, read_places
from services.common.reading.ratios import SHARE, TIMES, same_ratio
from services.common.reading.sentences import sentences
from services.common.reading.text_types import Span, Value
from services.common.reading.units import same_span
from services.common.reading.values import CENT, KRONE, mark_numbers, scan_values
from services.common.reading.words import content_stems, normal_text

MEASURED: Final = frozenset({EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY, EntityKind.PERCENT})
_MIN_PART_WORDS: Final = 3
_ROUNDED_DIGITS: Final = (1, 2, 3)


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
        superseded: it does not hold now: its source replaced it, or its validity is over or to come (decision 25).
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
    """

    fact: EnvelopeFact
    clauses: tuple[FactClause, ...]
    values: tuple[Value, ...]
    parts: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()


def read_fact(index: int, fact: EnvelopeFact, names: Sequence[Entity]) -> FactView:
    """Split a fact into clauses."""
    values = scan_values(fact.content)
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
                    tuple(name for name in names if span.start <= name.start and name.end <= span.end),
                )
            )
    return FactView(fact, tuple(read), values, _parts(fact.content, read), read_places(index, fact.content, values))


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


def without_values(text: str, span: Span, values: Sequence[Value]) -> str:
    """Return the stretch with its values blanked out: "5 euros" says nothing of what is talked about."""
    pieces: list[str] = []
    at = span.start
    for value in values:
        if value.kind in MEASURED or value.kind in {EntityKind.DATE, EntityKind.TIME}:
            pieces.append(text[at : value.start])
            at = value.end
    return " ".join([*pieces, text[at : span.end]])


def comparable(left: Value, right: Value) -> bool:
    """Say whether two values measure the same: equal kinds and units, or one of the two is a bare number."""
    if left.kind in MEASURED and right.kind in MEASURED:
        if left.unit and right.unit:
            return left.unit == right.unit or {left.unit, right.unit} in _ONE_MEASURE
        return left.unit == right.unit or not _counts_else(left, right)
    return left.kind is right.kind or _same_year(left, right)


def _counts_else(left: Value, right: Value) -> bool:
    """Say whether one of two values has a unit while a word behind the other says that it counts something else."""
    return bool(left.unit) != bool(right.unit) and bool(left.counted or right.counted)


_CENTS: Final = frozenset({"USD", "EUR", "AUD", "CAD", "NZD", "SGD", "HKD", "ZAR"})
_KRONER: Final = frozenset({"DKK", "NOK", "SEK"})
_ONE_MEASURE: Final = (
    {"month", "second"},
    {"working day", "second"},
    {"working day", "month"},
    {SHARE, TIMES},
    *({CENT, unit} for unit in _CENTS),
    *({KRONE, unit} for unit in _KRONER),
)
"""Units that are not the same and still measure the same: ``_agree_across`` compares them."""


def _agree_across(left: Value, right: Value) -> bool:
    """Compare 30 days with one month, and 50 % with halved (ADR 0040)."""
    by_unit = {value.unit: value.magnitude for value in (left, right)}
    if by_unit.keys() & {CENT, KRONE}:
        return left.magnitude == right.magnitude and {left.unit, right.unit} in _ONE_MEASURE
    if "working day" in by_unit:
        return False
    first, second = (
        (by_unit.get("month"), by_unit.get("second"))
        if "month" in by_unit
        else (by_unit.get(SHARE), by_unit.get(TIMES))
    )
    if first is None or second is None:
        return False
    return same_span(first, second) if "month" in by_unit else same_ratio(first, second)


def _is_fraction(value: Value) -> bool:
    """Say whether a share is written as a fraction, whose percentage is rounded: "a third" is 33.33 %."""
    return (
        value.unit == SHARE
        and value.kind is EntityKind.PERCENT
        and not ("cent" in value.text.lower() or SHARE in value.text)
    )


def agrees(claimed: Value, known: Value) -> bool:  # noqa: PLR0911 - a rule for each kind
    """Say whether the claimed value states what the known one does, or less (SPEC-005 §5.2, §5.3)."""
    if claimed.kind is EntityKind.DATE and known.kind is EntityKind.DATE:
        return any(dates_agree(reading, other) for reading in _readings(claimed) for other in _readings(known))
    if claimed.kind is EntityKind.TIME and known.kind is EntityKind.TIME:
        return bool(set(_readings(claimed)) & set(_readings(known)))
    if EntityKind.DATE in {claimed.kind, known.kind}:
        return _same_year(claimed, known)
    if claimed.number is not None and known.number is not None and claimed.magnitude is not None:
        if claimed.unit and known.unit:
            return _same_measure(claimed, known) and _same_rate(claimed, known)
        if _counts_else(claimed, known):
            return False
        return claimed.number == known.number or (claimed.approximate and rounds_to(claimed.number, known.number))
    if claimed.kind is EntityKind.CITATION and known.kind is EntityKind.CITATION:
        return known.normal == claimed.normal or known.normal.startswith((claimed.normal + "(", claimed.normal + "."))
    if claimed.kind is EntityKind.URL and known.kind is EntityKind.URL:
        return known.normal == claimed.normal or known.normal.startswith(claimed.normal + "/")
    return claimed.kind is known.kind and claimed.normal == known.normal


def _same_year(left: Value, right: Value) -> bool:
    """Say whether one is a year and the other the same numeral, as in the head of a table."""
    kinds = {left.kind, right.kind}
    is_pair = kinds == {EntityKind.DATE, EntityKind.NUMBER} and not left.unit and not right.unit
    return is_pair and left.number is not None and left.number == right.number and not (left.counted or right.counted)


def _readings(value: Value) -> list[str]:
    return [value.normal, value.alternative] if value.alternative else [value.normal]


def _same_rate(claimed: Value, known: Value) -> bool:
    """Say whether two equal amounts are for the same length of time, or one of them for none that is named."""
    rates = {claimed.per, known.per} - {"", APART}
    return len(rates) <= 1


def _same_measure(claimed: Value, known: Value) -> bool:
    if claimed.magnitude is None or known.magnitude is None:
        return False
    if claimed.unit != known.unit:
        return _agree_across(claimed, known)
    if claimed.magnitude == known.magnitude:
        return True
    if claimed.approximate and rounds_to(claimed.magnitude, known.magnitude):
        return True
    # "A third" and "33 %": the one that is no fraction says how far it was rounded.
    fraction, other = (claimed, known) if _is_fraction(claimed) else (known, claimed)
    return _is_fraction(fraction) and rounds_to(other.magnitude or Decimal(0), fraction.magnitude or Decimal(0))


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
        self._rounded: set[tuple[str, Decimal]] = set()
        self._floors: set[tuple[str, Decimal]] = set()
        self._across: dict[str, list[Value]] = {}
        self._dates: set[str] = set()
        for value in values:
            self._add(value)

    def _add(self, value: Value) -> None:
        self._exact.add((value.kind, value.normal))
        if value.kind in {EntityKind.URL, EntityKind.CITATION}:
            self._prefixes |= {(value.kind, value.normal[:cut]) for cut in _cuts(value.normal)}
        if value.kind is EntityKind.DATE:
            self._dates |= set(_readings(value))
        if value.kind is EntityKind.TIME:
            self._exact |= {(value.kind, reading) for reading in _readings(value)}
        if value.number is not None and value.magnitude is not None:
            self._measured.add((value.unit, value.magnitude))
            self._numbers.add(value.number)
            if not value.unit:
                self._bare_numbers.add(value.number)
                if not value.counted:
                    self._numerals.add(value.number)
            self._rounded |= {(value.unit, rounded) for rounded in _roundings(value.magnitude)}
            self._rounded |= {("", rounded) for rounded in _roundings(value.number)}
            self._floors |= {(value.unit, rounded) for rounded in _roundings(value.magnitude, ROUND_FLOOR)}
            if any(value.unit in pair for pair in _ONE_MEASURE):
                self._across.setdefault(value.unit, []).append(value)

    def traces(self, value: Value) -> bool:
        """Say whether the value is among those indexed, in whatever notation."""
        if (value.kind, value.normal) in self._exact or (value.kind, value.normal) in self._prefixes:
            return True
        if value.kind is EntityKind.CITATION and value.normal.startswith("["):
            return all(1 <= number <= self._fact_count for number in mark_numbers(value))
        if value.kind is EntityKind.DATE and any(
            dates_agree(reading, known) for reading in _readings(value) for known in self._dates
        ):
            return True
        if value.kind is EntityKind.TIME and any((value.kind, reading) in self._exact for reading in _readings(value)):
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
        others = [unit for pair in _ONE_MEASURE if value.unit in pair for unit in pair]
        return any(_same_measure(value, known) for unit in others for known in self._across.get(unit, ()))


def _cuts(normal: str) -> list[int]:
    return [at for at, char in enumerate(normal) if char in "/(."]


def _roundings(number: Decimal, rounding: str = ROUND_HALF_EVEN) -> set[Decimal]:
    if number == 0:
        return {number}
    return {
        number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1), rounding=rounding)
        for digits in _ROUNDED_DIGITS
    }
