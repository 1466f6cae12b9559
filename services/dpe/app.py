"""Runs the pipeline: has ``Inference`` fulfil what each stage asks of the models, and keeps time.

The stages are pure and may take a while on a long answer, so they run off the event loop when the input is large. A
model that fails leaves its stages FAILED or DEGRADED, with the reason; a full queue ends the call. What a deadline that
is too short leaves out is decided in ``deadline``. Results and events come in the order of the stages, whatever was
computed together.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeVar

from services.common.build_manifest import BuildIdentity
from services.common.clock import Clock
from services.common.computing import compute
from services.common.encoding import canonical_json, sha256_hex
from services.common.errors import ErrorReason, LimitExceededError
from services.common.ids import IdSource
from services.common.progress import at
from services.common.reading.text_types import Claim, Sentence, Span
from services.dpe.answer_cache import AnswerCache
from services.dpe.deadline import Timekeeper, timekeeper, unlimited
from services.dpe.domain import summaries
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.facts import EnvelopeFact, FactView
from services.dpe.domain.guard.judging import JUDGING
from services.dpe.domain.models import Requests
from services.dpe.domain.names import Gazetteer
from services.dpe.domain.outcome import StageOutcome
from services.dpe.domain.pipeline import PIPELINE, begin, stages_for, steps_of
from services.dpe.domain.policy import Policy
from services.dpe.domain.stage import Step
from services.dpe.domain.stages import s01_claims, s03_fidelity
from services.dpe.domain.summaries import Original, SummaryVerdict
from services.dpe.inference import Inference
from services.dpe.opinions import opinions_for
from services.dpe.ports import AnalysisModels

ResultT = TypeVar("ResultT")

_INLINE_CHARS: Final = 500
"""Inputs up to this size are analysed on the event loop: a thread would cost more than it saves; a stage takes some
milliseconds."""
_SEGMENTING: Final = steps_of((s01_claims.STAGE,))
_SUMMARISED: Final = steps_of(stages_for(s03_fidelity.STAGE))
"""What runs over a summary: the verdicts on its claims, and no further."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes above which a call fails; nothing is left unchecked in silence."""

    max_response_chars: int = 500_000
    max_claims: int = 10_000
    embed_batch_size: int = 2_048
    min_remaining_s: float = 0.05
    cache_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class AnalysisConfig:
    """What the app is composed of besides the models."""

    policy: Policy
    gazetteer: Gazetteer
    limits: Limits
    clock: Clock
    ids: IdSource
    build: BuildIdentity | None = None


@dataclass(frozen=True, slots=True)
class StageTiming:
    """One stage ended, after so many seconds."""

    outcome: StageOutcome
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class CompletedAnalysis:
    """The whole analysis with what only the app knows."""

    analysis: Analysis
    report_id: str
    started_at: datetime
    stage_ends: tuple[StageTiming, ...]
    total_s: float
    policy_hash: str
    models: tuple[tuple[str, str], ...]
    build: BuildIdentity | None = None


@dataclass(frozen=True, slots=True)
class Segmented:
    """Stage 1 alone."""

    claims: tuple[Claim, ...]
    sentences: tuple[Sentence, ...]
    models: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class VerifiedSummary:
    """A summary's verdict, and stages 1-3 of its analysis with the original's sentences as facts."""

    verdict: SummaryVerdict
    analysis: Analysis
    models: tuple[tuple[str, str], ...]


