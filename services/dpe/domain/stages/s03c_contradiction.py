"""Stage 3c, contradiction within one answer (SPEC-005 §5.4): two claims about the same thing that cannot both be true.

By rules: equal words and one differing value of a kind, or equal words and opposite polarity. A difference in any other
value, name or word is taken as a difference in what is talked about. Up to 300 pairs all are compared; above, claims
that share no content word are taken as neutral (decision 11), and ``Coverage`` says so.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

from services.common.ports.entailment import CONTRADICTION
from services.common.ports.recognition import EntityKind
from services.dpe.domain.alignment import ALIGNABLE, NAMES, claim_stems
from services.dpe.domain.analysis import Analysis, Coverage, Pair
from services.dpe.domain.facts import agrees, comparable
from services.dpe.domain.findings import AlignedValue, Contradiction, ContradictionSeverity
from services.dpe.domain.names import name_key
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.polarity import is_negated
from services.dpe.domain.policy import ALL_PAIRS_LIMIT
from services.dpe.domain.stages.s03b_distortion import nli_status
from services.dpe.domain.text_types import Claim, Value
from services.dpe.domain.words import words

KEY: Final = StageKey(3, "c")
_FILLERS: Final = frozenset(
    {"now", "current", "currently", "total", "overall", "exact", "exactly", "actually", "also", "report", "stat"}
)
"""Stems that a claim may have more than another and still talk about the same."""
_COMMON_STEM: Final = 20
"""A stem of more claims than this brings no pair together by itself."""
_CONTRASTING: Final = frozenset(
    {"before", "after", "above", "below", "over", "under", "until", "from", "during", "other", "more", "less", "most"}
    | {"within", "up", "first", "second", "third"}
)
"""Words without content that still say what is talked about: "after 2024" is not "before 2023"."""
_NEAR: Final = 0.10
"""Approximate values that differ by a tenth or less are a minor inconsistency (SPEC-005 §8.2)."""


@dataclass(frozen=True, slots=True)
class _Statement:
    claim: Claim
    stems: frozenset[str]
    names: frozenset[str]
    values: tuple[Value, ...]
    negated: bool
    contrasts: frozenset[str]


def pairs(analysis: Analysis) -> list[Pair]:
    """Return the pairs of claim texts that the entailment model should see."""
    statements = [_read(claim) for claim in analysis.factual_claims]
    return [(left.claim.text, right.claim.text) for left, right in _candidates(statements)]


def apply(analysis: Analysis) -> Analysis:
    """Compare the factual claims with one another."""
    statements = [_read(claim) for claim in analysis.factual_claims]
    total = len(statements) * (len(statements) - 1) // 2
    if not total:
        outcome = StageOutcome(KEY, StageStatus.NOT_APPLICABLE, Reason.FEWER_THAN_TWO_CLAIMS)
        return analysis.ended(outcome, contradictions=())
    compared = _candidates(statements)
    found = [item for left, right in compared if (item := _compare(analysis, left, right))]
    status, reason = nli_status(analysis)
    return analysis.ended(
        StageOutcome(KEY, status, reason, findings=len(found)),
        contradictions=tuple(found),
        coverage=Coverage(total, len(compared)),
    )


def _read(claim: Claim) -> _Statement:
    names = frozenset(name_key(entity.text) for entity in claim.entities if entity.kind in NAMES)
    names |= {value.normal for value in claim.values if value.kind not in ALIGNABLE}
    values = tuple(value for value in claim.values if value.kind in ALIGNABLE)
    contrasts = frozenset(word.text for word in words(claim.text)) & _CONTRASTING
    return _Statement(claim, claim_stems(claim) - _FILLERS, names, values, is_negated(claim.text), contrasts)


def _candidates(statements: Sequence[_Statement]) -> list[tuple[_Statement, _Statement]]:
    """Return the pairs to compare, in order: all of them, or those that share a subject."""
    if len(statements) * (len(statements) - 1) // 2 <= ALL_PAIRS_LIMIT:
        return list(combinations(statements, 2))
    chosen: set[tuple[int, int]] = set()
    by_stem: dict[str, list[int]] = defaultdict(list)
    by_subject: dict[frozenset[str], list[int]] = defaultdict(list)
    for index, statement in enumerate(statements):
        by_subject[statement.stems].append(index)
        for stem in statement.stems:
            by_stem[stem].append(index)
    for members in by_stem.values():
        if len(members) <= _COMMON_STEM:
            chosen.update(combinations(members, 2))
    for members in by_subject.values():
        # The same subject many times over: each with the first and with its predecessor.
        chosen.update((members[0], index) for index in members[1:])
        chosen.update(pairwise(members))
    return [(statements[left], statements[right]) for left, right in sorted(chosen)]


def _compare(analysis: Analysis, left: _Statement, right: _Statement) -> Contradiction | None:
    found = _by_rule(left, right)
    classified = analysis.models.classified
    if found or classified is None:
        return found
    probabilities = classified.get((left.claim.text, right.claim.text))
    if probabilities is None or int(probabilities.argmax()) != CONTRADICTION:
        return None
    probability = float(probabilities[CONTRADICTION])
    return Contradiction(ContradictionSeverity.HIGH, left.claim, right.claim, probability=probability)


def _by_rule(left: _Statement, right: _Statement) -> Contradiction | None:
    if not _same_subject(left, right):
        return None
    if left.negated != right.negated:
        if not _unmatched(left.values, right.values) and not _unmatched(right.values, left.values):
            return Contradiction(ContradictionSeverity.HIGH, left.claim, right.claim)
        return None
    only_left, only_right = _unmatched(left.values, right.values), _unmatched(right.values, left.values)
    if len(only_left) != 1 or len(only_right) != 1 or len(left.values) != len(right.values):
        return None
    first, second = only_left[0], only_right[0]
    if not comparable(first, second) or first.kind is not second.kind:
        return None
    return Contradiction(_severity(first, second), left.claim, right.claim, AlignedValue(first, second, equal=False))


def _same_subject(left: _Statement, right: _Statement) -> bool:
    """Say whether two claims talk about the same: equal names and words, fillers aside; one word more is another."""
    same_words = bool(left.stems) and left.stems == right.stems and left.contrasts == right.contrasts
    return same_words and left.names == right.names


def _unmatched(values: Iterable[Value], others: Sequence[Value]) -> list[Value]:
    return [value for value in values if not any(agrees(value, other) or agrees(other, value) for other in others)]


def _severity(first: Value, second: Value) -> ContradictionSeverity:
    if first.kind in {EntityKind.DATE, EntityKind.TIME}:
        return ContradictionSeverity.HIGH
    if first.approximate and second.approximate and first.magnitude is not None and second.magnitude is not None:
        larger = max(abs(first.magnitude), abs(second.magnitude))
        if larger and float(abs(first.magnitude - second.magnitude) / larger) <= _NEAR:
            return ContradictionSeverity.LOW
    return ContradictionSeverity.CRITICAL
