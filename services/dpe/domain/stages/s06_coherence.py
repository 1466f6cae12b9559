"""Stage 6, cross-window coherence (SPEC-005 §8): what the answer says against what the session has said before.

Claims of both are read by the code of stage 1 and held against each other as those of one answer are
(``contradictions``): by rules, and by the entailment model in both directions above 0.75. Where a window was summarised
its summary stands for it, and each finding says so. Up to 300 pairs all are compared; above, those that share no name,
number, date or word of content are taken as neutral (ADR 0037). Severities: ADR 0037 and docs/rules.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.reading.text_types import ClaimType
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.contradictions import Sourced, asked, asked_back, opposed_claims, said_before, sourced
from services.dpe.domain.entailment_status import entailment_status
from services.dpe.domain.findings import CrossContradiction
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.pairing import related
from services.dpe.domain.policy import ALL_PAIRS_LIMIT
from services.dpe.domain.prior_texts import PriorText
from services.dpe.domain.prior_windows import prior_status
from services.dpe.domain.results import CoherenceResult
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import StageKey
from services.dpe.domain.stages import s01_claims, s02_attribution
from services.dpe.domain.statements import Statement
from services.dpe.domain.unsupported_language import any_unread, mostly_unread, session_texts


@dataclass(frozen=True, slots=True)
class _Earlier:
    statement: Statement
    prior: PriorText


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What is held against what: index pairs, and the claims that share something with an earlier one (step 6.1)."""

    current: tuple[Statement, ...]
    earlier: tuple[_Earlier, ...]
    pairs: Sequence[tuple[int, int]]
    concerned: frozenset[int]

    @property
    def total(self) -> int:
        """Number of pairs that there are."""
        return len(self.current) * len(self.earlier)

    def statements(self) -> Iterator[tuple[Statement, Statement]]:
        """Yield what is held against what, in order."""
        for left, right in self.pairs:
            yield self.current[left], self.earlier[right].statement


def ask_pairs(analysis: Analysis) -> Requests:
    """Ask about (claim, earlier claim) where the entailment model should see it (SPEC-005 §8.2, step 6.3)."""
    if analysis.models.entailment_tokens is None or not analysis.outputs.text.prior_texts:
        return Requests()
    compared, known = _comparison(analysis), sourced(analysis)
    return Requests(
        classify=tuple(
            (statement.claim.text, earlier.claim.text)
            for statement, earlier in compared.statements()
            if asked(statement, earlier, known)
        )
    )


def plan(analysis: Analysis) -> Requests:
    """Ask for the other direction of every pair that is a contradiction in the first: the encoder is not symmetric."""
    if not analysis.outputs.text.prior_texts or analysis.input.window_number == 1:
        return Requests()
    compared, known = _comparison(analysis), sourced(analysis)
    classified = analysis.models.classified
    doubtful = [
        pair
        for statement, earlier in compared.statements()
        if (pair := asked_back(classified, statement, earlier, known)) is not None
    ]
    return Requests(classify=tuple(dict.fromkeys(doubtful)))


def apply(analysis: Analysis) -> Analysis:
    """Compare the factual claims with those of earlier windows."""
    if analysis.input.is_first:
        return analysis.ended(
            StageOutcome(STAGE, StageStatus.NOT_APPLICABLE, Reason.FIRST_WINDOW),
            CoherenceResult(()),
        )
    status, reason = prior_status(analysis, summaries_serve=True)
    if status is StageStatus.SKIPPED:
        return analysis.ended(StageOutcome(STAGE, status, reason))
    compared, known = _comparison(analysis), sourced(analysis)
    found: list[CrossContradiction] = []
    contradicted: set[int] = set()
    for left, right in compared.pairs:
        item = _compare(analysis, compared.current[left], compared.earlier[right], known)
        if item is not None:
            found.append(item)
            contradicted.add(left)
    counted = compared.concerned | contradicted
    answer, *earlier = session_texts(analysis)
    if status is StageStatus.COMPLETED:
        status, reason = entailment_status(analysis)
    if status is StageStatus.COMPLETED and any_unread(answer, *earlier):
        status, reason = StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED
    # ADR 0047: nothing was compared with what was not read, so that no coherence is attested either.
    unread = not counted and (mostly_unread(answer) or mostly_unread(*earlier))
    return analysis.ended(
        StageOutcome(STAGE, status, reason, findings=len(found)),
        CoherenceResult(
            tuple(found),
            # ADR 0014: 1 - contradicted / compared claims; nothing compared, nothing contradicted.
            score=None if unread else 1.0 - len(contradicted) / len(counted) if counted else 1.0,
            pairs_total=compared.total,
            pairs_scored=len(compared.pairs),
        ),
    )


def _comparison(analysis: Analysis) -> _Comparison:
    current = tuple(_factual(analysis.outputs.text.statements))
    earlier = tuple(
        _Earlier(statement, prior)
        for prior in analysis.outputs.text.prior_texts
        for statement in _factual(prior.statements)
    )
    shared = related(current, [item.statement for item in earlier])
    concerned = frozenset(int(left) for left in np.unique(shared[:, 0]))
    chosen: Sequence[tuple[int, int]] = _listed(shared)
    if analysis.policy.score_all_pairs or len(current) * len(earlier) <= ALL_PAIRS_LIMIT:
        chosen = list(product(range(len(current)), range(len(earlier))))
    return _Comparison(current, earlier, chosen, concerned)


def _listed(shared: NDArray[np.int64]) -> list[tuple[int, int]]:
    return [(int(left), int(right)) for left, right in shared]


def _factual(statements: Iterable[Statement]) -> Iterator[Statement]:
    return (statement for statement in statements if statement.claim.claim_type is ClaimType.FACTUAL)


def _compare(analysis: Analysis, left: Statement, right: _Earlier, known: Sourced) -> CrossContradiction | None:
    """Return the contradiction of two claims; rules first, for they say which values differ."""
    found = opposed_claims(analysis.models.classified, left, right.statement, known)
    if found is None:
        return None
    window = right.prior.window
    return CrossContradiction(
        found.severity,
        left.claim,
        right.statement.claim,
        window.window_id,
        window.is_summary,
        found.values,
        found.probability,
        found.reason,
        said_before(left.claim, right.statement.claim, found, window.window_number),
    )


def _score(analysis: Analysis) -> float | None:
    return analysis.outputs.coherence.score


STAGE: Final = Stage(
    key=StageKey(6),
    name="Cross-Window Coherence",
    section="CRP-SPEC-005 §8",
    needs=(s01_claims.STAGE, s02_attribution.STAGE),
    amplifiers=("cross_window_contradiction",),
    counts_in_quality=True,
    has_remedies=True,
    score=_score,
    reads_earlier_windows=True,
    idle_in_first_window=True,
    apply=apply,
    plan=plan,
    shares={Batch.PAIRS: ask_pairs},
)
