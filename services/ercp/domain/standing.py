"""Whether a draft keeps each constraint, breaks it, or leaves it undecided, why, and where (ADR 0115).

Undecided is not kept (ADR 0115): what the predicates call UNKNOWN stands here with a stable reason, and so does what
they call TRUE where a part of the draft or of the predicate was not read. What they call FALSE is broken: the same
evaluation finds the errors of ``checking``.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from services.ercp.domain import readings
from services.ercp.domain.predicates import (
    Evaluation,
    Holds,
    Path,
    Predicate,
    PredicateError,
    Span,
    Text,
    TextFacts,
    evaluate,
)
from services.ercp.domain.predicates import PredicateName as Name
from services.ercp.domain.predicates.naming import condition_of, operand_words, words_of
from services.ercp.domain.predicates.selection import selected
from services.ercp.domain.records import Constraint, ConstraintOutcome, Place
from services.ercp.domain.vocabulary import Standing, Undecided

MAX_PLACES: Final = 64
MAX_SENTENCE_CHARS: Final = 400
MAX_WHY_CHARS: Final = 1_000


def outcomes(facts: TextFacts, constraints: Sequence[Constraint]) -> tuple[ConstraintOutcome, ...]:
    """Return how a draft stands to each constraint, in their order; CPU work."""
    return tuple(_outcome(facts, each) for each in constraints)


def no_draft(constraints: Sequence[Constraint]) -> tuple[ConstraintOutcome, ...]:
    """Return how things stand when no draft was written."""
    return tuple(_undecided(each, Undecided.NO_DRAFT, "no draft was written") for each in constraints)


def blocking(found: Sequence[ConstraintOutcome], *, allow_undecided: bool = False) -> tuple[str, ...]:
    """Return the ids of the immutable constraints that are undecided: while there are any, nothing has converged.

    Args:
        found: how a draft stands to the constraints.
        allow_undecided: the caller takes what nobody knows for kept; what is suspected is not that (ADR 0117).
    """
    return tuple(
        each.constraint_id
        for each in found
        if each.immutable
        and each.standing is Standing.UNDECIDED
        and (each.reason is Undecided.SUSPECTED or not allow_undecided)
    )


def with_suspicions(
    found: Sequence[ConstraintOutcome], before: Sequence[ConstraintOutcome]
) -> tuple[ConstraintOutcome, ...]:
    """Return outcomes by rules alone with what the second detector said of the same draft before."""
    suspected = {each.constraint_id: each for each in before if each.reason is Undecided.SUSPECTED}
    return tuple(
        suspected.get(each.constraint_id, each) if each.standing is Standing.UNDECIDED else each for each in found
    )


def _outcome(facts: TextFacts, constraint: Constraint) -> ConstraintOutcome:
    try:
        predicate = readings.predicate_of(constraint)
    except PredicateError:
        return _undecided(constraint, Undecided.UNREADABLE, "this version cannot read the predicate")
    answer = evaluate(predicate, facts)
    if answer.holds is Holds.UNKNOWN:
        return _undecided(constraint, _reason(predicate, facts, answer), answer.why)
    if answer.holds is Holds.TRUE:
        if predicate.extra:  # a newer version's argument may narrow what is demanded (§10)
            named = ", ".join(name for name, _ in predicate.extra)
            return _undecided(constraint, Undecided.UNREADABLE, f"this version does not know the argument {named}")
        if isinstance(predicate.left, Path) and not facts.is_complete:  # it rests on every value of the text
            return _undecided(constraint, Undecided.TOO_LONG, "the draft gives more amounts than are read")
    standing = Standing.KEPT if answer.holds is Holds.TRUE else Standing.BROKEN
    places = tuple(place_of(facts, span) for span in answer.evidence[:MAX_PLACES] if span.start < span.end)
    return ConstraintOutcome(
        constraint.constraint_id, standing, answer.why[:MAX_WHY_CHARS], None, places, immutable=constraint.immutable
    )


def _undecided(constraint: Constraint, reason: Undecided, why: str) -> ConstraintOutcome:
    return ConstraintOutcome(
        constraint.constraint_id, Standing.UNDECIDED, why[:MAX_WHY_CHARS], reason, immutable=constraint.immutable
    )


def _reason(predicate: Predicate, facts: TextFacts, answer: Evaluation) -> Undecided:
    """Return why a predicate is UNKNOWN, from what the text gives of its sides."""
    if answer.evidence:
        return Undecided.AT_ODDS
    if predicate.name is Name.IN_WORDS:
        return Undecided.NOT_UNDERSTOOD
    if predicate.name is Name.NO_CONTRADICTION:
        return Undecided.NOT_STATED
    if not isinstance(predicate.left, Path):
        named = [operand_words(side) for side in (predicate.left, predicate.right) if isinstance(side, Text)]
        spoken_of = _words(facts).issuperset(word for words in named for word in words)
        return Undecided.LEFT_OPEN if spoken_of else Undecided.NOT_STATED
    condition = condition_of([predicate.condition])
    sides = [side for side in (predicate.left, predicate.right) if isinstance(side, Path)]
    chosen = [selected(facts, side, condition) for side in sides]
    if not all(each.facts for each in chosen):
        return Undecided.NOT_STATED
    return Undecided.LEFT_OPEN if all(each.is_stated for each in chosen) else Undecided.OTHER_CONDITION


def _words(facts: TextFacts) -> frozenset[str]:
    """Return the stems of all the draft's words, made once."""
    found = facts.selected.get(_words)
    if not isinstance(found, frozenset):
        found = facts.selected[_words] = frozenset(words_of(facts.text))
    return found


def place_of(facts: TextFacts, span: Span) -> Place:
    """Return a stretch of a draft with the sentence that it begins in."""
    at = bisect_right(facts.sentences, span.start, key=lambda each: each.start) - 1
    inside = at >= 0 and span.start < facts.sentences[at].end
    sentence = facts.sentences[at] if inside else span
    words = facts.text[sentence.start : sentence.end][:MAX_SENTENCE_CHARS]
    return Place(span.start, span.end, sentence.start, sentence.end, words)
