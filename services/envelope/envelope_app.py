"""Building envelopes: select, rank, pack; or nothing when what the caller holds still stands (SPEC-003 §4, §11)."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from services.common.clock import Clock
from services.common.computing import compute
from services.common.envelope_request import BESIDE_THE_BUILD, EnvelopeRequest
from services.common.errors import CrpError, ErrorReason, FieldViolation, LimitExceededError, PreconditionError
from services.common.ports.facts import FactStore, TimeFilter
from services.common.ports.tokens import ModelProfile, TokenCounter
from services.common.progress import at
from services.common.questions.decomposition import decompose
from services.common.settings.envelope import EnvelopeSettings
from services.common.taxonomy import DispatchStrategy, GroundingMode, RetrievalMode
from services.envelope.counted_facts import count_beside
from services.envelope.domain.asked_time import asked_time, time_filter
from services.envelope.domain.assembly import Assembly, PackingTerms, assemble
from services.envelope.domain.budget import BudgetTerms, token_budget
from services.envelope.domain.caching import (
    RELEVANT_COSINE,
    MissReason,
    miss_reason,
    miss_status,
    plan_key,
    read_directives,
)
from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.conflicts import Conflict, find_conflicts
from services.envelope.domain.freshness import horizon_days
from services.envelope.domain.grounding import GROUNDING_INSTRUCTIONS
from services.envelope.domain.quality_gap import quality_gap
from services.envelope.domain.quality_tier import MAX_NEWEST_AGE_DAYS
from services.envelope.domain.ranking import RankingTerms, relevance_scores
from services.envelope.domain.saturation import is_sparse, recommends_reuse
from services.envelope.domain.subjects import Stated, SubjectIndex
from services.envelope.domain.temporal import is_time_sensitive
from services.envelope.domain.weights import RankWeights, effective_weights
from services.envelope.granted_states import GrantedStates
from services.envelope.remembered_builds import RememberedBuild, RememberedBuilds
from services.envelope.requests import BuiltEnvelope, EnvelopeSummary
from services.envelope.retrieval_counts import TimeCounts
from services.envelope.screening import Screening
from services.envelope.selection import Selection, Selector

_PLANNED_IN_PLACE_CHARS: Final = 2_000
"""Query, prompt and carried texts up to this length together are counted and taken apart on the event loop."""
_CONFLICTS_IN_PLACE_CHARS: Final = 20_000
"""Facts up to this length together are held against each other on the event loop."""
_IN_PLACE_CANDIDATES: Final = 2_000
_IN_PLACE_CHARS: Final = 1_000_000
"""Candidates up to this number and length together are ranked on the event loop; more would keep others waiting."""


@dataclass(frozen=True, slots=True)
class CountRequest:
    """Texts to count as a model does."""

    model: str
    texts: Sequence[str]
    approximate_tokens: bool = False
    context_window_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Token counts and who counted."""

    counts: Sequence[int]
    profile: ModelProfile


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a build depends on, decided before any store is asked."""

    sub_queries: tuple[str, ...]
    time_sensitive: bool
    token_budget: int
    now: datetime = field(metadata=BESIDE_THE_BUILD)
    time: TimeFilter
    terms: RankingTerms
    counting: ModelProfile
    key: str = field(default="", metadata=BESIDE_THE_BUILD)


class EnvelopeApp:
    """BuildEnvelope, PreviewEnvelope and CountTokens.

    Args:
        facts: the knowledge fabric, for access counts.
        selector: phase 1.
        tokens: counts as the target model does.
        states: the state that ETags are judged by.
        settings: weights, margins, salts.
        clock: the time.
    """

    def __init__(
        self,
        facts: FactStore,
        selector: Selector,
        tokens: TokenCounter,
        states: GrantedStates,
        settings: EnvelopeSettings,
        clock: Clock,
    ) -> None:
        self._facts = facts
        self._selector = selector
        self._tokens = tokens
        self._states = states
        self._settings = settings
        self._screening = Screening(
            settings.suspected_in_envelopes, tokens, selector.embedding, overhead_tokens=settings.fact_overhead_tokens
        )
        self._clock = clock
        self._model = selector.embedding_model
        self._builds = RememberedBuilds(settings.remembered_builds)
        self._subjects = SubjectIndex()
        self.times = TimeCounts()
        """What builds had to do with time; its counts are metrics."""

    async def count_tokens(self, request: CountRequest) -> TokenCounts:
        """Count tokens as the model does.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; INVALID_FIELD: no window for a model that is counted approximately.
        """
        profile = self._profile(request)
        return TokenCounts(await count_beside(self._tokens, request.texts, profile.counting_name), profile)

    async def compare(self, tenant_id: str, request: EnvelopeRequest) -> BuiltEnvelope | MissReason:
        """Say whether the presented ETag still stands: what was built then, or why not (SPEC-003 §11.2).

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; INVALID_FIELD: no window for a model that is counted approximately.
            LimitExceededError: BUDGET_TOO_SMALL.
        """
        return await self._compared(tenant_id, request, await self._planned(request))

    async def build(self, tenant_id: str, request: EnvelopeRequest) -> BuiltEnvelope:
        """Build one window's envelope, or say that the presented one still stands.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; INVALID_FIELD: no window for a model that is counted approximately.
            LimitExceededError: BUDGET_TOO_SMALL.
            PreconditionError: NO_RELEVANT_FACTS, with only-if-ckf.
        """
        plan = await self._planned(request)
        compared = await self._compared(tenant_id, request, plan)
        if isinstance(compared, BuiltEnvelope):
            return compared
        version = await self._states.version(tenant_id)
        built = await self._build(tenant_id, request, plan, compared)
        # What a model's absence made worse must not stand once the model is back (ADR 0067).
        as_asked = built.summary.retrieval_mode is self._mode(request)
        keep = self._conditional(request) and as_asked and not read_directives(request.cache_directives).no_store
        arrived = await self._states.arrived(tenant_id) if keep else ()
        if keep and version == await self._states.version(tenant_id):
            remembered = RememberedBuild(built.summary, built.continuation_recommended, built.stands_until, arrived)
            self._builds.put(tenant_id, plan.key, remembered)
        self.times.beyond_now += plan.time.ended or plan.time.coming
        self.times.facts_out_of_time += sum(not fact.candidate.is_current for fact in built.facts)
        self.times.conflicts += len(built.conflicts)
        ids = [fact.candidate.fact_id for fact in built.facts if fact.candidate.is_stored]
        with suppress(CrpError):  # access counts are best effort
            await self._facts.touch(tenant_id, ids, at=plan.now)
        return built

    async def _compared(self, tenant_id: str, request: EnvelopeRequest, plan: _Plan) -> BuiltEnvelope | MissReason:
        remembered = self._builds.get(tenant_id, plan.key) if self._conditional(request) else None
        standing = remembered.standing if remembered else None
        reason = miss_reason(request.if_match_etag, read_directives(request.cache_directives), standing, plan.now)
        if reason is not None or remembered is None:
            return reason or MissReason.UNKNOWN_ETAG
        present = await self._states.of(tenant_id, remembered.summary.communities or ("",))
        if present != remembered.summary.state_hash or await self._states.arrived(tenant_id) != remembered.arrived:
            return MissReason.FACTS_UPDATED
        return self._not_modified(remembered, plan, request)

    def _conditional(self, request: EnvelopeRequest) -> bool:
        """Say whether an ETag can match: a salted one is its session's own, and tells nothing outside of it (§16.2)."""
        return bool(request.session_id) or not self._settings.etag_salt

    async def preview(self, tenant_id: str, request: EnvelopeRequest) -> BuiltEnvelope:
        """Build without counting accesses and without remembering (SPEC-003 §12)."""
        return await self._build(tenant_id, request, await self._planned(request), MissReason.NOT_CONDITIONAL)

    def _profile(self, request: EnvelopeRequest | CountRequest) -> ModelProfile:
        """Return whose tokenizer counts: the model's own, or a stand-in where the request allows one (§10.1)."""
        if request.approximate_tokens:
            return self._tokens.stand_in(request.model, request.context_window_tokens)
        return self._tokens.profile(request.model)

    def _mode(self, request: EnvelopeRequest) -> RetrievalMode:
        return request.retrieval_mode or RetrievalMode[self._settings.retrieval_mode.upper()]

    async def _planned(self, request: EnvelopeRequest) -> _Plan:
        """Plan here, or beside the event loop where the texts are long."""
        at("planning")
        await self._tokens.opened(self._profile(request).counting_name)
        given = sum(len(text.content) for text in request.carried) + sum(len(text.content) for text in request.told)
        length = len(request.query) + len(request.system_prompt) + given
        return self._plan(request) if length <= _PLANNED_IN_PLACE_CHARS else await compute(self._plan, request)

    def _plan(self, request: EnvelopeRequest) -> _Plan:
        now = self._clock.now()
        settings = self._settings
        time_sensitive = is_time_sensitive(request.query, now.year)
        defaults = RankWeights(
            settings.relevance_weight, settings.importance_factor, settings.freshness_weight, settings.diversity_weight
        )
        weights = effective_weights(defaults, time_sensitive=time_sensitive, mode=request.grounding_mode)
        horizon = horizon_days(settings.freshness_horizon_days, time_sensitive=time_sensitive)
        counting = self._profile(request)
        budget = self._budget(request, counting)
        time = time_filter(asked_time(request.query, now.date()), now, everything=request.include_superseded)
        plan = _Plan(
            sub_queries=decompose(request.query, settings.max_sub_queries),
            time_sensitive=time_sensitive,
            token_budget=budget,
            now=now,
            time=time,
            terms=RankingTerms(weights, now, horizon, settings.compare_duplicate_values),
            counting=counting,
        )
        return replace(plan, key=self._key(plan, request))

    def _budget(self, request: EnvelopeRequest, profile: ModelProfile) -> int:
        """Measure what surrounds the facts and return what is left (SPEC-003 §7.2)."""
        instruction = GROUNDING_INSTRUCTIONS[request.grounding_mode]
        texts = [request.system_prompt, instruction, request.query]
        system, added, query = self._tokens.count(texts, profile.counting_name)
        terms = BudgetTerms(
            context_window_tokens=profile.context_window_tokens,
            system_prompt_tokens=system + added,
            user_query_tokens=query,
            expected_response_tokens=request.expected_response_tokens or self._settings.expected_response_tokens,
            safety_margin_tokens=self._settings.safety_margin_tokens,
            ceiling_tokens=request.max_envelope_tokens,
        )
        budget = token_budget(terms)
        if budget <= 0:
            raise LimitExceededError(
                ErrorReason.BUDGET_TOO_SMALL,
                f"the context window of {profile.context_window_tokens} tokens leaves {budget} for facts; shorten the "
                "query or the system prompt, expect a shorter reply, or choose a model with a larger window",
                violations=(FieldViolation("query", "must leave room for facts in the model's context window"),),
                token_budget=str(budget),
                context_window_tokens=str(profile.context_window_tokens),
            )
        return budget

    def _key(self, plan: _Plan, request: EnvelopeRequest) -> str:
        """Return what the build depends on beside the knowledge: the whole plan (ADR 0111).

        In which order a request names facts and how its query is laid out changes nothing, and the mode of the settings
        is as good as a named one.
        """
        named = replace(
            request,
            query=" ".join(request.query.split()),
            retrieval_mode=self._mode(request),
            facts_seen=tuple(sorted(request.seen)),
            deferred_fact_ids=tuple(sorted(set(request.deferred_fact_ids))),
            transferred_fact_ids=tuple(sorted(set(request.transferred_fact_ids))),
            active_fact_ids=tuple(sorted(set(request.active_fact_ids))),
        )
        scope = request.session_id if self._settings.etag_salt else ""
        timeless = replace(
            plan, time=replace(plan.time, at=datetime.min.replace(tzinfo=UTC))
        )  # the moment is what ``stands_until`` is for
        return plan_key(timeless, named, self._model, scope)

    async def _build(self, tenant_id: str, request: EnvelopeRequest, plan: _Plan, reason: MissReason) -> BuiltEnvelope:
        counted = replace(request, model=plan.counting.counting_name)
        at("searching")
        selection = await self._selector.select(tenant_id, counted, plan.sub_queries, plan.time)
        if read_directives(request.cache_directives).only_if_ckf:
            _require_relevant(selection)
        terms = PackingTerms(
            ranking=plan.terms,
            token_budget=plan.token_budget,
            time_sensitive=plan.time_sensitive,
            context_strict=request.grounding_mode is GroundingMode.CONTEXT_STRICT,
            etag_salt=request.session_id if self._settings.etag_salt else "",
        )
        at("screening")
        selection, screened = await self._screening.of(selection, counted.model)
        at("packing")
        assembly = await _assembled(selection, terms)
        state = await self._states.of(tenant_id, assembly.communities or ("",))
        summary = self._summary(assembly, selection, plan, state)
        sources = await self._selector.sources(tenant_id, (fact.candidate for fact in assembly.facts))
        sparse = is_sparse(assembly.saturation)
        gap = quality_gap(assembly.verdict, request.accept_quality)
        return BuiltEnvelope(
            summary=summary,
            facts=assembly.facts,
            deferred=tuple(fact for fact in assembly.excluded if fact.candidate.is_stored),
            grounding_instruction=GROUNDING_INSTRUCTIONS[request.grounding_mode],
            sub_queries=plan.sub_queries,
            cache_status="PARTIAL; reason=limited-ckf-coverage" if sparse else miss_status(reason),
            warnings=(*selection.warnings, *_warnings(assembly, terms), *screened.told(assembly.facts)),
            continuation_recommended=assembly.under_pressure,
            reuse_recommended=recommends_reuse(assembly.saturation),
            counting=plan.counting,
            gap=gap,
            recommended_strategy=None if gap is None else recommended_strategy(request, plan.sub_queries),
            stands_until=_stands_until(selection, assembly, plan),
            sources=sources,
            conflicts=await _conflicts(assembly.facts, self._subjects),
            suspected=screened.suspected(assembly.facts),
        )

    def _summary(self, assembly: Assembly, selection: Selection, plan: _Plan, state_hash: str) -> EnvelopeSummary:
        newest = assembly.newest_ingested_at
        return EnvelopeSummary(
            total_facts_available=len(selection.candidates),
            total_facts_included=len(assembly.facts),
            token_count=assembly.token_count,
            token_budget=plan.token_budget,
            saturation=assembly.saturation,
            verdict=assembly.verdict,
            etag=assembly.etag,
            created_at=plan.now,
            communities=assembly.communities,
            memory_tier_hit=selection.memory_tier_hit,
            ckf_hits=selection.ckf_hits,
            knowledge_age=None if newest is None else max(plan.now - newest, timedelta(0)),
            state_hash=state_hash,
            embedding_model=self._model,
            retrieval_mode=selection.mode,
            shared_namespaces=selection.shared_namespaces,
        )

    def _not_modified(self, remembered: RememberedBuild, plan: _Plan, request: EnvelopeRequest) -> BuiltEnvelope:
        """Answer with what was built before: nothing that built it has changed (SPEC-003 §11.2)."""
        summary = remembered.summary
        gap = quality_gap(summary.verdict, request.accept_quality)
        return BuiltEnvelope(
            summary=summary,
            facts=(),
            deferred=(),
            grounding_instruction=GROUNDING_INSTRUCTIONS[request.grounding_mode],
            sub_queries=plan.sub_queries,
            cache_status="HIT",
            warnings=(),
            continuation_recommended=remembered.continuation_recommended,
            reuse_recommended=recommends_reuse(summary.saturation),
            counting=plan.counting,
            gap=gap,
            recommended_strategy=None if gap is None else recommended_strategy(request, plan.sub_queries),
            not_modified=True,
        )


