"""Amounts for another period than their source's, and what a share comes to (SPEC-005 §5.3, NUMBER_CHANGED).

"£700 a year" answers with the figure of "£700 a month and the deposit". "The fee is 20% of £5,000" says that it is
£1,000: who gives that says what the fact says, and who gives another amount, or the £5,000 itself, does not (ADR 0207).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees
from services.common.reading.bounds import bound_of
from services.common.reading.intervals import APART
from services.common.reading.ratios import SHARE
from services.common.reading.reckoning.shares import OF_AMOUNT, part_of
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values, with_period
from services.dpe.domain.conditions import conditions
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.rules.rows import values_of

_PERIODS: Final = roots(
    "day daily week weekly month monthly quarter quarterly year yearly annual annually annum hour hourly night"
)
_CHANGED: Final = re.compile(
    r"\b(?:by|plus|minus|less|more|rises?|rose|falls?|fell|reduced?|increased?|off|instead|was|were|or|and|not|no|never)\b",
    re.IGNORECASE,
)
"""What makes of a share something else than what a thing comes to."""
_AMOUNTS: Final = frozenset({EntityKind.MONEY, EntityKind.QUANTITY})


def changed_rate(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the period for which an answer gives the amount that its source gives for another, or ``None``."""
    own = _one_amount(claim)
    if own is None or own.per in {"", APART}:
        return None
    listed = [(other, source) for source in _about(claim, own, sources) for other in source.once(values_of)]
    listed = [(other, source) for other, source in listed if (other.kind, other.unit) == (own.kind, own.unit)]
    if any(agrees(own, other) for other, _ in listed):
        return None
    for other, source in listed:
        if other.magnitude == own.magnitude and other.per not in {"", APART, own.per}:
            said, known = with_period(claim.text, own), with_period(source.text, other)
            span, there = claim.span(said.start, said.end), source.span(known.start, known.end)
            return Departure(DistortionType.NUMBER_CHANGED, Rule.VALUE, span, source, there, is_same=True)
    return None


def changed_share(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim gives another amount than the share of one that its source says, or ``None``."""
    own = _one_amount(claim)
    shares = [] if own is None else list(_shares(claim, own, sources))
    if own is None or not shares or any(one.comes_to(own) for one in shares):
        return None
    others = [value for source in sources for value in source.once(values_of) if value is not shares[0].whole]
    if any(agrees(own, value) for value in others):
        return None
    (source, whole) = shares[0].source, shares[0].whole
    span, there = claim.span(own.start, own.end), source.span(shares[0].share.start, whole.end)
    return Departure(DistortionType.NUMBER_CHANGED, Rule.VALUE, span, source, there, is_same=True)


def told_share(claim: Reading, sources: list[Reading]) -> tuple[Reading, ...]:
    """Return the sentences whose share of an amount a claim gives, and nothing besides; or none."""
    own = _one_amount(claim)
    if own is None:
        return ()
    return tuple(one.source for one in _shares(claim, own, sources) if one.comes_to(own))


@dataclass(frozen=True, slots=True)
class _Share:
    source: Reading
    share: Value
    whole: Value
    part: Value

    def comes_to(self, amount: Value) -> bool:
        """Say whether an amount is the share; "two thirds" is known to a hundredth of a percent."""
        if agrees(amount, self.part):
            return True
        share, whole, part = (one.magnitude or Decimal(0) for one in (self.share, self.whole, self.part))
        return share % 1 != 0 and abs((amount.magnitude or Decimal(0)) - part) <= whole * _DIGITS


_DIGITS: Final = Decimal("0.0001")


def _one_amount(claim: Reading) -> Value | None:
    """Return the one value of a claim where it is an amount without a limit or a condition."""
    values = claim.once(values_of)
    if len(values) != 1 or values[0].kind not in _AMOUNTS or values[0].magnitude is None:
        return None
    is_limited = bound_of(claim.text, 0, values[0]) is not None or any(True for _ in conditions(claim.text))
    return None if is_limited else values[0]


def _rest(claim: Reading, own: Value) -> frozenset[str]:
    return claim.content - roots(own.text) - _PERIODS


def _about(claim: Reading, own: Value, sources: list[Reading]) -> Iterator[Reading]:
    """Yield the sentences that speak of all that a claim names, or where it names nothing, of what was asked."""
    rest, asked = _rest(claim, own), roots(claim.asked)
    if scan_values(claim.asked):
        return
    yield from (
        one for one in sources if (rest <= one.known | asked if rest else True) and (rest | asked) & one.content
    )


def _shares(claim: Reading, own: Value, sources: list[Reading]) -> Iterator[_Share]:
    """Yield the one share of an amount that a sentence says of what the claim, or its question, names before it."""
    for source in _about(claim, own, sources):
        values = source.once(values_of)
        if len(values) != 2 or values[0].unit != SHARE:  # noqa: PLR2004 - a share and what it is of
            continue
        share, whole = values
        before, between = source.text[: share.start], source.text[share.end : whole.start]
        is_plain = bound_of(source.text, 0, share) is None and not _CHANGED.search(before)
        named = (_rest(claim, own) or roots(claim.asked)) & roots(before)
        if (whole.kind, whole.unit) == (own.kind, own.unit) and is_plain and named and OF_AMOUNT.fullmatch(between):
            yield _Share(source, share, whole, _part(share, whole))


def _part(share: Value, whole: Value) -> Value:
    magnitude = part_of(share, whole)
    number = None if whole.number is None or not whole.magnitude else magnitude * whole.number / whole.magnitude
    return replace(whole, magnitude=magnitude, number=number, normal=str(magnitude.normalize()))
