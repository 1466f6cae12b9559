"""Whether a value is plainly the one that its words seem to give (ADR 0221).

"Twice £200", "£100 more than the usual £300", "£1,200 less £400" and "unlike the premium of £300" name amounts that are
not the amount; "rises by £400" names a difference; a fall of 10 % is no rise, what begins within ten days need not be
finished, and 4 % a month is not 4 % a year. Such values decide nothing. Linear in the text.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.clauses import clauses
from services.common.reading.intervals import EACH, OFTEN, PERIODS
from services.common.reading.opposites import Side, acts
from services.common.reading.places import Place
from services.common.reading.ratios import SHARE, TIMES
from services.common.reading.text_types import Span as Stretch
from services.common.reading.units import same_span
from services.ercp.domain.predicates.facts import TextFacts
from services.ercp.domain.predicates.model import Amount, Operand, Path, Range
from services.ercp.domain.predicates.units import dimension_of, in_base

_REACH: Final = 48
_MORE: Final = (
    "more|less|fewer|higher|lower|longer|shorter|dearer|cheaper|greater|larger|smaller|bigger|heavier|lighter|older|younger|"
    "earlier|later|faster|slower|better|worse"
)
_THAN: Final = re.compile(
    rf"\s(?:{_MORE})\s+than\b|\s(?:above|below|over|under|off)\s+(?:the|our|your|its|their|last|what)\b", re.IGNORECASE
)
_RECKONED: Final = re.compile(
    r"\s*(?:,\s*)?(?:(?:plus|minus|net\s+of|times|on\s+top\s+of|in\s+addition\s+to|added\s+to|deducted\s+from|taken\s+off)\b|"
    r"less\s+(?=[£$€¥₹\d]|(?:an?|the|any|your|our|its)\s)|[+−×]|-\s+(?=[£$€¥₹])|x\s+(?=[£$€¥₹\d]))",  # noqa: RUF001 - signs of sums
    re.IGNORECASE,
)
_OF: Final = r"\s+of\b"
_SHARE_OF: Final = re.compile(_OF, re.IGNORECASE)
_MULTIPLIED: Final = re.compile(
    rf"(?:\b(?:twice|double|triple|treble|thrice|half(?:{_OF})?|times|x|×)"  # noqa: RUF001 - a sign of sums
    rf"|(?:\b(?:(?:third|quarter|fifth|tenth)s?|multiples?|per\s?cent)|%){_OF})\s+(?:(?:the|an?|of|usual|standard|normal)\s+)*\Z",
    re.IGNORECASE,
)
MAY_RECKON: Final = re.compile(
    r"\b(?:than|plus|minus|less|net|times|top|addition|added|deducted|off|above|over|below|under|twice|double|triple|treble|thrice|half|"
    r"thirds?|quarters?|fifths?|tenths?|per\s?cent|multiples?|unlike|contrast|compared|comparison|opposed|against|rather|apart)\b|[+−×x%]",  # noqa: RUF001
    re.IGNORECASE,
)
"""What a text has at least of which a value is compared or reckoned with."""
_ASIDE: Final = re.compile(
    r"\b(?:unlike|in\s+contrast\s+(?:to|with)|compared\s+(?:to|with)|in\s+comparison\s+(?:to|with)|as\s+opposed\s+to|as\s+against|"
    r"rather\s+than|other\s+than|apart\s+from)\b[^,;:]*\Z",
    re.IGNORECASE,
)
_BY: Final = re.compile(
    r"\bby\s+(?:(?:up\s+to|at\s+(?:most|least)|about|around|an?|another|a\s+further|only|no\s+more\s+than)\s+)*\Z",
    re.IGNORECASE,
)
_CHANGE: Final = "change"
TIME: Final = "[time]^1"
"""The dimension of a length of time."""
MONTHS: Final = frozenset({"month", "year", "century"})
"""Units of time that are no fixed number of days."""
_MONTH: Final = Amount(Decimal(1), "month")
PERIOD_BEHIND: Final = re.compile(
    rf"\s*(?:/\s?|(?:{EACH}|in\s+(?:any|each|every|one))\s+)(?:calendar\s+|policy\s+)?"
    rf"(?P<period>{PERIODS})\b|\s+(?P<often>{'|'.join(OFTEN)})\b",
    re.IGNORECASE,
)
"""The length of time right behind an amount; ``values.with_period`` reads it behind a word or two, too."""


def said_otherwise(path: Path, place: Place, text: str) -> bool:
    """Say whether a value's clause speaks of the other verb: what ends, where the attribute is when it begins.

    Where the attribute is a rise or a fall, the value's sentence has to speak of that.
    """
    clause, sentence = _clause(text, place), text[place.span.start : place.span.end]
    wanted = _acts_of(path)
    for side in (one for one in wanted if not any(other.axis == one.axis for other in wanted - {one})):
        own = next((told for part in (clause, sentence) if (told := _on_axis(part, side.axis))), frozenset())
        if side not in own and (own or side.axis == _CHANGE):
            return True
    return False


def _acts_of(path: Path) -> frozenset[Side]:
    return acts(" ".join(path.segments).replace("_", " "))


def _on_axis(text: str, axis: str) -> frozenset[Side]:
    return frozenset(side for side in acts(text) if side.axis == axis)


def is_difference(path: Path, place: Place, text: str) -> bool:
    """Say whether a value is by how much something changes, and the attribute is no change: "rises by £400"."""
    if any(side.axis == _CHANGE for side in _acts_of(path)):
        return False
    before = text[max(place.span.start, place.value.start - _REACH) : place.value.start]
    return _BY.search(before) is not None and bool(_on_axis(_clause(text, place), _CHANGE))


def is_share_of(value_unit: str, text: str, end: int) -> bool:
    """Say whether a value in a unit, which ends there, is a share of what is told behind it: "80% of £500"."""
    return value_unit == SHARE and _SHARE_OF.match(text, end) is not None


def period_of(text: str, end: int) -> str:
    """Return the length of time that stands behind an amount, "year" of "5 % a year"; empty for none."""
    match = PERIOD_BEHIND.match(text, end)
    if match is None:
        return ""
    return match["period"].lower() if match["period"] else OFTEN[match["often"].lower()]


def may_be_same_span(right: Operand | None, lengths: Sequence[Fraction], *, is_in_months: bool) -> bool:
    """Say whether of a demand and lengths one is in months, the other in days, and both may be one (ADR 0040).

    Args:
        right: what is demanded.
        lengths: of the text, in months or in seconds.
        is_in_months: which of them.
    """
    if isinstance(right, Range):
        ends = (right.low, right.high)
        return any(may_be_same_span(end, lengths, is_in_months=is_in_months) for end in ends)
    if not isinstance(right, Amount) or dimension_of(right.unit) != TIME or (right.unit in MONTHS) == is_in_months:
        return False
    wanted = in_base(right).value
    if is_in_months:
        return any(same_span(_decimal(length), _decimal(wanted)) for length in lengths)
    months = _decimal(wanted / in_base(_MONTH).value)
    return any(same_span(months, _decimal(length)) for length in lengths)


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def reckoned(facts: TextFacts, places: Sequence[Place]) -> frozenset[int]:
    """Return where the values begin that are compared, multiplied or reckoned with, or stand beside such a one.

    With the values of its kind in a clause: of "£100 more than the usual £300" neither is the amount.
    """
    found = facts.selected.get(reckoned)
    if isinstance(found, frozenset):
        return found
    starts = set[int]()
    by_clause = dict[tuple[int, int], list[Place]]()
    read = dict[Stretch, list[Stretch]]()  # a sentence is read once, however many amounts stand in it
    for place in places:
        if place.value.kind in _AMOUNTS:
            if place.span not in read:
                read[place.span] = clauses(facts.text, place.span.start, place.span.end)
            stretch = _holding(read[place.span], place)
            by_clause.setdefault((stretch.start, stretch.end), []).append(place)
    for (start, _), own in by_clause.items():
        kinds = {place.value.unit for place in own if _is_reckoned(facts.text, start, place)}
        starts |= {place.value.start for place in own if place.value.unit in kinds}
    found = facts.selected[reckoned] = frozenset(starts)
    return found


_AMOUNTS: Final = frozenset({EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY, EntityKind.PERCENT})


def _is_reckoned(text: str, start: int, place: Place) -> bool:
    value = place.value
    if value.unit == TIMES:
        return False  # "twice £200": the amount behind it is told by what stands before it
    if _RECKONED.match(text, value.end) or (value.unit != SHARE and _THAN.match(text, value.end)):
        return bool(value.unit)
    before = text[max(start, value.start - _REACH) : value.start]
    if value.unit and value.unit != SHARE and _MULTIPLIED.search(before):
        return True
    return _ASIDE.search(text[start : value.start][-2 * _REACH :]) is not None


def _clause(text: str, place: Place) -> str:
    stretch = _holding(clauses(text, place.span.start, place.span.end), place)
    return text[stretch.start : stretch.end]


def _holding(parts: Sequence[Stretch], place: Place) -> Stretch:
    """Return the clause, of those of a sentence, that a value stands in."""
    return parts[max(0, bisect_right(parts, place.value.start, key=lambda each: each.start) - 1)]
