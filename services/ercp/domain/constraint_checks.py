"""Constraints held against a text before the dpe service analyses it, which counts those that it violates (ADR 0078).

The same evaluation finds the errors of ``checking``: what is VIOLATED here is one error there, and the report that
counts it gives no second one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.taxonomy import ConstraintState
from services.ercp.domain import readings
from services.ercp.domain.predicates import Evaluation, Holds, PredicateError, TextFacts, evaluate
from services.ercp.domain.records import Constraint, Sentence
from services.ercp.domain.vocabulary import Detector

MAX_WORDS: Final = 2_000
MAX_WHY: Final = 1_000
"""Characters that the dpe service takes."""
_UNREADABLE: Final = "the predicate cannot be read by this version"


_STATES: Final = {
    Holds.TRUE: ConstraintState.HELD,
    Holds.FALSE: ConstraintState.VIOLATED,
    Holds.UNKNOWN: ConstraintState.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class ConstraintVerdict:
    """What a text says to a constraint.

    Attributes:
        spans: where a text denies it, in code points; empty when it holds, is not decided, or is denied as a whole.
        why: one sentence.
    """

    constraint_id: str
    nl_text: str
    state: ConstraintState
    spans: tuple[tuple[int, int], ...] = ()
    why: str = ""
    detector: Detector = Detector.SOLVER


@dataclass(frozen=True, slots=True)
class ConstraintCheck:
    """What a text asserts, and its verdict on every constraint, in their order."""

    facts: TextFacts
    verdicts: tuple[ConstraintVerdict, ...]


def check_constraints(text: str, sentences: Sequence[Sentence], constraints: Sequence[Constraint]) -> ConstraintCheck:
    """Read a text and hold constraints against it; CPU work."""
    facts = readings.facts_of(text, sentences)
    return ConstraintCheck(facts, tuple(_verdict(facts, each) for each in constraints))


def _verdict(facts: TextFacts, constraint: Constraint) -> ConstraintVerdict:
    try:
        answer = evaluate(readings.predicate_of(constraint), facts)
    except PredicateError:
        answer = Evaluation(Holds.UNKNOWN, (), _UNREADABLE)
    state = _STATES[answer.holds]
    spans = answer.evidence if state is ConstraintState.VIOLATED else ()
    return ConstraintVerdict(
        constraint_id=constraint.constraint_id,
        nl_text=constraint.nl_text[:MAX_WORDS],
        state=state,
        spans=tuple((span.start, span.end) for span in spans if span.start < span.end),
        why=answer.why[:MAX_WHY],
    )
