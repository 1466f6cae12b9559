"""Scores coherence: remembered scores, facts, both paths, the judge (Director-AI page, D1 to D4; ADR 0122).

Both paths go through one run of the provenance stages, so that what they ask of a model is one batch. While facts are
still being looked for, the logical path runs already; what it asked is not asked again.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.computing import compute_unless_small
from services.common.context import current_call
from services.common.encoding import canonical_json, sha256_hex
from services.common.errors import ErrorReason, UnavailableError
from services.common.progress import at
from services.common.settings.guard.coherence import CoherenceSettings, JudgeUse
from services.common.taxonomy import StageStatus
from services.dpe.answer_cache import cache_keys
from services.dpe.app import ProvenanceApp
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.guard.coherence import (
    CoherencePolicy,
    CoherenceScore,
    Divergences,
    JudgeOpinion,
    NoFacts,
    scored,
)
from services.dpe.domain.guard.coherence_grounds import Grounds, GroundText, analysis_input, asked, grounds_of
from services.dpe.domain.guard.divergences import divergences
from services.dpe.domain.guard.guard_stages import COHERENCE_STAGES
from services.dpe.domain.outcome import Reason
from services.dpe.guard.ground_truth import GroundTruth, KnowledgeAwayError
from services.dpe.guard.judge import JUDGE_ROLE, Judge
from services.dpe.guard.score_cache import ScoreCache

_NO_TENANT: Final = ""
_UNUSED: Final = frozenset({"personal_data"})
_LASTING: Final = frozenset(
    {
        NoFacts.NO_FACTS_FOUND,
        NoFacts.KNOWLEDGE_NOT_CONFIGURED,
        Reason.LANGUAGE_NOT_SUPPORTED,
        Reason.ENTAILMENT_MODEL_NOT_CONFIGURED,
        Reason.GROUNDING_MODEL_NOT_CONFIGURED,
    }
)
"""Reasons that hold the next time as well: what else is missing may be there again, and is not remembered."""


@dataclass(frozen=True, slots=True)
class CoherenceOrder:
    """What is to be scored; without ``facts`` the tenant's knowledge is asked."""

    prompt: str = field(repr=False)
    response: str = field(repr=False)
    facts: tuple[GroundText, ...] = field(default=(), repr=False)
    threshold: float | None = None
    asks_judge: bool = False
    bypasses_cache: bool = False


@dataclass(frozen=True, slots=True)
class Review:
    """A score held against a threshold."""

    score: CoherenceScore
    threshold: float
    approved: bool
    warning: bool
    cache_hit: bool
    policy_hash: str


@dataclass(frozen=True, slots=True)
class _Computed:
    """What both paths found, and by what."""

    found: Divergences
    grounds: Grounds
    analysis: Analysis


