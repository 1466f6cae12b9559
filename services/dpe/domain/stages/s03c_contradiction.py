"""Stage 3c, contradiction within one answer (SPEC-005 §5.4): two claims about the same thing that cannot both be true.

By the rules of ``statements`` and by the entailment model. Up to 300 pairs all are compared; above, claims that share
no content word are taken as neutral (ADR 0037), and ``Coverage`` says so.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

from services.common.reading.text_types import ClaimType
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.contradictions import Sourced, asked, asked_back, opposed_claims, said_twice, sourced
from services.dpe.domain.entailment_status import entailment_status
from services.dpe.domain.findings import Contradiction
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.policy import ALL_PAIRS_LIMIT
from services.dpe.domain.results import ContradictionResult
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import RiskSignal, StageKey
from services.dpe.domain.stages import s01_claims, s02_attribution
from services.dpe.domain.statements import Statement

_COMMON: Final = 20
"""What more claims than this share brings no pair together by itself."""


def ask_pairs(analysis: Analysis) -> Requests:
    """Ask about the pairs of claims that the entailment model should see: where no rule decides and it could count.

    Two claims are asked about when they speak of the same thing and do not both stand in facts (ADR 0095).
    """
    if analysis.models.entailment_tokens is None:
        return Requests()
    known = sourced(analysis)
    return Requests(
        classify=tuple(
            (left.claim.text, right.claim.text)
            for left, right in _candidates(analysis, _statements(analysis))
            if asked(left, right, known)
        )
    )


def plan(analysis: Analysis) -> Requests:
    """Ask for the other direction of every pair that is a contradiction in the first: the encoder is not symmetric."""
    known = sourced(analysis)
    classified = analysis.models.classified
    doubtful = [
        pair
        for left, right in _candidates(analysis, _statements(analysis))
        if (pair := asked_back(classified, left, right, known)) is not None
    ]
    return Requests(classify=tuple(dict.fromkeys(doubtful)))


def apply(analysis: Analysis) -> Analysis:
    """Compare the factual claims with one another."""
    statements = _statements(analysis)
    total = len(statements) * (len(statements) - 1) // 2
    if not total:
        outcome = StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.FEWER_THAN_TWO_CLAIMS)
        return analysis.ended(outcome, ContradictionResult(()))
    compared = _candidates(analysis, statements)
    known = sourced(analysis)
    found = [item for left, right in compared if (item := _compare(analysis, left, right, known))]
    status, reason = entailment_status(analysis)
    return analysis.ended(
        StageOutcome(STAGE, status, reason, findings=len(found)),
        ContradictionResult(tuple(found), total, len(compared)),
    )


def _statements(analysis: Analysis) -> list[Statement]:
    """Return the factual claims as they are compared; pronouns are resolved from all claims."""
    return [
        statement for statement in analysis.outputs.text.statements if statement.claim.claim_type is ClaimType.FACTUAL
    ]


def _candidates(analysis: Analysis, statements: Sequence[Statement]) -> list[tuple[Statement, Statement]]:
    """Return the pairs to compare, in order: all of them, or those that share a subject."""
    if analysis.policy.score_all_pairs or len(statements) * (len(statements) - 1) // 2 <= ALL_PAIRS_LIMIT:
        return list(combinations(statements, 2))
    chosen: set[tuple[int, int]] = set()
    by_feature: dict[tuple[str, str], list[int]] = defaultdict(list)
    by_subject: dict[frozenset[str], list[int]] = defaultdict(list)
    for index, statement in enumerate(statements):
        by_subject[statement.stems].append(index)
        for feature in _features(statement):
            by_feature[feature].append(index)
    for members in by_feature.values():
        if len(members) <= _COMMON:
            chosen.update(combinations(members, 2))
    for members in by_subject.values():
        # The same subject many times over: each with the first and with its predecessor.
        chosen.update((members[0], index) for index in members[1:])
        chosen.update(pairwise(members))
    return [(statements[left], statements[right]) for left, right in sorted(chosen)]


def _compare(analysis: Analysis, left: Statement, right: Statement, known: Sourced) -> Contradiction | None:
    found = opposed_claims(analysis.models.classified, left, right, known)
    if found is None:
        return None
    return Contradiction(
        found.severity,
        left.claim,
        right.claim,
        found.values,
        found.probability,
        found.reason,
        said_twice(left.claim, right.claim, found),
    )


def _features(statement: Statement) -> list[tuple[str, str]]:
    """Return what two claims can share: words of content, names, numbers and dates (ADR 0037)."""
    found = [("stem", stem) for stem in sorted(statement.stems)] + [("name", name) for name in sorted(statement.names)]
    return found + sorted({("value", value.normal) for value in statement.values})


STAGE: Final = Stage(
    key=StageKey(3, "c"),
    name="Contradiction Detection",
    section="CRP-SPEC-005 §5.4",
    needs=(s01_claims.STAGE, s02_attribution.STAGE),
    signals=frozenset({RiskSignal.FIDELITY}),
    always_runs=True,
    computing_ahead=1.5,
    apply=apply,
    plan=plan,
    shares={Batch.PAIRS: ask_pairs},
)
