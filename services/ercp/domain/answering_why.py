"""A question that asks why wants a reason: a draft without one does not converge (ERCP 1.0 §12; ADR 0118).

Kept: a sentence about what was asked gives a reason, or stands beside one that does. Broken: heads say of every
sentence that it gives none. Undecided otherwise, and without heads whenever no rule sees a reason: undecided is not
kept.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from services.common.questions.kinds import Kind, asked_kind
from services.ercp.domain.checking import QUESTION
from services.ercp.domain.faults import MAX_EXCERPT_CHARS, Suspicion
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.predicates.naming import words_of
from services.ercp.domain.records import ConstraintOutcome, Evidence, Place
from services.ercp.domain.standing import MAX_SENTENCE_CHARS
from services.ercp.domain.topics import Topic
from services.ercp.domain.unit_vocabulary import Relation, UnitKind
from services.ercp.domain.units import Units
from services.ercp.domain.vocabulary import Detector, ErrorType, Standing, Undecided

NO_REASON_TO_WHY: Final = 0.78
"""As sure as that a bare conclusion lacks its reason (ADR 0074): rules and heads, no proof."""
_ALSO_WHY: Final = re.compile(
    r"(?:^|[.,;:?!]|\band|\bbut)\s*(?:(?:please\s+)?(?:explain|say|tell (?:me|us)|describe|state)\s+)?why\b",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(
    r"^\W*(?:(?:please\s+)?(?:explain|say|tell (?:me|us)|describe|state)\s+)?(?:why|how come)\b"
    r"(?:\s+(?:do|does|did)\b)?",
    re.IGNORECASE,
)
_READ_CHARS: Final = 4_000
_ASKING: Final = frozenset(words_of("why how come explain say tell describe state reason cause what which who please"))


@dataclass(frozen=True, slots=True)
class Draft:
    """A text as it was read: what it asserts, what each sentence is about, what each is."""

    facts: TextFacts
    topics: Sequence[Topic]
    units: Units


def asks_why(question: str) -> bool:
    """Say whether a question wants a reason."""
    read = question[:_READ_CHARS]
    return asked_kind(read) is Kind.REASON or bool(_ALSO_WHY.search(read))


def answer_to_why(question: str, draft: Draft) -> ConstraintOutcome | None:
    """Return whether a draft gives a reason for what was asked; ``None`` where no reason is asked for.

    The outcome's ``constraint_id`` is empty: it is the question's own demand. Linear in the draft; CPU work.
    """
    if not asks_why(question):
        return None
    asked = frozenset(words_of(question[:_READ_CHARS])) - _ASKING
    about = _about(asked, draft.topics)
    reasons = set(_reasons(draft))
    tied = sorted(reasons & about)
    if tied:
        return _outcome(Standing.KEPT, "a reason is given for what was asked", draft.facts, tied)
    if reasons:
        why = "a reason is given, and it is not plain that it is for what was asked"
        return _outcome(Standing.UNDECIDED, why, draft.facts, (), Undecided.LEFT_OPEN)
    if not draft.units.by_heads:
        why = "no rule sees a reason, and no model was asked"
        return _outcome(Standing.UNDECIDED, why, draft.facts, (), Undecided.LEFT_OPEN)
    if _may_give_reason(draft):
        why = "it is not plain whether a sentence gives a reason"
        return _outcome(Standing.UNDECIDED, why, draft.facts, (), Undecided.LEFT_OPEN)
    return _outcome(Standing.BROKEN, "the question asks why, and no sentence gives a reason", draft.facts, ())


def lacking(outcome: ConstraintOutcome | None, question: str) -> list[Suspicion]:
    """Return the error of a draft that gives no reason where one was asked for (§4.2 missing_justification).

    It has no place, and what it rests on is the question: its reason is what the next draft has to give.
    """
    if outcome is None or outcome.standing is not Standing.BROKEN:
        return []
    evidence = Evidence(QUESTION, None, _ASKED.sub("", question[:MAX_EXCERPT_CHARS]).strip(" ?"))
    return [Suspicion(ErrorType.MISSING_JUSTIFICATION, Detector.HEADS, NO_REASON_TO_WHY, (evidence,))]


def _about(asked: frozenset[str], topics: Sequence[Topic]) -> set[int]:
    """Return the sentences that speak of what was asked, or of what those speak of."""
    first = {at for at, topic in enumerate(topics) if topic.words & asked}
    reached = asked.union(*(topics[at].telling for at in first))
    return first | {at for at, topic in enumerate(topics) if topic.telling & reached}


def _reasons(draft: Draft) -> Iterator[int]:
    """Yield the sentences that give a reason, or stand with one that does."""
    sentences = draft.facts.sentences
    for each in draft.facts.justifications:
        claim, reason = (
            max(0, bisect_right(sentences, span.start, key=attrgetter("start")) - 1)
            for span in (each.claim, each.reason)
        )
        if each.is_given and UnitKind.JUSTIFICATION not in draft.units.units[reason].excluded:
            yield from (claim, reason)
    for at, unit in enumerate(draft.units.units):
        if UnitKind.JUSTIFICATION in unit.kinds:
            yield at
    for pair in draft.units.related(Relation.JUSTIFIES):
        yield from pair


def _may_give_reason(draft: Draft) -> bool:
    """Say whether heads leave open that a sentence gives a reason, alone or beside another one."""
    units = draft.units
    if any(UnitKind.JUSTIFICATION not in unit.excluded for unit in units.units):
        return True
    neighbours = ((at + one, at + other) for at in range(len(units.units) - 1) for one, other in ((0, 1), (1, 0)))
    return any((*pair, Relation.JUSTIFIES) not in units.excluded for pair in neighbours)


def _outcome(
    standing: Standing, why: str, facts: TextFacts, sentences: Sequence[int], reason: Undecided | None = None
) -> ConstraintOutcome:
    spans = [facts.sentences[at] for at in sentences]
    places = tuple(
        Place(each.start, each.end, each.start, each.end, facts.text[each.start : each.end][:MAX_SENTENCE_CHARS])
        for each in spans
    )
    return ConstraintOutcome("", standing, why, reason, places, immutable=True)
