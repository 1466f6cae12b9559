"""Predicate checks: a text against constraints, against itself and against the values of passages (ERCP 1.0 §7, §8)."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from services.common.reading.reckoning import slips
from services.ercp.domain import readings
from services.ercp.domain.faults import EXACT, MAX_EXCERPT_CHARS, PREDICATE, Suspicion
from services.ercp.domain.implied import implied
from services.ercp.domain.predicates import (
    Evaluation,
    Holds,
    PredicateError,
    PredicateName,
    TextFacts,
    contradictions,
    evaluate,
    evaluate_plainly,
)
from services.ercp.domain.products import wrong_totals
from services.ercp.domain.records import Constraint, Evidence, Passage
from services.ercp.domain.reversals import reversals
from services.ercp.domain.vocabulary import Detector, ErrorType

AT_ODDS: Final = EXACT
TOGETHER: Final = EXACT
"""A text denies what several constraints demand together."""
_BY_NAME: Final = {PredicateName.HAS_JUSTIFICATION: ErrorType.MISSING_JUSTIFICATION}
QUESTION: Final = "problem"
"""Evidence whose source this is stands in the question."""
CONSTRAINT_PREFIX: Final = "constraint:"
"""Before the id of the constraint that a text denies, in the evidence of the error."""


@dataclass(frozen=True, slots=True)
class ReferenceTexts:
    """What a text is held against.

    Attributes:
        constraints: that it has to obey.
        passages: each with what it asserts; empty = no fact check.
        question: what the question itself asserts; ``None`` when there is none.
    """

    constraints: Sequence[Constraint]
    passages: Sequence[tuple[Passage, TextFacts]] = ()
    question: TextFacts | None = None


def check(facts: TextFacts, ground: ReferenceTexts) -> list[Suspicion]:
    """Return everything that predicates have against a text; CPU work."""
    found = list(_denied(facts, ground.constraints))
    found += _denied_together(facts, ground.constraints)
    found += _at_odds(facts)
    if ground.question is not None:
        given = Passage(QUESTION, ground.question.text)
        found += _against(facts, given, ground.question, Detector.RULE, ErrorType.CONTRADICTION)
    for passage, asserted in ground.passages:
        found += _against(facts, passage, asserted, Detector.FACT_CHECK, ErrorType.FACTUAL_INCORRECT)
    return found


def _denied(facts: TextFacts, constraints: Sequence[Constraint]) -> Iterator[Suspicion]:
    for constraint in constraints:
        try:
            predicate = readings.predicate_of(constraint)
        except PredicateError:  # refused where it came in; a newer version's stays unchecked (§10)
            continue
        answer = evaluate(predicate, facts)
        if answer.holds is Holds.FALSE:
            kind = _BY_NAME.get(predicate.name, ErrorType.CONTRADICTION)
            evidence = Evidence(
                f"{CONSTRAINT_PREFIX}{constraint.constraint_id}", None, constraint.nl_text[:MAX_EXCERPT_CHARS]
            )
            yield Suspicion(kind, Detector.SOLVER, PREDICATE, (evidence,), _place(answer))


def _denied_together(facts: TextFacts, constraints: Sequence[Constraint]) -> Iterator[Suspicion]:
    """Yield what denies no constraint alone and what some of them demand together."""
    for each in implied(constraints):
        answer = evaluate_plainly(each.predicate, facts)
        if answer.holds is Holds.FALSE:
            evidence = tuple(
                Evidence(f"{CONSTRAINT_PREFIX}{one.constraint_id}", None, one.nl_text[:MAX_EXCERPT_CHARS])
                for one in each.because
            )
            yield Suspicion(ErrorType.CONTRADICTION, Detector.SOLVER, TOGETHER, evidence, _place(answer))


def _at_odds(facts: TextFacts) -> Iterator[Suspicion]:
    """Yield what a text says of one thing in two ways that cannot both hold, found in one pass over its facts."""
    seen = set[tuple[int, int]]()
    clashes = ((first, second) for first, second, _ in contradictions(facts))
    for first, second in chain(clashes, reversals(facts), wrong_totals(facts)):
        place = (second.start, second.end)
        if place not in seen:
            seen.add(place)
            evidence = Evidence(Detector.RULE.value, None, facts.text[first.start : first.end][:MAX_EXCERPT_CHARS])
            yield Suspicion(ErrorType.CONTRADICTION, Detector.RULE, AT_ODDS, (evidence,), place)
    for slip in slips(facts.text):
        place = (slip.wrong.start, slip.wrong.end)
        if place not in seen:
            evidence = Evidence(Detector.RULE.value, None, slip.why[:MAX_EXCERPT_CHARS])
            yield Suspicion(ErrorType.CONTRADICTION, Detector.RULE, AT_ODDS, (evidence,), place)


def _against(
    facts: TextFacts, passage: Passage, asserted: TextFacts, detector: Detector, kind: ErrorType
) -> Iterator[Suspicion]:
    """Yield where a text gives another value, or another order of events, than a passage."""
    demands = [(fact.span, predicate) for fact, predicate in readings.equalities(asserted)]
    demands += readings.orders(asserted)
    for span, predicate in demands:
        answer = evaluate_plainly(predicate, facts)
        if answer.holds is Holds.FALSE and answer.evidence:
            sentence = _sentence(asserted, span.start)
            evidence = Evidence(passage.source, None, sentence[:MAX_EXCERPT_CHARS])
            yield Suspicion(kind, detector, EXACT, (evidence,), _place(answer))
    for mine, theirs in readings.other_dates(facts, asserted):
        sentence = _sentence(asserted, theirs.span.start)
        evidence = Evidence(passage.source, None, sentence[:MAX_EXCERPT_CHARS])
        yield Suspicion(kind, detector, EXACT, (evidence,), (mine.span.start, mine.span.end))


def _place(answer: Evaluation) -> tuple[int, int] | None:
    if not answer.evidence:
        return None
    last = answer.evidence[-1]
    return last.start, last.end


def _sentence(facts: TextFacts, at: int) -> str:
    place = bisect_right(facts.sentences, at, key=lambda each: each.start) - 1
    if place < 0 or at >= facts.sentences[place].end:
        return facts.text
    return facts.text[facts.sentences[place].start : facts.sentences[place].end]
