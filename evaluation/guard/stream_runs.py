"""Streams answers through the oversight in this process, and scores the same sentences in the whole answer."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evaluation.encoder_memory import EncoderMemory, RememberingAdapters
from evaluation.guard.streamed_answers import StreamedAnswer
from services.common.settings import Settings
from services.common.streaming.halting import Halt
from services.common.streaming.oversight import Oversight
from services.common.streaming.rules import HaltRules
from services.dpe.app import ProvenanceApp
from services.dpe.compose import open_models, provenance_servicer
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.guard.coherence import CoherencePolicy
from services.dpe.domain.guard.coherence_grounds import Grounds, GroundText, analysis_input, grounds_of
from services.dpe.domain.guard.guard_stages import COHERENCE_STAGES
from services.dpe.domain.guard.sentence_scores import SentenceToScore, sentence_score
from services.dpe.guard.sentence_scoring import EngineScoring

AT_ONCE: Final = 8
_NEVER: Final = HaltRules(hard_limit=0.0, window_threshold=0.0, trend_threshold=1.0)


@dataclass(frozen=True, slots=True)
class SentenceRun:
    """A sentence of an answer.

    Attributes:
        streamed: the coherence that the rules are asked about, when it was whole, with what stood before it; ``None`` =
            it asserts nothing.
        whole: the same in the whole answer.
        verdicts: of its claims in the whole answer, with basis and support.
    """

    start: int
    end: int
    streamed: float | None
    whole: float | None
    verdicts: tuple[tuple[str, str, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class StreamRun:
    """What became of an answer; ``ends`` says where each token ends, in characters."""

    answer: StreamedAnswer
    sentences: tuple[SentenceRun, ...]
    ends: tuple[int, ...]

    def halt(self, rules: HaltRules) -> Halt | None:
        """Return where the stream halts by some rules, token by token."""
        scores = {one.start: one.streamed for one in self.sentences}
        oversight = Oversight(rules)
        for token in self.answer.tokens():
            taken = oversight.take(token)
            step = oversight.conclude(taken, [scores[unit.start] for unit in taken.units])
            if step.halt is not None:
                return step.halt
        taken = oversight.end()
        return oversight.finish(taken, [scores[unit.start] for unit in taken.units])[1].halt

    @property
    def false_sentences(self) -> tuple[SentenceRun, ...]:
        """What holds the false sentence; empty in a faithful answer."""
        first, last = self.answer.false_start, self.answer.false_end
        return tuple(one for one in self.sentences if one.start < last and one.end > first)

    @property
    def last_false_token(self) -> int:
        """Index of the last token of the false sentence."""
        return next(index for index, end in enumerate(self.ends) if end >= self.answer.false_end)


class StreamRunner:
    """Runs answers.

    Args:
        analyses: the engine.
        policy: weights of both divergences.
        strict: what is merely not borne out counts by its score.
    """

    def __init__(self, analyses: ProvenanceApp, policy: CoherencePolicy, *, strict: bool = False) -> None:
        self._strict = strict
        self._analyses = analyses
        self._policy = policy
        self._scoring = EngineScoring(analyses, policy, AT_ONCE)

    async def run_all(self, answers: Sequence[StreamedAnswer], seconds: float = math.inf) -> list[StreamRun]:
        """Run answers in their order, several together.

        Args:
            answers: faithful and falsified ones by turns.
            seconds: after so long no more are begun; those that are done are returned.
        """
        found: list[StreamRun] = []
        until = time.monotonic() + seconds
        for at in range(0, len(answers), AT_ONCE):
            if time.monotonic() > until:
                break
            found += await asyncio.gather(*map(self.run, answers[at : at + AT_ONCE]))
        return found

    async def run(self, answer: StreamedAnswer) -> StreamRun:
        """Score every sentence of an answer, as it grows and in the whole."""
        facts = [GroundText(f"f{number}", text) for number, text in enumerate(answer.facts, 1)]
        grounds = grounds_of(facts)
        scorer = await self._scoring.open(answer.prompt, facts)
        whole = await self._analyses.run_stages(analysis_input(answer.prompt, answer.text, grounds), COHERENCE_STAGES)
        oversight = Oversight(_NEVER)
        found: list[SentenceRun] = []
        ends: list[int] = []
        tokens = answer.tokens()
        for token in tokens:
            ends.append(len(token) + (ends[-1] if ends else 0))
        for taken in (*map(oversight.take, tokens), oversight.end()):
            for unit in taken.units:
                score = await scorer.score(SentenceToScore(unit.start, unit.text, unit.context))
                end = unit.start + len(unit.text)
                found.append(self._sentence(unit.start, end, score.counted(strict=self._strict), whole, grounds))
        return StreamRun(answer, tuple(found), tuple(ends))

    def _sentence(self, start: int, end: int, streamed: float | None, whole: Analysis, grounds: Grounds) -> SentenceRun:
        own = tuple(one for one in whole.outputs.text.claims if one.end > start and one.start < end)
        alone = whole.with_results(replace(whole.outputs.text, claims=own))
        score = sentence_score(alone, SentenceToScore(0, whole.input.answer), grounds, self._policy)
        judged = [found for one in own if (found := whole.outputs.fidelity.judgements.get(one.claim_id)) is not None]
        verdicts = tuple((one.verdict.value, str(one.basis or ""), one.support) for one in judged)
        return SentenceRun(start, end, streamed, score.counted(strict=self._strict), verdicts)


@asynccontextmanager
async def open_runner(settings: Settings, memory: Path | str, *, strict: bool = False) -> AsyncIterator[StreamRunner]:
    """Open all models; ``memory`` is the file of what they said in earlier runs.

    Raises:
        StartupError: a model cannot be used.
    """
    known = EncoderMemory(memory)
    try:
        async with RememberingAdapters(settings, known) as adapters:
            models, documents = await open_models(adapters, asks=False), await adapters.documents()
            _, analyses = provenance_servicer(models, settings.dpe, adapters.clock, adapters.ids, documents)
            wanted = settings.guard.coherence
            policy = CoherencePolicy(wanted.logical_weight, wanted.factual_weight)
            yield StreamRunner(analyses, policy, strict=strict)
    finally:
        known.close()
