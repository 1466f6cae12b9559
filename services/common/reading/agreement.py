"""Whether two values measure the same, and whether one states what the other does (SPEC-005 §5.2, §5.3; ADR 0040)."""

from decimal import Decimal
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.dates import dates_agree
from services.common.reading.intervals import APART
from services.common.reading.numerals import rounds_to
from services.common.reading.ratios import SHARE, TIMES, same_ratio
from services.common.reading.text_types import Value
from services.common.reading.units import same_span
from services.common.reading.values import CENT, KRONE

MEASURED: Final = frozenset({EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY, EntityKind.PERCENT})


def comparable(left: Value, right: Value) -> bool:
    """Say whether two values measure the same: equal kinds and units, or one of the two is a bare number."""
    if left.kind in MEASURED and right.kind in MEASURED:
        if left.unit and right.unit:
            return left.unit == right.unit or {left.unit, right.unit} in ONE_MEASURE
        return left.unit == right.unit or not _counts_else(left, right)
    return left.kind is right.kind or _same_year(left, right)


def _counts_else(left: Value, right: Value) -> bool:
    """Say whether one of two values has a unit while a word behind the other says that it counts something else."""
    return bool(left.unit) != bool(right.unit) and bool(left.counted or right.counted)


_CENTS: Final = frozenset({"USD", "EUR", "AUD", "CAD", "NZD", "SGD", "HKD", "ZAR"})
_KRONER: Final = frozenset({"DKK", "NOK", "SEK"})
ONE_MEASURE: Final = (
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
        return left.magnitude == right.magnitude and {left.unit, right.unit} in ONE_MEASURE
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
        return any(dates_agree(reading, other) for reading in readings(claimed) for other in readings(known))
    if claimed.kind is EntityKind.TIME and known.kind is EntityKind.TIME:
        return bool(set(readings(claimed)) & set(readings(known)))
    if EntityKind.DATE in {claimed.kind, known.kind}:
        return _same_year(claimed, known)
    if claimed.number is not None and known.number is not None and claimed.magnitude is not None:
        if claimed.unit and known.unit:
            return same_measure(claimed, known) and _same_rate(claimed, known)
        if _counts_else(claimed, known):
            return False
        is_equal = claimed.number == known.number
        is_equal = is_equal or (claimed.approximate and rounds_to(claimed.number, known.number))
        return is_equal and _same_rate(claimed, known)
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


def readings(value: Value) -> list[str]:
    """Return what a value may mean: of an ambiguous date both readings."""
    return [value.normal, value.alternative] if value.alternative else [value.normal]


def _same_rate(claimed: Value, known: Value) -> bool:
    """Say whether two equal amounts are for the same length of time, or one of them for none that is named."""
    rates = {claimed.per, known.per} - {"", APART}
    return len(rates) <= 1


def same_measure(claimed: Value, known: Value) -> bool:
    """Say whether two measured values are equal, as exactly as the claimed one is given."""
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
