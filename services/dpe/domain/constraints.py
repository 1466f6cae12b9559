"""Constraints that an answer was held against elsewhere, and what a violated one does to it (SPEC-005 §5.5, ADR 0078).

A violated constraint is one contradiction in the fidelity score, wherever and however often the answer denies it, as a
pair of claims that deny each other is one (§5.4). The claims that say so are CONTRADICTED by it. A constraint is a
demand and no evidence: one that holds, or that nobody could decide, changes nothing, and none touches attribution.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from services.common.reading.text_types import Claim, Span
from services.common.taxonomy import ConstraintState
from services.dpe.domain.findings import Basis, ConstraintConflict, Judgement, Verdict
from services.dpe.domain.verdict_eligibility import judged_claims


@dataclass(frozen=True, slots=True)
class ConstraintVerdict:
    """What somebody who can read a constraint says of the answer.

    Attributes:
        spans: stretches of the answer that deny it; empty when it holds, is not decided, or is denied as a whole.
        why: one sentence for people.
        detector: what decided, a stable token.
    """

    constraint_id: str
    state: ConstraintState
    nl_text: str = field(default="", repr=False)
    spans: tuple[Span, ...] = ()
    why: str = field(default="", repr=False)
    detector: str = ""


@dataclass(frozen=True, slots=True)
class ConstraintOutcome:
    """A verdict with the claims that it contradicts, in the order of the answer."""

    verdict: ConstraintVerdict
    claim_ids: tuple[str, ...] = ()


def held_against(verdicts: Iterable[ConstraintVerdict], claims: Iterable[Claim]) -> tuple[ConstraintOutcome, ...]:
    """Return every verdict with the judged claims that overlap its spans.

    Args:
        verdicts: of the request.
        claims: of the answer, of all types.
    """
    judged = sorted(judged_claims(claims), key=lambda claim: claim.start)
    furthest = list(accumulate((claim.end for claim in judged), max))
    return tuple(ConstraintOutcome(verdict, _meeting(verdict.spans, judged, furthest)) for verdict in verdicts)


def violated(outcomes: Iterable[ConstraintOutcome]) -> int:
    """Return how many contradictions the outcomes are: one for every violated constraint, with or without a place."""
    return sum(1 for outcome in outcomes if outcome.verdict.state is ConstraintState.VIOLATED)


def contradicted_by(outcomes: Iterable[ConstraintOutcome], judgements: Mapping[str, Judgement]) -> dict[str, Judgement]:
    """Return the judgements with the claims CONTRADICTED that violate a constraint.

    What else decided stays readable: a claim that a fact contradicts keeps that basis, every other one gets CONSTRAINT
    and tells what its verdict would be without.
    """
    names: dict[str, list[str]] = defaultdict(list)
    for outcome in outcomes:
        for claim_id in outcome.claim_ids:
            names[claim_id].append(outcome.verdict.constraint_id)
    found = dict(judgements)
    for claim_id, ids in names.items():
        before = found[claim_id]
        found[claim_id] = replace(
            before,
            verdict=Verdict.CONTRADICTED,
            basis=before.basis if before.verdict is Verdict.CONTRADICTED else Basis.CONSTRAINT,
            conflict=ConstraintConflict(tuple(ids), before.verdict),
        )
    return found


def _meeting(spans: Iterable[Span], claims: Sequence[Claim], furthest: Sequence[int]) -> tuple[str, ...]:
    """Return the claims that overlap a span, each once, in order.

    Args:
        spans: of one constraint.
        claims: by their start.
        furthest: the greatest end of a claim up to each.
    """
    found: dict[str, None] = {}
    for start, end in _merged(spans):
        at = bisect_right(furthest, start)
        while at < len(claims) and claims[at].start < end:
            if claims[at].end > start:
                found[claims[at].claim_id] = None
            at += 1
    return tuple(found)


def _merged(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Return the stretches that the spans cover together, so that no claim is looked at for each of many copies."""
    found: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda each: (each.start, each.end)):
        if found and span.start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], span.end)
        else:
            found.append((span.start, span.end))
    return found