class ProvenanceApp:
    """Analyses answers; safe to share between tasks of one event loop. It keeps nothing but what models said."""

    def __init__(self, models: AnalysisModels, config: AnalysisConfig) -> None:
        self._models = models
        self._config = config
        self.cache = AnswerCache(config.limits.cache_bytes)
        """What models said before, per tenant; its counts are metrics."""
        self._inference = Inference(models, self.cache, config.limits.embed_batch_size)
        self.opinions = opinions_for(models.second_opinion, self.cache, config.ids)
        """Gives second opinions, after stage 3."""
        self._policy_hash = sha256_hex(canonical_json(config.policy.document()))

    async def analyze(self, given: AnalysisInput) -> CompletedAnalysis:
        """Return the finished analysis.

        Raises:
            LimitExceededError: the answer or its claims are too many (MESSAGE_TOO_LARGE), or a queue is full.
            DeadlineError: the caller's time is not enough for any report; nothing was done.
        """
        async with aclosing(self.analyze_stages(given)) as events:
            async for event in events:
                if isinstance(event, CompletedAnalysis):
                    return event
        msg = "the pipeline ended without a report"
        raise RuntimeError(msg)

    async def analyze_stages(self, given: AnalysisInput) -> AsyncGenerator[StageTiming | CompletedAnalysis, None]:
        """Yield each stage as it ends, in order, then the finished analysis. Raises as ``analyze``."""
        loop = asyncio.get_running_loop()
        started_at, start = self._config.clock.now(), loop.time()
        keeper = timekeeper(self._config.limits.min_remaining_s)
        keeper.require_time()
        analysis = await self._begin(given)
        ends: list[StageTiming] = []
        for step in PIPELINE:
            before = loop.time()
            analysis = await self._run(step, analysis, keeper)
            if step.stage is s03_fidelity.STAGE:  # every claim has its verdict: an opinion may move it (ADR 0119)
                at("asking for a second opinion")
                analysis = await self.opinions.settle(analysis, keeper.opinion_limit_s())
            ends.append(StageTiming(analysis.outcomes[-1], loop.time() - before))
            yield ends[-1]
        at("writing the report")
        yield CompletedAnalysis(
            analysis,
            self._config.ids.uuid(),
            started_at,
            tuple(ends),
            loop.time() - start,
            self._policy_hash,
            self._models.fingerprints(),
            self._config.build,
        )

    @property
    def policy(self) -> Policy:
        """What the deployment chose; hashed into whatever rests on the stages."""
        return self._config.policy

    def fingerprints(self) -> tuple[tuple[str, str], ...]:
        """Return role and fingerprint of each model."""
        return self._models.fingerprints()

    async def run_stages(
        self,
        given: AnalysisInput,
        steps: Sequence[Step],
        fact_views: tuple[FactView, ...] = (),
        is_settled: Callable[[Analysis], bool] = lambda _: False,
    ) -> Analysis:
        """Return the analysis after some of the stages, for what is scored without a report. Raises as ``analyze``.

        Args:
            given: what to analyse.
            steps: in the order of the pipeline, each with all that it builds on.
            fact_views: the facts of ``given`` as stage 1 has read them before; their clauses are not read again.
            is_settled: says of the analysis after a stage that the others need not run.
        """
        keeper = timekeeper(self._config.limits.min_remaining_s)
        keeper.require_time()
        analysis = await self._begin(given)
        if fact_views:
            analysis = analysis.with_results(replace(analysis.outputs.text, fact_views=fact_views))
        for step in steps:
            analysis = await self._run(step, analysis, keeper)
            if is_settled(analysis):
                break
        return analysis

    async def segment(self, text: str) -> Segmented:
        """Return the claims of a text (stage 1 alone). Raises as ``analyze``."""
        analysis = await self._begin(AnalysisInput("", "", 1, "", text, ()))
        (step,) = _SEGMENTING
        analysis = await self._run(step, analysis, unlimited())
        at("answering")
        models = tuple(item for item in self._models.fingerprints() if item[0] == "entity_recognizer")
        return Segmented(analysis.outputs.text.claims, analysis.outputs.text.sentences, models)

    async def verify_summary(self, summary: str, original: str, grounded: Sequence[Span]) -> VerifiedSummary:
        """Return whether a summary is faithful (SPEC-004 §12.3, ADR 0042).

        Args:
            summary: the summary.
            original: what it condenses.
            grounded: stretches of the original that its own report found grounded.

        Raises:
            LimitExceededError: as ``analyze``.
        """
        source = await self._compute(len(original), lambda: Original.of(original, grounded))
        analysis = await self._begin(summaries.as_input(summary, source))
        for step in _SUMMARISED:
            analysis = await self._run(step, analysis, unlimited())
        size = len(summary) + len(original)
        at("comparing summary and original")
        requests = await self._compute(size, lambda: summaries.plan(analysis, source))
        answered = replace(analysis, models=await self._inference.fulfil(requests, analysis.models))
        verdict = await self._compute(size, lambda: summaries.conclude(answered, source))
        return VerifiedSummary(verdict, answered, self._models.fingerprints())

    async def judge_together(self, given: Sequence[AnalysisInput]) -> list[Analysis]:
        """Return the verdicts on the claims of several answers to the same facts (stages 1 to 3, without 3c).

        Stage by stage for all of them: every model is asked once for each stage, and the facts are read once.

        Args:
            given: the answers; at least one, all with the facts of the first.

        Raises:
            LimitExceededError: as ``analyze``, over all answers together.
        """
        analyses = [await self._begin(one) for one in given]
        size = sum(len(one.answer) for one in given) + sum(len(fact.content) for fact in given[0].facts)
        for step in JUDGING:
            at(f"stage {step.key}")
            known = analyses[0].models
            requests = await self._compute(size, lambda: _all_of(step, analyses))  # noqa: B023 - awaited at once
            models = await self._inference.fulfil(requests, known)
            answered = [replace(one, models=models) for one in analyses]
            analyses = await self._compute(size, lambda: _applied(step, answered))  # noqa: B023 - as above
            if step.stage is s01_claims.STAGE:
                claims = sum(len(one.outputs.text.claims) for one in analyses)
                self._require_size("response_text", claims, self._config.limits.max_claims, "claims")
        return analyses

    async def check(self) -> None:
        """Return when an analysis could be served: every configured model answers.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        await self._inference.check()

    async def load(self) -> None:
        """Return when the models are in memory: before a time is kept that loading them would use up.

        Raises:
            LimitExceededError: a queue is full.
        """
        await self._inference.load()

    async def _begin(self, given: AnalysisInput) -> Analysis:
        self._require_size("response_text", len(given.answer), self._config.limits.max_response_chars, "characters")
        given = replace(
            given, facts=tuple(self._with_usable_vector(fact, given.embedding_model) for fact in given.facts)
        )
        models = self._inference.empty_answers()
        return await self._compute(
            len(given.answer), lambda: begin(given, self._config.policy, self._config.gazetteer, models)
        )

    def _with_usable_vector(self, fact: EnvelopeFact, model: str) -> EnvelopeFact:
        """Drop a vector that another model made, or one of the wrong length: the fact is then embedded here."""
        own = self._models.embedding
        usable = fact.embedding is not None and model == own.fingerprint and fact.embedding.shape == (own.dimension,)
        return fact if usable else replace(fact, embedding=None)

    async def _run(self, step: Step, analysis: Analysis, keeper: Timekeeper) -> Analysis:
        given = analysis.input
        at(f"stage {step.key}")
        size = len(given.answer) + sum(len(fact.content) for fact in given.facts)
        size += sum(len(prior.text) for prior in given.prior_windows)
        if keeper.has_dropped(step.stage):
            return keeper.drop(step.stage, analysis)
        planned = keeper.now()
        requests = await self._compute(size, lambda: step.plan(analysis))
        keeper.computed(keeper.now() - planned)
        if not keeper.affords(step.stage, requests, is_first=given.is_first):
            return keeper.drop(step.stage, analysis)
        answered = await keeper.ask(step, requests, analysis, self._inference.fulfil)
        if keeper.has_dropped(step.stage):
            return keeper.drop(step.stage, analysis)
        applied = keeper.now()
        done = await self._compute(size, lambda: step.apply(answered))
        keeper.computed(keeper.now() - applied)
        if step.stage is s01_claims.STAGE:
            self._require_size("response_text", len(done.outputs.text.claims), self._config.limits.max_claims, "claims")
        return keeper.blame_deadline(done)

    async def _compute(self, size: int, work: Callable[[], ResultT]) -> ResultT:
        return work() if size <= _INLINE_CHARS else await compute(work)

    def _require_size(self, field: str, actual: int, limit: int, unit: str) -> None:
        if actual > limit:
            raise LimitExceededError(
                ErrorReason.MESSAGE_TOO_LARGE,
                f"{field} holds {actual} {unit}, the limit is {limit}; split the answer into windows.",
                field=field,
                actual=str(actual),
                limit=str(limit),
                unit=unit,
            )


def _all_of(step: Step, analyses: Sequence[Analysis]) -> Requests:
    """Return what a step asks for all analyses, each thing once."""
    return Requests.merge(step.plan(one) for one in analyses)


def _applied(step: Step, analyses: Sequence[Analysis]) -> list[Analysis]:
    """Apply a step to all analyses; what the first has read of the facts, the others have as well."""
    done = [step.apply(analyses[0])]
    views = done[0].outputs.text.fact_views
    others = [one.with_results(replace(one.outputs.text, fact_views=views)) for one in analyses[1:]]
    done += [step.apply(one) for one in others]
    return done