class CoherenceApp:
    """Scores coherence; safe to share between tasks of one event loop. Keeps nothing but scores.

    Args:
        analyses: runs the provenance stages.
        ground_truth: finds facts where a request brings none; ``None`` = this deployment has no knowledge service.
        judge: the LLM judge; ``None`` = no endpoint is configured.
        settings: weights, constants, limits.
        cache: of scores.
    """

    def __init__(
        self,
        analyses: ProvenanceApp,
        ground_truth: GroundTruth | None,
        judge: Judge | None,
        settings: CoherenceSettings,
        cache: ScoreCache,
    ) -> None:
        self._analyses = analyses
        self.ground_truth = ground_truth
        self._judge = judge
        self._settings = settings
        self.cache = cache
        self.policy = CoherencePolicy(
            **{name: getattr(settings, name) for name in CoherencePolicy.__dataclass_fields__}
        )
        self._policy_hash = sha256_hex(canonical_json(self.policy.document(analyses.policy.document())))
        self._models = tuple(item for item in analyses.fingerprints() if item[0] not in _UNUSED)
        self.outcomes: Counter[str] = Counter()
        """How reviews ended, for metrics."""

    async def review(self, order: CoherenceOrder) -> Review:
        """Return the score of an answer, held against the threshold of the request.

        Raises:
            UnavailableError: LLM_UNAVAILABLE: the judge is asked for, and none is configured.
            LimitExceededError: the answer holds too many claims (MESSAGE_TOO_LARGE), or a queue is full.
            DeadlineError: the caller's time is not enough for any score; nothing was done.
        """
        if order.asks_judge and self._judge is None:
            raise UnavailableError(
                ErrorReason.LLM_UNAVAILABLE,
                "use_llm_judge is set, and this deployment has no judge: set GROUNDTRAIL_SECOND_OPINION__BASE_URL, or "
                "leave it unset",
            )
        score, hit = await self._score(order)
        threshold = self.policy.threshold if order.threshold is None else order.threshold
        approved = score.approved(threshold)
        self.outcomes["unscored" if score.coherence is None else "approved" if approved else "rejected"] += 1
        return Review(score, threshold, approved, score.warns(self.policy), hit, self._policy_hash)

    async def _score(self, order: CoherenceOrder) -> tuple[CoherenceScore, bool]:
        """Return the score, and whether it was remembered."""
        tenant, size = _tenant(), _size(order)
        key = b"" if order.bypasses_cache else await compute_unless_small(size, self._key, tenant, order)
        if order.bypasses_cache:
            self.cache.bypassed()
        # While nothing is remembered of prompt and answer the logical path need not wait for the facts.
        early: asyncio.Task[Analysis] | None = None
        if not order.facts and not (key and self.cache.may_hold(tenant, key)) and self.ground_truth is not None:
            early = asyncio.create_task(self._analysed(order, grounds_of(())))
        try:
            facts, missing = await self._facts(order)
            digest = await compute_unless_small(size, _digest, facts)
            known = self.cache.find(tenant, key, digest) if key else None
            if known is not None:
                return known, True
            score = await self._computed(order, facts, missing, early)
        finally:
            if early is not None:
                await _ended(early)
        if key and _lasts(score):
            self.cache.keep(tenant, key, digest, score)
        return score, False

    async def _computed(
        self, order: CoherenceOrder, facts: tuple[GroundText, ...], missing: str, early: asyncio.Task[Analysis] | None
    ) -> CoherenceScore:
        at("comparing the answer with prompt and facts")
        size = _size(order) + sum(len(fact.content) for fact in facts)
        grounds = await compute_unless_small(size, grounds_of, facts)
        if early is not None:
            await asyncio.wait((early,))  # what it asked is not asked again
        analysis = await early if early is not None and not facts else await self._analysed(order, grounds)
        sure = self.policy.judge_below_confidence
        found = await compute_unless_small(size, divergences, analysis, grounds, sure, missing)
        opinion, models = await self._judged(order, _Computed(found, grounds, analysis))
        return scored(self.policy, found, opinion, models)

    async def _facts(self, order: CoherenceOrder) -> tuple[tuple[GroundText, ...], str]:
        """Return the facts to check against, and why there are none."""
        if order.facts:
            return order.facts, ""
        if self.ground_truth is None:
            return (), NoFacts.KNOWLEDGE_NOT_CONFIGURED.value
        at("looking for facts")
        try:
            found = await self.ground_truth.retrieve(order.prompt, order.response)
        except KnowledgeAwayError:
            return (), NoFacts.KNOWLEDGE_UNAVAILABLE.value
        return found, "" if found else NoFacts.NO_FACTS_FOUND.value

    async def _analysed(self, order: CoherenceOrder, grounds: Grounds) -> Analysis:
        given = await compute_unless_small(_size(order), analysis_input, order.prompt, order.response, grounds)
        return await self._analyses.run_stages(given, COHERENCE_STAGES)

    async def _judged(
        self, order: CoherenceOrder, computed: _Computed
    ) -> tuple[JudgeOpinion, tuple[tuple[str, str], ...]]:
        """Return what the judge thinks where it is asked, and the models that took part."""
        judge = self._judge
        unsure = self._settings.judge is JudgeUse.UNSURE and computed.found.unsure
        if judge is None or not computed.grounds.facts or not (order.asks_judge or unsure):
            return JudgeOpinion.NOT_ASKED, self._models
        at("asking the judge")
        verdict = await judge.ask(asked(order.prompt), order.response, _nearest(computed))
        who = ((JUDGE_ROLE, verdict.model),) if verdict.model else ()
        return verdict.opinion, (*self._models, *who)

    def _key(self, tenant: str, order: CoherenceOrder) -> bytes:
        """Return the digest of all that a score depends on but retrieved facts."""
        judge = "" if self._judge is None else f"{self._judge.fingerprint} {self._settings.judge} {order.asks_judge}"
        brought = [text for fact in order.facts for text in (fact.text_id, fact.content)]
        texts = (str(len(self._models)), *(print_ for _, print_ in self._models), judge, order.prompt, order.response)
        (key,) = cache_keys(tenant, self._policy_hash, [(*texts, *brought)])
        return key


def _nearest(computed: _Computed) -> Sequence[str]:
    """Return the passages that the claims were judged by, the nearest to any claim first."""
    near: dict[int, float] = {}
    for passages in computed.analysis.outputs.attribution.passages.values():
        for one in passages:
            near[one.fact_index] = max(near.get(one.fact_index, 0.0), one.similarity)
    order = sorted(near, key=lambda index: (-near[index], index)) or range(len(computed.grounds.facts))
    return [computed.grounds.facts[index].content for index in order]


def _digest(facts: Sequence[GroundText]) -> bytes:
    """Return a digest of the facts that a score rests on, in their order."""
    texts = [text for fact in facts for text in (fact.text_id, fact.content, str(fact.superseded))]
    (found,) = cache_keys("", "", [texts])
    return found


def _lasts(score: CoherenceScore) -> bool:
    """Say whether the same would be found the next time: nothing that failed, no judge that was unclear."""
    sound = score.found.status is StageStatus.COMPLETED or score.found.reason in _LASTING
    return sound and score.judge is not JudgeOpinion.UNCLEAR


def _size(order: CoherenceOrder) -> int:
    return len(order.prompt) + len(order.response) + sum(len(fact.content) for fact in order.facts)


async def _ended(task: "asyncio.Task[Analysis]") -> None:
    """End what nobody waits for any more."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _tenant() -> str:
    """Return who asks; outside of a call (tools, tests) everything belongs to the nameless tenant."""
    try:
        return current_call().caller.tenant_id
    except LookupError:
        return _NO_TENANT
