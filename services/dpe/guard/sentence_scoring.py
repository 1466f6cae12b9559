"""Scores sentences by the provenance stages (ADR 0123): one engine for reports, scores and streams.

What the models are asked goes out with what other streams ask at the same moment: the models' adapters put concurrent
requests into one batch. Only so many sentences are read at a time; the others wait, for a queue that fills up would end
streams that can wait.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from services.common.computing import compute_unless_small
from services.dpe.app import ProvenanceApp
from services.dpe.domain.guard.coherence import CoherencePolicy
from services.dpe.domain.guard.coherence_grounds import Grounds, GroundText, grounds_of
from services.dpe.domain.guard.guard_stages import COHERENCE_STAGES
from services.dpe.domain.guard.sentence_scores import SentenceScore, SentenceToScore, sentence_input, sentence_score


class SentenceScorer(Protocol):
    """Scores the sentences of one stream."""

    async def score(self, asked: SentenceToScore) -> SentenceScore:
        """Return the score of a sentence; it depends on prompt, facts, sentence and context alone.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        ...


class Scoring(Protocol):
    """Opens a scorer for each stream."""

    async def open(self, prompt: str, facts: Sequence[GroundText]) -> SentenceScorer:
        """Return the scorer of a stream.

        Args:
            prompt: what was asked.
            facts: what the answer is held against.
        """
        ...

    def fingerprints(self) -> tuple[tuple[str, str], ...]:
        """Return role and fingerprint of each model that takes part."""
        ...


class EngineScoring:
    """``Scoring`` over the provenance stages.

    Args:
        analyses: the stages, with what models said before.
        policy: weights of both divergences.
        at_once: sentences that are read at a time, over all streams.
    """

    def __init__(self, analyses: ProvenanceApp, policy: CoherencePolicy, at_once: int) -> None:
        self._analyses = analyses
        self._policy = policy
        self._places = asyncio.Semaphore(at_once)

    async def open(self, prompt: str, facts: Sequence[GroundText]) -> SentenceScorer:
        """Return the scorer of a stream."""
        size = sum(len(fact.content) for fact in facts)
        grounds = await compute_unless_small(size, grounds_of, facts)
        return _EngineScorer(self._analyses, self._policy, self._places, prompt, grounds)

    def fingerprints(self) -> tuple[tuple[str, str], ...]:
        """Return role and fingerprint of each model."""
        return self._analyses.fingerprints()


class _EngineScorer:
    """``SentenceScorer`` over the provenance stages."""

    def __init__(
        self,
        analyses: ProvenanceApp,
        policy: CoherencePolicy,
        places: asyncio.Semaphore,
        prompt: str,
        grounds: Grounds,
    ) -> None:
        self._analyses = analyses
        self._policy = policy
        self._places = places
        self._prompt = prompt
        self._grounds = grounds

    async def score(self, asked: SentenceToScore) -> SentenceScore:
        """Run the stages over the sentence with its context, and score its own claims."""
        async with self._places:
            analysis = await self._analyses.run_stages(
                sentence_input(self._prompt, asked, self._grounds), COHERENCE_STAGES
            )
        return sentence_score(analysis, asked, self._grounds, self._policy)
