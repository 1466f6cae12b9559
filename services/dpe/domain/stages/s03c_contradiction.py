"""Stage 3c, contradiction within one answer (SPEC-005 §5.4): two claims about the same thing that cannot both be true.

By the rules of ``statements`` and by the entailment model. Up to 300 pairs all are compared; above, claims that share
no content word are taken as neutral (decision 11), and ``Coverage`` says so.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

from services.common.ports.entailment import CONTRADICTION
from services.dpe.domain.analysis import Analysis, Coverage, Pair, Requests
from services.dpe.domain.findings import Contradiction, ContradictionSeverity
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.policy import ALL_PAIRS_LIMIT, CONTRADICTED_ACROSS
from services.dpe.domain.stages.s03b_distortion import nli_status
from services.dpe.domain.statements import Statement, conflict, read_statement

KEY: Final = StageKey(3, "c")
_COMMON: Final = 20
"""What more claims than this share brings no pair together by itself."""


def pairs(analysis: Analysis) -> list[Pair]:
    """Return the pairs of claim texts that the entailment model should see: those that no rule decides (ADR 0041)."""
    statements = [read_statement(claim) for claim in analysis.factual_claims]
    return [
        (left.claim.text, right.claim.text)
        for left, right in _candidates(analysis, statements)
        if not _apart(left, right) and conflict(left, right) is None
    ]


def plan(analysis: Analysis) -> Requests:
    """Ask for the other direction of every pair that is a contradiction in the first; of the rest it could change none.

    A pair is a contradiction when both directions are, with a probability above the bound of §8.2, and the two do not
    name different things (ADR 0041): contradiction is symmetric, the encoder is not.
    """
    statements = [read_statement(claim) for claim in analysis.factual_claims]
    doubtful = [
        (right.claim.text, left.claim.text)
        for left, right in _candidates(analysis, statements)
        if conflict(left, right) is None and _says_contradiction(analysis, left, right)
    ]
    return Requests(classify=tuple(dict.fromkeys(doubtful)))


def apply(analysis: Analysis) -> Analysis:
    """Compare the factual claims with one another."""
    statements = [read_statement(claim) for claim in analysis.factual_claims]
    total = len(statements) * (len(statements) - 1) // 2
    if not total:
        outcome = StageOutcome(KEY, StageStatus.NOT_APPLICABLE, Reason.FEWER_THAN_TWO_CLAIMS)
        return analysis.ended(outcome, contradictions=())
    compared = _candidates(analysis, statements)
    found = [item for left, right in compared if (item := _compare(analysis, left, right))]
    status, reason = nli_status(analysis)
    return analysis.ended(
        StageOutcome(KEY, status, reason, findings=len(found)),
        contradictions=tuple(found),
        coverage=Coverage(total, len(compared)),
    )


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


def _compare(analysis: Analysis, left: Statement, right: Statement) -> Contradiction | None:
    by_rule = conflict(left, right)
    if by_rule is not None:
        return Contradiction(by_rule.severity, left.claim, right.claim, by_rule.values)
    if not _says_contradiction(analysis, left, right) or not _says_contradiction(analysis, right, left):
        return None
    probability = min(_probability(analysis, left, right), _probability(analysis, right, left))
    return Contradiction(ContradictionSeverity.HIGH, left.claim, right.claim, probability=probability)


def _features(statement: Statement) -> list[tuple[str, str]]:
    """Return what two claims can share: words of content, names, numbers and dates (decision 11)."""
    found = [("stem", stem) for stem in sorted(statement.stems)] + [("name", name) for name in sorted(statement.names)]
    return found + sorted({("value", value.normal) for value in statement.values})


def _apart(left: Statement, right: Statement) -> bool:
    """Say whether two claims name different things: what is said of one and of the other can both be true."""
    return bool(left.names and right.names and not left.names & right.names)


def _says_contradiction(analysis: Analysis, premise: Statement, hypothesis: Statement) -> bool:
    if _apart(premise, hypothesis):
        return False
    row = (analysis.models.classified or {}).get((premise.claim.text, hypothesis.claim.text))
    return row is not None and float(row[CONTRADICTION]) > CONTRADICTED_ACROSS


def _probability(analysis: Analysis, premise: Statement, hypothesis: Statement) -> float:
    return float((analysis.models.classified or {})[premise.claim.text, hypothesis.claim.text][CONTRADICTION])
