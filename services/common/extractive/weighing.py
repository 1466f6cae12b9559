"""How much each sign tells, and from when on a passage answers: two linear models (ADR 0191).

The first orders the passages of one question; the second says of the first of them whether it answers at all. Both are
fitted by ``python -m training.answering`` and stand in ``weights.json``.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.extractive.candidates import SIGNS, Candidate, Need
from services.common.extractive.composing import (
    NOT_FOUND,
    NOTHING_NEW,
    Asked,
    Extract,
    ExtractLimits,
    Source,
    Unit,
    composed,
    in_reading_order,
    repeats,
    units_of,
)
from services.common.extractive.named_cells import is_plainly_named, like_rows
from services.common.extractive.sentences import quotable_passages, sentence_count
from services.common.questions.kinds import Kind
from services.common.questions.reading import read_question
from services.common.questions.terms import terms
from services.common.reading.labelled_rows import labelled_row

WEIGHTS: Final = Path(__file__).with_name("weights.json")
TOLD: Final = (*SIGNS, "order", "lead", "follows", "yes_no", "open", "only")
"""What is told of the first passage: its signs, its place in the order, how far it leads, and of the question."""
LEAST_WITHOUT_EXPECTED: Final = 0.60
"""Lowest probability of a passage that holds no hour, sum, number, name … where one is expected."""
_MOST_SENTENCES: Final = 2
MORE_ROWS: Final = "(Further rows of this table that match: {}.)"
"""What stands behind the rows of a list that is longer than an answer may be."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear model over standardized numbers."""

    bias: float
    weights: NDArray[np.float64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    def of(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one number per row, shape ``(n,)``."""
        found: NDArray[np.float64] = ((rows - self.mean) / self.spread) @ self.weights + self.bias
        return found

    @classmethod
    def read(cls, document: Mapping[str, Any], names: Sequence[str]) -> "Linear":
        """Return a model of the file; a name that it does not hold is an error."""
        by_name = [document["signs"][name] for name in names]
        columns = np.array(by_name, dtype=np.float64)
        return cls(float(document["bias"]), columns[:, 0], columns[:, 1], columns[:, 2])


@dataclass(frozen=True, slots=True)
class Weights:
    """Both models and their bounds.

    Attributes:
        order: orders passages.
        accept: logit that the first passage answers.
        least: lowest probability, 0.0-1.0, with which it is given.
        second: how far behind the first, in the order's units, a second passage of its section is quoted beside it.
    """

    order: Linear
    accept: Linear
    least: float
    second: float


@cache
def weights() -> Weights:
    """Return the fitted models."""
    document = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    order, accept = Linear.read(document["order"], SIGNS), Linear.read(document["accept"], TOLD)
    return Weights(order, accept, float(document["least"]), float(document["second"]))


@dataclass(frozen=True, slots=True)
class Chosen:
    """What answers one question best, best first, and the probability that it does, 0.0-1.0."""

    candidates: tuple[Candidate, ...]
    probability: float


def chosen(need: Need, candidates: Sequence[Candidate], models: Weights | None = None) -> Chosen:
    """Return what answers best: one passage, or two of one section that are as good; none without candidates."""
    if not candidates:
        return Chosen((), 0.0)
    models = models or weights()
    orders = models.order.of(np.stack([each.row() for each in candidates]))
    ranked = _plainer_row_first(need, [candidates[at] for at in np.argsort(-orders, kind="stable")])
    places = sorted((float(order) for order in orders), reverse=True)
    plain = [each for each in candidates if is_plainly_named(need.question, each.unit)]
    if len(plain) == 1 and not (plain[0].unit.past and not need.asks_past):
        return Chosen((plain[0],), 1.0)
    told = told_of(need, ranked, places)
    probability = 1.0 / (1.0 + math.exp(-float(models.accept.of(told[None])[0])))
    return Chosen(_with_second(ranked, places, models.second), probability)


def _plainer_row_first(need: Need, ranked: list[Candidate]) -> list[Candidate]:
    """Return the passages with the row of "Director" before that of "Managing Director" where nobody asked for more.

    To the encoders the longer name is as near: of two rows of one table whose names hold the same words of the question
    the one goes first that says nothing beside them.
    """
    first = labelled_row(ranked[0].unit.passage.text)
    if not first:
        return ranked
    asked, name = set(terms(need.question.text)), set(terms(first[0].label))
    for at, each in enumerate(ranked[1:], 1):
        other = labelled_row(each.unit.passage.text)
        if not other or other[0].heads != first[0].heads or each.section != ranked[0].section:
            continue
        plainer = set(terms(other[0].label))
        if plainer and plainer < name and plainer <= asked and not (name - plainer) & asked:
            return [each, *ranked[:at], *ranked[at + 1 :]]
    return ranked


def told_of(need: Need, ranked: Sequence[Candidate], places: Sequence[float]) -> NDArray[np.float64]:
    """Return what is told of the first passage, in the order of ``TOLD``."""
    first = ranked[0]
    behind = [place for each, place in zip(ranked, places, strict=True) if not _same(first, each)]
    lead = min(places[0] - max(behind), _MOST_LEAD) if behind else _MOST_LEAD
    kind = need.question.kind
    about = (float(bool(need.earlier)), float(kind is Kind.YES_NO), float(kind is Kind.OPEN), float(not behind))
    return np.array([*first.row(), places[0], lead, *about], dtype=np.float64)


_MOST_LEAD: Final = 4.0


def _same(one: Candidate, other: Candidate) -> bool:
    """Say whether two passages say the same, as far as one lies in the other."""
    first, second = one.unit.passage.text, other.unit.passage.text
    return first in second or second in first


def _with_second(ranked: Sequence[Candidate], places: Sequence[float], second: float) -> tuple[Candidate, ...]:
    """Return the first, and with it the next of its section where that is as good and both are one sentence."""
    first = ranked[0]
    if sentence_count(first.unit.passage.text) >= _MOST_SENTENCES:
        return (first,)
    for each, place in zip(ranked[1:], places[1:], strict=True):
        if places[0] - place > second:
            break
        fits = each.section == first.section and not each.unit.passage.is_row and not first.unit.passage.is_row
        lasting = each.unit.past == first.unit.past and not each.signs["lacks_expected"] > first.signs["lacks_expected"]
        single = sentence_count(each.unit.passage.text) < _MOST_SENTENCES
        if fits and lasting and single and not _same(first, each):
            return (first, each)
    return (first,)


def _bound(found: Chosen, least: float) -> float:
    """Return the lowest probability with which an answer is given: a higher one where what is expected is not there."""
    return max(least, LEAST_WITHOUT_EXPECTED) if found.candidates[0].signs["lacks_expected"] else least


def quoted(
    asked: Asked,
    sources: Sequence[Source],
    limits: ExtractLimits,
    found: Sequence[Chosen],
    models: Weights | None = None,
) -> Extract:
    """Compose the answer of what was chosen for each question.

    Args:
        asked: the question and its conversation.
        sources: the facts.
        limits: how many passages, and the lowest score with which the rules over words quote one.
        found: what was chosen for each question of the text.
        models: with the bound below which nothing is quoted; those that were fitted when not given.
    """
    said = [frozenset(terms(each.text)) for text in asked.said for each in quotable_passages(text)]
    least = (models or weights()).least
    answers = [each for each in found if each.candidates and each.probability >= _bound(each, least)]
    units: list[Unit] = []
    for each in answers:
        kept = each.candidates if len(answers) == 1 else each.candidates[:1]
        for candidate in kept:
            unit = candidate.unit
            fresh = not repeats(unit, said) and not any(unit.passage.text == other.passage.text for other in units)
            if fresh and len(units) < limits.max_passages:
                units.append(unit)
    if not units:
        return Extract(NOTHING_NEW if answers else NOT_FOUND)
    if len(units) == 1:
        units += like_rows(read_question(asked.question), units[0], units_of(sources))
        more, units = len(units) - limits.max_passages, units[: limits.max_passages]
    else:
        more = 0
    ordered = in_reading_order(units)
    text = composed([each.passage.text for each in ordered])
    return Extract(
        f"{text}\n{MORE_ROWS.format(more)}" if more > 0 else text,
        tuple(each.passage.text for each in ordered),
        tuple(sources[each.fact].fact_id for each in ordered),
    )
