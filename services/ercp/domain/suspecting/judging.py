"""What the answers of the models mean for the constraints that rules left open: suspected, or still undecided."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.ports.entailment import CONTRADICTION, ENTAILMENT
from services.common.reading.polarity import is_negated
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.records import ConstraintOutcome
from services.ercp.domain.standing import place_of
from services.ercp.domain.suspecting.asking import Asked, Plan, Way
from services.ercp.domain.suspecting.bounds import SuspicionBounds
from services.ercp.domain.vocabulary import Undecided

Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Answers:
    """What the models say of one inquiry: for every statement and part, 0 where the pair was not read.

    Attributes:
        entailed: P(the statement follows from the part).
        contradicted: P(contradiction), the mean of both ways.
        cosines: of the embeddings.
    """

    entailed: Rows
    contradicted: Rows
    cosines: Rows


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a constraint is suspected: by how much, which parts of the draft show it, and what is said of it."""

    score: float
    parts: tuple[int, ...]
    why: str


def answers_of(asked: Asked, rows: Rows) -> Answers:
    """Return the rows of an inquiry's pairs as tables of statements and parts."""
    entailed, contradicted = np.zeros_like(asked.cosines), np.zeros_like(asked.cosines)
    most = asked.nearest.shape[1]
    for statement, parts in enumerate(asked.nearest):
        own = rows[2 * most * statement : 2 * most * (statement + 1)]
        entailed[statement, parts] = own[:most, ENTAILMENT]
        contradicted[statement, parts] = (own[:most, CONTRADICTION] + own[most:, CONTRADICTION]) / 2
    return Answers(entailed, contradicted, asked.cosines)


def judge(
    facts: TextFacts,
    planned: Plan,
    asked: Sequence[Asked],
    rows: Rows,
    outcomes: Sequence[ConstraintOutcome],
    bounds: SuspicionBounds,
) -> tuple[ConstraintOutcome, ...]:
    """Return the outcomes with those that the models doubt marked as suspected.

    Args:
        facts: of the draft.
        planned: what was asked.
        asked: with which parts of the draft.
        rows: of the entailment model, for the pairs of all that was asked in order.
        outcomes: by the rules.
        bounds: from which answers on there is a doubt.
    """
    found, at = list(outcomes), 0
    for each in asked:
        size = 2 * each.nearest.size
        doubt = doubted(planned, each, answers_of(each, rows[at : at + size]), bounds)
        at += size
        if doubt is not None:
            places = tuple(place_of(facts, planned.parts[part]) for part in doubt.parts)
            number = each.inquiry.number
            found[number] = replace(found[number], reason=Undecided.SUSPECTED, why=doubt.why, places=places)
    return tuple(found)


def doubted(planned: Plan, asked: Asked, answers: Answers, bounds: SuspicionBounds) -> Doubt | None:
    """Return why a constraint is suspected, or ``None``."""
    return _RULES[asked.inquiry.way](planned, asked, answers, bounds)


def _unsaid(planned: Plan, asked: Asked, answers: Answers, bounds: SuspicionBounds) -> Doubt | None:
    best, near = float(answers.entailed.max()), float(answers.cosines.max())
    if not planned.is_whole or best >= bounds.unsaid_entailed or near >= bounds.unsaid_near:
        return None
    return Doubt(1 - best, (), f'suspected: nothing in the draft seems to say "{_told(asked)}"')


def _forbidden(planned: Plan, asked: Asked, answers: Answers, bounds: SuspicionBounds) -> Doubt | None:
    part = int(answers.entailed[0].argmax())
    best = float(answers.entailed[0, part])
    if best < bounds.forbidden or is_negated(planned.words[part]):
        return None
    return Doubt(best, (part,), f'suspected: the draft seems to say "{_told(asked)}" ({best:.2f})')


def _contradicted(planned: Plan, asked: Asked, answers: Answers, bounds: SuspicionBounds) -> Doubt | None:
    best = float(answers.entailed[0].max())
    denied = _against(asked, answers, bounds.contradicted)
    if denied is not None:
        return denied
    if planned.is_whole and asked.inquiry.is_absent and best < bounds.absent:
        return Doubt(1 - best, (), f'suspected: what is demanded stands nowhere in the draft: "{_told(asked)}"')
    return None


def _denied(_: Plan, asked: Asked, answers: Answers, bounds: SuspicionBounds) -> Doubt | None:
    return _against(asked, answers, bounds.denied)


def _against(asked: Asked, answers: Answers, least: float) -> Doubt | None:
    """Doubt a statement that a part of the draft contradicts so much more than any part bears it out."""
    part = int(answers.contradicted[0].argmax())
    score = float(answers.contradicted[0, part] - answers.entailed[0].max())
    if score < least:
        return None
    why = f'suspected: the draft seems to say otherwise than "{_told(asked)}" ({score:.2f})'
    return Doubt(score, (part,), why)


def _unchosen(planned: Plan, asked: Asked, answers: Answers, bounds: SuspicionBounds) -> Doubt | None:
    best, near = float(answers.entailed.max()), float(answers.cosines.max())
    if not planned.is_whole:
        return None
    is_unlike = best < bounds.unchosen_entailed and near < bounds.unchosen_near
    if not is_unlike and not (asked.inquiry.is_absent and best < bounds.absent):
        return None
    options = ", ".join(statement.rstrip(".") for statement in asked.inquiry.statements)
    return Doubt(1 - best, (), f"suspected: the draft seems to name none of: {options}")


def _ordered(_: Plan, asked: Asked, answers: Answers, bounds: SuspicionBounds) -> Doubt | None:
    """Doubt an order where a step is plainly found before the one that has to come first."""
    score = answers.entailed + answers.cosines
    for step in range(len(score) - 1):
        earlier, later = int(score[step].argmax()), int(score[step + 1].argmax())
        first, second = float(score[step, earlier]), float(score[step + 1, later])
        margin = min(first - float(score[step, later]), second - float(score[step + 1, earlier]))
        if later < earlier and min(first, second) >= bounds.ordered and margin >= bounds.ordered_margin:
            names = [statement.rstrip(".") for statement in asked.inquiry.statements[step : step + 2]]
            why = f'suspected: the draft seems to name "{names[1]}" before "{names[0]}"'
            return Doubt(min(first, second), (later, earlier), why)
    return None


def _told(asked: Asked) -> str:
    return asked.inquiry.statements[0].rstrip(".")


_RULES: Final[dict[Way, Callable[[Plan, Asked, Answers, SuspicionBounds], Doubt | None]]] = {
    Way.UNSAID: _unsaid,
    Way.FORBIDDEN: _forbidden,
    Way.CONTRADICTED: _contradicted,
    Way.DENIED: _denied,
    Way.UNCHOSEN: _unchosen,
    Way.ORDERED: _ordered,
}