async def _assembled(selection: Selection, terms: PackingTerms) -> Assembly:
    """Rank and pack here, or in a thread when a request names thousands of facts: each is compared with each."""
    candidates = selection.candidates
    length = sum(len(fact.content) for fact in candidates)
    if len(candidates) <= _IN_PLACE_CANDIDATES and length <= _IN_PLACE_CHARS:
        return assemble(candidates, selection.queries, terms)
    return await compute(assemble, candidates, selection.queries, terms)


async def _conflicts(facts: Sequence[RankedFact], subjects: SubjectIndex) -> tuple[Conflict, ...]:
    """Find what current sources disagree on, here or in a thread."""
    current = [fact.candidate for fact in facts if fact.candidate.is_current and not fact.candidate.is_carried]
    if sum(len(fact.content) for fact in current) <= _CONFLICTS_IN_PLACE_CHARS:
        return _disagreements(current, subjects)
    return await compute(_disagreements, current, subjects)


def _disagreements(facts: Sequence[Candidate], subjects: SubjectIndex) -> tuple[Conflict, ...]:
    stated = [Stated(fact.fact_id, fact.source_id, fact.content, fact.source_location) for fact in facts]
    return find_conflicts(subjects.sharing(stated))


def recommended_strategy(request: EnvelopeRequest, sub_queries: Sequence[str]) -> DispatchStrategy | None:
    """Return what may reach an accepted tier: a wider search, then a window for each part of the query (ADR 0064).

    Nothing where the caller's policy has no upgrade-on-risk (SPEC-003 §8.4), or nothing stronger is left.
    """
    if not request.upgrade_on_risk or request.strategy is DispatchStrategy.HIERARCHICAL:
        return None
    if request.strategy is not DispatchStrategy.PULL:
        return DispatchStrategy.PULL
    return DispatchStrategy.HIERARCHICAL if len(sub_queries) > 1 else None


