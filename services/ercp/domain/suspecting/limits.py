"""Limits on times and dates that one of a draft's times or dates breaks, while no rule knows of what it is (ADR 0168).

A draft holds few times of day and dates, and a limit on them is mostly one on all: what is past it is suspected.
Lengths of time, money and measures are of too many things for that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from services.ercp.domain import readings
from services.ercp.domain.predicates import Path, Predicate, PredicateError, PredicateName, Span, TextFacts
from services.ercp.domain.predicates.aligning import candidates, check_of, demanded_measure, words_of_path
from services.ercp.domain.predicates.describing import demand
from services.ercp.domain.predicates.facts import Holds
from services.ercp.domain.predicates.values import CALENDAR, CLOCK, YEARLY
from services.ercp.domain.records import Constraint, ConstraintOutcome
from services.ercp.domain.standing import place_of
from services.ercp.domain.vocabulary import Standing, Undecided

_TIMES: Final = frozenset({CALENDAR, CLOCK, YEARLY})
_LIMITS: Final = frozenset({PredicateName.LESS_THAN, PredicateName.GREATER_THAN})
_OPEN: Final = frozenset({Undecided.NOT_STATED, Undecided.LEFT_OPEN})


def doubt_limits(
    facts: TextFacts, constraints: Sequence[Constraint], outcomes: Sequence[ConstraintOutcome]
) -> tuple[ConstraintOutcome, ...]:
    """Return the outcomes with limits on times and dates marked as suspected that a time or date of the text breaks."""
    found = list(outcomes)
    for number, (constraint, outcome) in enumerate(zip(constraints, outcomes, strict=True)):
        if outcome.standing is not Standing.UNDECIDED or outcome.reason not in _OPEN:
            continue
        try:
            predicate = readings.predicate_of(constraint)
        except PredicateError:
            continue
        span = next(_beyond(predicate, facts), None)
        if span is not None:
            said = facts.text[span.start : span.end]
            why = f"suspected: the draft says {said}, and demanded is {demand(predicate)}"
            found[number] = replace(outcome, reason=Undecided.SUSPECTED, why=why, places=(place_of(facts, span),))
    return tuple(found)


def _beyond(predicate: Predicate, facts: TextFacts) -> Iterator[Span]:
    """Yield where a time or date stands that breaks a limit."""
    if predicate.name not in _LIMITS or not isinstance(predicate.left, Path) or predicate.condition:
        return
    wanted, check = demanded_measure(predicate.right), check_of(predicate)
    if wanted is None or wanted.kind not in _TIMES or check is None:
        return
    for each in candidates(facts, words_of_path(predicate.left), wanted):
        if each.place.side is None and check(each.measure.amount, None) is Holds.FALSE:
            yield each.span
