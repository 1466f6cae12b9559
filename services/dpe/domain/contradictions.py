"""Whether two claims contradict each other, within one answer or across windows alike (SPEC-005 §5.4, §8.2; ADR 0095).

A rule decides where it can (``statements``). What the entailment model says counts in both directions and above the
bound, of two claims that speak of the same thing, and never of two that both stand in facts: what the facts say side by
side is theirs. Two sentences of facts are a contradiction only where a rule says so and the facts speak of one thing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.ports.entailment import CONTRADICTION
from services.common.reading.text_types import Claim
from services.common.reading.words import content_stems
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.borne_out import FactSentences
from services.dpe.domain.facts import FactView
from services.dpe.domain.findings import AlignedValue, ContradictionReason, ContradictionSeverity
from services.dpe.domain.models import Pair, Vectors
from services.dpe.domain.policy import CONTRADICTED_ACROSS
from services.dpe.domain.quotations import Quotation, quotations
from services.dpe.domain.statements import (
    Statement,
    conflict,
    open_question,
    severity_of_words,
)


@dataclass(frozen=True, slots=True)
class Opposed:
    """How two claims contradict each other; ``probability`` is the smaller of both directions where a model says so."""

    severity: ContradictionSeverity
    reason: ContradictionReason
    values: AlignedValue | None = None
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Sourced:
    """Which claims stand in facts, by claim id, and the clauses of the facts that hold now."""

    places: Mapping[str, Quotation]
    views: Sequence[FactView]
    known: FactSentences

    def both(self, left: Claim, right: Claim) -> bool:
        """Say whether both claims stand word for word in facts."""
        return left.claim_id in self.places and right.claim_id in self.places

    def excuses(self, left: Statement, right: Statement) -> bool:
        """Say whether both stand in facts, or are borne out by facts, that do not contradict one another."""
        if not self.both(left.claim, right.claim):
            return self.known.excuses(left, right)
        first, second = self.places[left.claim.claim_id], self.places[right.claim.claim_id]
        if first.fact_index == second.fact_index:
            return True
        ours, theirs = self._lead(first), self._lead(second)
        return bool(ours - theirs) and bool(theirs - ours)

    def _lead(self, place: Quotation) -> frozenset[str]:
        """Return the stems of what stands over a quoted sentence in its fact."""
        return content_stems(self.views[place.fact_index].fact.content[: place.span.start])


def sourced(analysis: Analysis) -> Sourced:
    """Return which claims of the answer and of earlier windows stand in facts."""
    views = analysis.outputs.text.fact_views
    found = _placed(analysis.outputs.text.claims, analysis.outputs.attribution.quotations)
    for prior in analysis.outputs.text.prior_texts:
        found |= _placed(prior.claims, quotations(prior.sentence_texts, views))
    return Sourced(found, views, FactSentences([view for view in views if not view.fact.superseded]))


def _placed(claims: Iterable[Claim], quoted: Mapping[int, Quotation]) -> dict[str, Quotation]:
    return {claim.claim_id: quoted[claim.sentence_index] for claim in claims if claim.sentence_index in quoted}


def asked(left: Statement, right: Statement, known: Sourced) -> bool:
    """Say whether the entailment model is asked about two claims: no rule decides, and its word could count."""
    return open_question(left, right) and not known.both(left.claim, right.claim)


def asked_back(
    classified: Mapping[Pair, Vectors] | None, left: Statement, right: Statement, known: Sourced
) -> Pair | None:
    """Return the pair in the other direction where the first says contradiction; of the rest it could change none."""
    first = _probability(classified, left, right)
    if first is None or first <= CONTRADICTED_ACROSS or not asked(left, right, known):
        return None
    return right.claim.text, left.claim.text


def opposed_claims(
    classified: Mapping[Pair, Vectors] | None, left: Statement, right: Statement, known: Sourced
) -> Opposed | None:
    """Return how two claims contradict each other, or ``None``."""
    by_rule = conflict(left, right)
    if by_rule is not None:
        excused = known.excuses(left, right)
        return None if excused else Opposed(by_rule.severity, by_rule.reason, by_rule.values)
    there, back = _probability(classified, left, right), _probability(classified, right, left)
    if there is None or back is None or min(there, back) <= CONTRADICTED_ACROSS or not asked(left, right, known):
        return None
    severity = severity_of_words(left, right)
    return Opposed(severity, ContradictionReason.ENTAILMENT_MODEL, probability=min(there, back))


def said_before(claim: Claim, earlier: Claim, found: Opposed, window_number: int) -> str:
    """Return in one sentence what an earlier window said, and what is said now.

    Args:
        claim: of this window.
        earlier: of the earlier one.
        found: how they contradict each other.
        window_number: of the earlier window, from 1.
    """
    before, now = _words(earlier, claim, found)
    whole = f": {_quoted(claim.text)}" if found.values is not None else ""
    return f"In window {window_number} the answer said {before}; now it says {now}{whole}."


def said_twice(first: Claim, second: Claim, found: Opposed) -> str:
    """Return in one sentence what one answer says first, and what later."""
    before, now = _words(first, second, found, is_first_claimed=True)
    whole = f": {_quoted(second.text)}" if found.values is not None else ""
    return f"The answer says {before}, and then {now}{whole}."


def _words(first: Claim, second: Claim, found: Opposed, *, is_first_claimed: bool = False) -> tuple[str, str]:
    """Return what differs, or both claims where no two values do."""
    if found.values is None:
        return _quoted(first.text), _quoted(second.text)
    claimed, known = found.values.claimed.text, found.values.known.text
    return (claimed, known) if is_first_claimed else (known, claimed)


def _quoted(text: str) -> str:
    line = " ".join(text.split()).rstrip(".;:!")
    return f"“{line}”" if len(line) <= MOST_QUOTED else f"“{line[: MOST_QUOTED - 1]}…”"


MOST_QUOTED: Final = 160
"""Characters of a claim that a sentence repeats."""


def _probability(classified: Mapping[Pair, Vectors] | None, premise: Statement, hypothesis: Statement) -> float | None:
    row = None if classified is None else classified.get((premise.claim.text, hypothesis.claim.text))
    return None if row is None else float(row[CONTRADICTION])
