"""Scores sentences by the provenance stages (ADR 0123): one engine for reports, scores and streams.

What the models are asked goes out with what other streams ask at the same moment: the models' adapters put concurrent
requests into one batch. Only so many sentences are read at a time; the others wait, for a queue that fills up would end
streams that can wait. Of one stream the facts are read once, and a sentence that comes again with the same context
has the same score.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

from services.common.computing import compute_unless_small
from services.dpe.app import ProvenanceApp
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import FactView
from services.dpe.domain.guard.coherence import CoherencePolicy
from services.dpe.domain.guard.coherence_grounds import Grounds, GroundText, grounds_of
from services.dpe.domain.guard.guard_stages import COHERENCE_STAGES
from services.dpe.domain.guard.sentence_scores import (
    SentenceScore,
    SentenceToScore,
    asserts_nothing,
    is_lasting,
    is_silent,
    sentence_input,
    sentence_score,
)

MOST_KNOWN: Final = 64
"""Scores of one stream that are remembered: a text that repeats itself repeats sentences with what stands before."""
_SILENT: Final = SentenceScore(None)


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
        """Return the scorer of a stream, once the models are loaded: no token waits for that (ADR 0123)."""
        await self._analyses.load()
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
        self._fact_views: tuple[FactView, ...] = ()
        """The facts as the first sentence had them read; empty = not yet."""
        self._known: OrderedDict[bytes, SentenceScore] = OrderedDict()
        """Scores by the digest of sentence and context, as if the stream began with it, the last used at the end."""

    async def score(self, asked: SentenceToScore) -> SentenceScore:
        """Run the stages over the sentence with its context, and score its own claims; the same again is known."""
        key, begin = _key(asked), len(asked.context)
        known = self._known.get(key)
        if known is None:
            alone = replace(asked, start=begin)  # as if the stream began with the context
            if is_silent(alone):
                return _SILENT  # what stands before it need not be read again
            async with self._places:
                given = sentence_input(self._prompt, alone, self._grounds)
                analysis = await self._analyses.run_stages(given, COHERENCE_STAGES, self._fact_views, asserts_nothing)
            known = sentence_score(analysis, alone, self._grounds, self._policy)
            self._remember(key, known, analysis)
        else:
            self._known.move_to_end(key)
        return known.moved(asked.start - begin)

    def _remember(self, key: bytes, score: SentenceScore, analysis: Analysis) -> None:
        """Keep what another sentence of the stream may need: the facts as they were read, and the score."""
        read = analysis.outputs.text
        if read.names_known:
            self._fact_views = read.fact_views
        if is_lasting(analysis):
            self._known[key] = score
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)


def _key(asked: SentenceToScore) -> bytes:
    """Return a digest of a sentence with its context, wherever it stands."""
    return hashlib.sha256(f"{len(asked.context)} {asked.context}{asked.text}".encode(errors="surrogatepass")).digest()