def _require_relevant(selection: Selection) -> None:
    """Refuse when no fact of the knowledge fabric is relevant enough (SPEC-003 §11.4, only-if-ckf)."""
    vectors = [fact.embedding for fact in selection.candidates if not fact.is_carried]
    best = max((float(relevance_scores(selection.queries, vector[None, :])[0]) for vector in vectors), default=0.0)
    if best < RELEVANT_COSINE:
        raise PreconditionError(
            ErrorReason.NO_RELEVANT_FACTS,
            f"no fact is relevant to the query (best {best:.2f}, needed {RELEVANT_COSINE:.2f}); ingest documents on "
            "it, or leave out only-if-ckf",
            best_relevance=f"{best:.6f}",
            required_relevance=f"{RELEVANT_COSINE:.2f}",
        )


def _stands_until(selection: Selection, assembly: Assembly, plan: _Plan) -> datetime | None:
    """Return when this build would come out otherwise although nobody has written anything; ``None`` = never."""
    moments = [fact.expires_at for fact in selection.candidates if fact.expires_at is not None]
    moments += [] if selection.next_turn is None else [selection.next_turn - timedelta(microseconds=1)]
    newest, fresh = assembly.newest_ingested_at, timedelta(days=MAX_NEWEST_AGE_DAYS)
    if plan.time_sensitive and newest is not None and plan.now <= newest + fresh:  # SPEC-003 §8.3
        moments.append(newest + fresh)
    return min(moments, default=None)


def _warnings(assembly: Assembly, terms: PackingTerms) -> tuple[str, ...]:
    """Return what the caller should know; numbers only, never content."""
    warnings: list[str] = []
    if not assembly.facts:
        warnings.append("the envelope holds no facts")
    if terms.context_strict and is_sparse(assembly.saturation):  # SPEC-003 §9.3
        warnings.append(
            f"context-strict with a saturation of {assembly.saturation:.3f}: answers may be incomplete, "
            "the knowledge covers the query thinly"
        )
    if assembly.under_pressure:
        warnings.append(f"{len(assembly.excluded)} relevant facts did not fit; continue in another window")
    return tuple(warnings)
