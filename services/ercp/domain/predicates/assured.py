"""Which assertions of a text plainly are of what a predicate demands (ADR 0221): the others decide nothing.

What a sentence gives beside an assertion without a verb of its own ("£200; in case of fire it is £800", "£30 per claim,
up to £400 a year") speaks of the same thing: an assertion that fits is no proof while such a value does not.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.numerals import may_be_thousands
from services.common.reading.terms import terms
from services.common.reading.words import words
from services.ercp.domain.predicates.aligning import Candidate, candidates, check_of, demanded_measure, places_of
from services.ercp.domain.predicates.facts import Evaluation, Holds, Selection, Span, TextFacts, ValueFact
from services.ercp.domain.predicates.meant import (
    MAY_RECKON,
    MONTHS,
    TIME,
    is_share_of,
    may_be_same_span,
    period_of,
    reckoned,
)
from services.ercp.domain.predicates.model import Amount, Operand, Path, Predicate, Range
from services.ercp.domain.predicates.units import CURRENCIES, dimension_of, in_base

_PERIODS: Final = terms("second minute hour day night week month quarter year")
_PRONOUN_SUBJECT: Final = re.compile(
    r"\W*(?:(?:and|but|or|while|whereas)\s+)?(?:(?:in|for|with|at|on|if|when|under)\s[^,;]*?[\s,]+)?(?:it|this|they|these|that)\s",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(
    r"\s*(?:(?:and|or|but|else|otherwise|then|later|up|to|rising|at|in|for|with|on|if|when|under|per|an?|each|every|afterwards|plus)\b.*)?",
    re.IGNORECASE | re.DOTALL,
)
"""What leads to one more value of the same thing; a noun that opens it is another thing: "(deposit $100)"."""
_FORMER: Final = re.compile(
    r"\b(?:down|up|away|changed|reduced|lowered|raised|increased|cut|not)\s+(?:from\s+)?\Z", re.IGNORECASE
)
_BEFORE: Final = 24


def assured(predicate: Predicate, chosen: Selection, facts: TextFacts) -> Selection:
    """Return what was chosen without the values that are compared or reckoned with, or are for something else."""
    assert isinstance(predicate.left, Path)
    starts = sorted(reckoned(facts, places_of(facts))) if MAY_RECKON.search(facts.text) else []
    kept = [fact for fact in chosen.facts if not _is_unsure(predicate, fact, facts, starts)]
    return chosen if len(kept) == len(chosen.facts) else replace(chosen, facts=kept)


def _is_unsure(predicate: Predicate, fact: ValueFact, facts: TextFacts, starts: Sequence[int]) -> bool:
    at = bisect_left(starts, fact.value_span.start)
    if (at < len(starts) and starts[at] < fact.value_span.end) or _is_part(predicate, fact, facts.text):
        return True
    clause = facts.text[fact.span.start : fact.span.end]
    wanted = terms(predicate.condition) if predicate.condition.startswith("per ") else frozenset()
    if not wanted & _PERIODS:
        return not wanted <= terms(clause)  # £2,500 in all are not £2,500 for each item
    own = period_of(facts.text, fact.value_span.end)
    return bool(own) and terms(own) != wanted


def _is_part(predicate: Predicate, fact: ValueFact, text: str) -> bool:
    """Say whether a value is a share of what is told behind it, and an amount is demanded: "80% of £500"."""
    operand = predicate.right.low if isinstance(predicate.right, Range) else predicate.right
    is_share = is_share_of(fact.unit, text, fact.value_span.end)
    return is_share and isinstance(operand, Amount) and dimension_of(operand.unit) != fact.dimension


def may_be_same(right: Operand | None, fact: ValueFact) -> bool:
    """Say whether a value in months and a demand in days may be one length, or EUR 2.000 be two thousand."""
    if fact.unit in CURRENCIES and may_be_thousands(fact.written):
        return True
    if fact.dimension != TIME or fact.interval is None or not fact.unit:
        return False
    is_in_months = fact.unit in MONTHS
    month = in_base(Amount(Decimal(1), "month")).value if is_in_months else 1
    lengths = [end / month for end in (fact.interval.low, fact.interval.high) if end is not None]
    return may_be_same_span(right, lengths, is_in_months=is_in_months)


def unless_unread(answer: Evaluation, predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Return an answer that is TRUE as open where a value beside its evidence, of the same thing, breaks the demand."""
    check = check_of(predicate)
    operand = predicate.right.low if isinstance(predicate.right, Range) else predicate.right
    wanted = demanded_measure(operand)
    if answer.holds is not Holds.TRUE or check is None or wanted is None or predicate.condition:
        return answer
    bound = [(fact.value_span.start, fact.value_span.end) for fact in facts.values]
    for each in candidates(facts, "", wanted):
        value = each.place.value
        if any(start < value.end and value.start < end for start, end in bound):
            continue
        evidence = [span for span in answer.evidence if each.place.span.start <= span.start < each.place.span.end]
        if not evidence or check(each.measure.amount, each.place.side) is not Holds.FALSE:
            continue
        if any(_is_of_same(facts.text, span, each) for span in evidence):
            why = f"beside what fits the text says {value.text}, and of what is not plain"
            return Evaluation(Holds.UNKNOWN, (), why)
    return answer


def _is_of_same(text: str, evidence: Span, each: Candidate) -> bool:
    """Say whether a value behind an assertion has no subject of its own: it is of what the assertion is of."""
    start = each.place.value.start
    if start < evidence.end or _FORMER.search(text[max(evidence.start, start - _BEFORE) : start]):
        return False
    between = text[evidence.end : start]
    if finite_verb_at(words(between)) is not None:
        return _PRONOUN_SUBJECT.match(between) is not None
    return _JOINED.fullmatch(re.split(r"[,;(]", between)[-1]) is not None
