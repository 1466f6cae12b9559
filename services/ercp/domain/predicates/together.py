"""Totals and shares: what the values of a text are taken together, and of what another is (ADR 0116).

A total that the text names is held against the demand; one that it only lists is added up. A part is held against its
whole when both are plain. What might be added twice is not added.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from services.common.reading.places import Place
from services.common.reading.terms import terms
from services.ercp.domain.predicates.aligning import (
    LINKED,
    MARGIN,
    NEAR,
    SHARE_OF,
    Candidate,
    Measure,
    as_money,
    candidates,
    check_of,
    demanded_measure,
    judge,
    measure_as_written,
    measure_of,
    on_scale,
    places_of,
    words_of_path,
)
from services.ercp.domain.predicates.describing import demand, said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Span, TextFacts
from services.ercp.domain.predicates.layout import Block, Kind, blocks_of
from services.ercp.domain.predicates.model import Amount, Path, Predicate, PredicateName, Range

TOTALS: Final = frozenset({"total", "sum"})
"""Last segments of a path that mean everything of a kind taken together."""
_TOTAL_WORDS: Final = frozenset(
    terms("total altogether sum overall together all everything whole budget entire combined")
)
_SHARE: Final = "%"
_OF_THEM: Final = re.compile(r"\s+of\s+(?:them|these|those)\b")
_LEAST_PARTS: Final = 2
_MOST_PARTS: Final = 40
_MOST_SPANS: Final = 8
_ROUNDED: Final = Fraction(1, 100)


def is_total(predicate: Predicate) -> bool:
    """Say whether a predicate speaks of everything of a kind taken together."""
    return isinstance(predicate.left, Path) and predicate.left.segments[-1] in TOTALS


def is_share(predicate: Predicate) -> bool:
    """Say whether a predicate speaks of a share."""
    right = predicate.right.low if isinstance(predicate.right, Range) else predicate.right
    return isinstance(right, Amount) and right.unit == _SHARE


def judge_total(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Hold a total against a demand: as the text names it, or as what it lists adds up to."""
    right = predicate.right.low if isinstance(predicate.right, Range) else predicate.right
    wanted = demanded_measure(right)
    if wanted is None:
        return judge(predicate, facts)
    named = [each for each in candidates(facts, "total", wanted) if _names_total(each.place)]
    if named:
        return judge(predicate, facts)
    measured = _measured(facts, wanted)
    if len(measured) == 1:
        return judge(predicate, facts)
    parts = _parts(facts, measured, demanded=wanted if predicate.name is PredicateName.EQUAL else None)
    if not _LEAST_PARTS <= len(parts) <= _MOST_PARTS:
        # One of several amounts says nothing of what they come to, unless it alone is more than all of them may be.
        return _beyond(judge(predicate, facts), predicate)
    amount = sum((measure.amount for _, measure in parts), Fraction(0))
    answer = _compared(predicate, amount)
    spans = tuple(Span(place.value.start, place.value.end) for place, _ in parts[:_MOST_SPANS])
    why = f"what the text lists adds up to {_plain(amount, right)}, demanded is {demand(predicate)}"
    return Evaluation(answer, spans, why)


def _names_total(place: Place) -> bool:
    return bool(place.stretch & _TOTAL_WORDS)


def _measured(facts: TextFacts, wanted: Measure) -> list[tuple[Place, Measure]]:
    return [(place, measure) for place in places_of(facts) if (measure := _of_kind(facts, place, wanted)) is not None]


def _beyond(answer: Evaluation, predicate: Predicate) -> Evaluation:
    """Return what holds of a total when it was told of one of its parts: an upper limit broken, a lower one kept."""
    upper, lower = predicate.name is PredicateName.LESS_THAN, predicate.name is PredicateName.GREATER_THAN
    holds = (upper and answer.holds is Holds.FALSE) or (lower and answer.holds is Holds.TRUE)
    return answer if holds else _unknown(predicate)


def _parts(
    facts: TextFacts, measured: Sequence[tuple[Place, Measure]], *, demanded: Measure | None = None
) -> list[tuple[Place, Measure]]:
    """Return the values that are to be added: one a row of the only block that has them, or all of the prose."""
    for block in blocks_of(facts):
        rows = _by_row(block, measured)
        if len(rows) >= _LEAST_PARTS:
            return [] if any(len(row) != 1 for row in rows) else [row[0] for row in rows]
    if any(place.each or place.side is not None or place.negated for place, _ in measured):
        return []
    amounts = [measure.amount for _, measure in measured]
    is_demanded = demanded is not None and sum(amounts) == demanded.amount
    if any(2 * amount == sum(amounts) for amount in amounts) and not is_demanded:
        return []  # one of them is the others' sum, unless by chance
    return list(measured)


def _of_kind(facts: TextFacts, place: Place, wanted: Measure) -> Measure | None:
    measure = measure_as_written(facts.text, place.value)
    if measure is None or place.label or (not wanted.kind and not _is_count(place)):
        return None
    return on_scale(measure, wanted) or as_money(place.value, measure, wanted)


def _is_count(place: Place) -> bool:
    return place.value.text[:1].isdigit() or bool(place.value.counted)


def _by_row(block: Block, measured: Sequence[tuple[Place, Measure]]) -> list[list[tuple[Place, Measure]]]:
    rows = [
        [one for one in measured if row.span.start <= one[0].value.start < row.span.end]
        for row in block.rows
        if block.kind is not Kind.TABLE or not terms(row.label) & _TOTAL_WORDS
    ]
    return [row for row in rows if row]


