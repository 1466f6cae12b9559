"""Amounts for another period than their source's, and what a share comes to (SPEC-005 §5.3, NUMBER_CHANGED).

"£700 a year" answers with the figure of "£700 a month and the deposit". "The fee is 20% of £5,000" says that it is
£1,000: who gives that says what the fact says, and who gives another amount, or the £5,000 itself, does not (ADR 0207).
That is said only of what the fact says it of, word for word, and never of a total or a rest.
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
from services.common.reading.words import words
from services.dpe.domain.conditions import conditions
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, root, roots
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
    if any(agrees(own, value) for value in others) or shares[0].leaves(own):
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

    def leaves(self, amount: Value) -> bool:
        """Say whether an amount is the whole without the share, or with it."""
        share, whole = self.part.magnitude or Decimal(0), self.whole.magnitude or Decimal(0)
        return amount.magnitude in {whole - share, whole + share}


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
    """Yield the one share of an amount that a sentence says of what the claim, or its question, is about alone."""
    if _TOTAL.search(claim.text) or _TOTAL.search(claim.asked):
        return
    for source in _about(claim, own, sources):
        values = source.once(values_of)
        if len(values) != 2 or values[0].unit != SHARE:  # noqa: PLR2004 - a share and what it is of
            continue
        share, whole = values
        before, between = source.text[: share.start], source.text[share.end : whole.start]
        is_plain = bound_of(source.text, 0, share) is None and not _CHANGED.search(before)
        is_same = is_plain and _is_of_same(claim, own, before, source.text[whole.end :])
        if (whole.kind, whole.unit) == (own.kind, own.unit) and is_same and OF_AMOUNT.fullmatch(between):
            yield _Share(source, share, whole, _part(share, whole))


def _is_of_same(claim: Reading, own: Value, before: str, behind: str) -> bool:
    """Say whether a share is of what a claim, or else its question, speaks of, word for word, and of nothing besides.

    Args:
        claim: with its question.
        own: the amount that it gives.
        before: the words of the source before the share.
        behind: those behind the amount that the share is of; the first is the amount's own: "of the £850 claim".
    """
    known, asked = _named(before), _named(_I.sub("you", claim.asked))
    behind = _OWN_NOUN.sub(" ", behind, count=1)
    rest = roots(behind)
    if not known or not rest <= claim.content | roots(claim.asked):
        return False
    if not set(asked) <= {*known, *_named(behind), *_ASKING}:
        return False
    said, after = _named(claim.text[: own.start]), roots(claim.text[own.end :])
    if said:
        return said == known and after <= rest
    follows = iter(asked)
    return all(word in follows for word in known) and after <= rest


def _named(text: str) -> tuple[str, ...]:
    """Return the roots of the words of a stretch in order, those of persons and prepositions with them."""
    return tuple(root(word.text) for word in words(text) if word.text not in _LIGHT)


_LIGHT: Final = frozenset(
    {"the", "a", "an", "this", "that", "it", "its", "our", "is", "are", "be", "will", "comes", "come", "amounts"}
    | {"does", "do", "to"}
)
_ASKING: Final = frozenset(map(root, ("what", "how", "much", "high", "big", "large", "which", "cost", "pay", "due")))
_I: Final = re.compile(r"\bI\b")
"""Whoever asks is "you" in what answers."""
_OWN_NOUN: Final = re.compile(
    r"^\s(?!(?:on|upon|in|at|for|from|by|to|with|within|under|until|per|of|if|when|and|or|a|an|each|every)\b)[a-z]+\b",
    re.IGNORECASE,
)
_TOTAL: Final = re.compile(
    r"\b(?:total|altogether|rest|remain\w{0,5}|left|balance|net|gross|including|included|with|without|after|before"
    r"|overall|in\sall|full|plus)\b",
    re.IGNORECASE,
)
"""Of these a share is no answer: "what is the total with VAT?"."""


def _part(share: Value, whole: Value) -> Value:
    magnitude = part_of(share, whole)
    number = None if whole.number is None or not whole.magnitude else magnitude * whole.number / whole.magnitude
    return replace(whole, magnitude=magnitude, number=number, normal=str(magnitude.normalize()))