def judge_share(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Hold a share against a demand: as the text gives it, or as a part is of its whole."""
    assert isinstance(predicate.left, Path)
    answer = judge(predicate, facts)
    if answer.holds is not Holds.UNKNOWN:
        return answer
    words = words_of_path(predicate.left, predicate.condition)
    answer = _of_them(predicate, facts, words)
    if answer.holds is not Holds.UNKNOWN:
        return answer
    for kind in dict.fromkeys(measure.kind for place in places_of(facts) if (measure := measure_of(place.value))):
        if kind in {_SHARE, ""}:
            continue
        answer = _part_of_whole(predicate, facts, words, Measure(kind, Fraction(0)))
        if answer.holds is not Holds.UNKNOWN:
            return answer
    return answer


def _of_them(predicate: Predicate, facts: TextFacts, words: str) -> Evaluation:
    """Hold "there are eight rides, two of them hard" against a share of the rides: counted things of counted things."""
    assert isinstance(predicate.left, Path)
    whole_of = predicate.left.segments[-1].removeprefix(SHARE_OF).replace("_", " ")
    counts = [place for place in places_of(facts) if not place.value.unit and place.value.number is not None]
    wholes = [
        place
        for place in counts
        if place.value.counted and terms(whole_of) & place.stretch and not place.side and not _is_part(facts, place)
    ]
    parts = [
        place for place in counts if _is_part(facts, place) and terms(words) <= place.stretch and place.side is None
    ]
    if len({place.value.number for place in wholes}) != 1 or len(parts) != 1 or not wholes[0].value.number:
        return _unknown(predicate)
    share = 100 * Fraction(parts[0].value.number or 0) / Fraction(wholes[0].value.number)
    spans = sorted((Span(one.value.start, one.value.end) for one in (wholes[0], parts[0])), key=lambda span: span.start)
    why = f"{parts[0].value.text} of {wholes[0].value.text} is {float(share):.3g} %, demanded is {demand(predicate)}"
    return Evaluation(_compared(predicate, share), tuple(spans), why)


def _is_part(facts: TextFacts, place: Place) -> bool:
    return _OF_THEM.match(facts.text, place.value.end) is not None


def _part_of_whole(predicate: Predicate, facts: TextFacts, words: str, kind: Measure) -> Evaluation:
    assert isinstance(predicate.left, Path)
    found = candidates(facts, words, kind)
    whole = _whole(found, _whole_words(predicate.left))
    if whole is None or not whole.measure.amount:
        return _unknown(predicate)
    parts = sorted((each for each in found if each is not whole), key=lambda each: -each.share)
    least = LINKED if len(parts) == 1 else NEAR
    if not parts or parts[0].share < least or (len(parts) > 1 and parts[0].share - parts[1].share < MARGIN):
        return _unknown(predicate)
    share = 100 * parts[0].measure.amount / whole.measure.amount
    holds = _compared(predicate, share)
    spans = tuple(sorted((parts[0].span, whole.span), key=lambda span: span.start))
    why = f"{parts[0].place.value.text} of {whole.place.value.text} is {float(share):.3g} %, demanded is {demand(predicate)}"  # noqa: E501
    return Evaluation(holds, spans, why)


def _whole_words(path: Path) -> frozenset[str]:
    """Return the words of what a share is of, if it is named."""
    last = path.segments[-1]
    words = (
        terms(last.removeprefix(SHARE_OF).replace("_", " ")) - _NO_WHOLE if last.startswith(SHARE_OF) else frozenset()
    )
    return words | _PRICED if words & _PRICED else words


_PRICED: Final = terms("price cost costs fee bill")
"""A price is what something costs."""
_NO_WHOLE: Final = terms("time day week month year money amount number")
"""Words that are said of the parts as well."""


def _whole(found: Sequence[Candidate], named: frozenset[str] = frozenset()) -> Candidate | None:
    """Return the one value that is everything: it is called so and is the largest, or all others add up to it."""
    if len(found) < _LEAST_PARTS:
        return None
    largest = max(found, key=lambda each: each.measure.amount)
    rest = [each.measure.amount for each in found if each is not largest]
    if max(rest) == largest.measure.amount:
        return None
    is_sum = sum(rest) == largest.measure.amount and len(rest) > 1
    called = largest.place.stretch | largest.place.before
    is_named = bool(called & named) and not any(each.place.stretch & named for each in found if each is not largest)
    return largest if is_sum or is_named or called & _TOTAL_WORDS else None


def _compared(predicate: Predicate, amount: Fraction) -> Holds:
    """Hold an amount that was reckoned against the demand of a predicate."""
    check = check_of(predicate)
    limit = demanded_measure(predicate.right)
    if limit is not None and limit.kind == _SHARE and abs(amount - limit.amount) < _ROUNDED:
        amount = limit.amount  # a third is written as 33.33 %
    return Holds.UNKNOWN if check is None else check(amount, None)


def _plain(amount: Fraction, right: object) -> str:
    unit = right.unit if isinstance(right, Amount) else ""
    return f"{float(amount):g} {unit}".rstrip()


def _unknown(predicate: Predicate) -> Evaluation:
    return Evaluation(Holds.UNKNOWN, (), f"what the text lists of the {said(predicate.left)} cannot be added up")
