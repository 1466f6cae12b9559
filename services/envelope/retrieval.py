"""Finding facts for sub-queries in any mode: by meaning, by words, by both, and scored anew (SPEC-003 §5.2, ADR 0066).

The one search that SearchFacts and envelopes go through. One vector search serves all sub-queries; what vectors and
words say of a fact becomes one score, and what a query means as it is written comes first (ADR 0110). One call of a
model scores all candidates anew, as a third list beside HYBRID's two. A mode whose model cannot serve is answered as
HYBRID, and says so; where vectors return nothing, words are searched, and the answer says so. Relevance (SPEC-003
§6.3) stays the cosine, whatever found a fact.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.computing import compute
from services.common.concurrency import remaining_s
from services.common.errors import ErrorReason
from services.common.locations import searched_text
from services.common.ports.facts import FactFilter, FactHit, FactRecord
from services.common.settings.envelope import EnvelopeSettings
from services.common.taxonomy import RetrievalMode
from services.envelope.domain.exact_terms import exact_shares, exact_terms
from services.envelope.domain.fusion import blend, scaled
from services.envelope.domain.search_mode import RESCORED_MODES
from services.envelope.ports import FactSearch
from services.envelope.rescoring import Rescorer, Rescoring, RescoringUnavailableError
from services.envelope.retrieval_counts import RetrievalCounts

MAX_RESCORED: Final = 512
"""Pairs of sub-query and fact that one call scores anew at most: what an encoder takes in one batch of calls."""
_IN_PLACE_CHARS: Final = 1_000_000
"""Candidates up to this length together are fused on the event loop; more would keep others waiting."""
_LOG: Final = logging.getLogger(__name__)
_WHY: Final = {
    ErrorReason.MODEL_UNAVAILABLE: "its model cannot serve",
    ErrorReason.QUEUE_FULL: "its model is overloaded",
    ErrorReason.DEADLINE_EXCEEDED: "the deadline left no time for its model",
}


@dataclass(frozen=True, slots=True)
class SubQueries:
    """What is looked for.

    Attributes:
        texts: one sub-query each.
        vectors: unit vectors of the texts, one a row.
    """

    texts: tuple[str, ...]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RetrievedFact:
    """One fact that was found.

    Attributes:
        cosine: raw cosine with the sub-query, in [-1, 1], whatever found the fact.
        score: what the mode orders by, as ``crp.ckf.v1.SearchHit.score`` says; a fact that was not among those scored
            anew has the score of HYBRID, to which a third list adds nothing.
    """

    fact: FactRecord
    cosine: float
    score: float


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a search found.

    Attributes:
        hits: per sub-query, best first.
        mode: the mode that really ran.
        keyword_fallback: for some sub-query the vectors returned nothing and its facts were found by their words.
        warnings: what the caller should know, for people; never content.
    """

    hits: tuple[tuple[RetrievedFact, ...], ...]
    mode: RetrievalMode
    keyword_fallback: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Terms:
    """Where a search looks, and how many facts of each ranking it reads."""

    tenant_id: str
    depth: int
    where: FactFilter | None


@dataclass(frozen=True, slots=True)
class _Third:
    """The list that a mode's own model adds to HYBRID's two: how many facts it holds, and what it weighs."""

    candidates: int
    weight: float


@dataclass(frozen=True, slots=True)
class _Lists:
    """What vectors and words found for one sub-query."""

    query: str
    near: Sequence[RetrievedFact]
    by_words: Sequence[RetrievedFact]


@dataclass(frozen=True, slots=True)
class _Weights:
    """What the words' list weighs of both, and what exact terms add to both."""

    words: float
    exact: float


class Retriever:
    """Searches in any mode; safe for concurrent calls of one event loop.

    Args:
        facts: the knowledge fabric.
        settings: depth, least cosine and how many candidates are scored anew.
        rescorers: the modes that score candidates anew, each with its rescorer.
        counts: told about every search.
    """

    def __init__(
        self,
        facts: FactSearch,
        settings: EnvelopeSettings,
        rescorers: dict[RetrievalMode, Rescorer],
        counts: RetrievalCounts,
    ) -> None:
        self._facts = facts
        self._settings = settings
        self._rescorers = rescorers
        self._counts = counts
        self._third = {
            RetrievalMode.RERANKED: _Third(settings.reranked_candidates, settings.reranked_weight),
            RetrievalMode.LATE_INTERACTION: _Third(
                settings.late_interaction_candidates, settings.late_interaction_weight
            ),
        }

    def mode(self, requested: RetrievalMode | None) -> RetrievalMode:
        """Return the mode of a request; the setting's where it names none."""
        return requested or RetrievalMode[self._settings.retrieval_mode.upper()]

    async def retrieve(
        self, tenant_id: str, queries: SubQueries, *, mode: RetrievalMode, limit: int, where: FactFilter | None = None
    ) -> Retrieval:
        """Return up to ``limit`` facts per sub-query, best first, ties by ``fact_id``.

        Raises:
            UnavailableError: STORE_UNAVAILABLE. A model that only orders candidates never fails a search.
        """
        found = await self._measured(tenant_id, queries, mode, limit, where)
        return replace(found, hits=tuple(hits[:limit] for hits in found.hits))

    async def candidates(
        self, tenant_id: str, queries: SubQueries, *, mode: RetrievalMode, limit: int, where: FactFilter | None = None
    ) -> Retrieval:
        """Return the best ``limit`` facts per sub-query, and behind them those of the nearest ``limit`` not among them.

        So the nearest neighbours that SPEC-003 §5.2 step 1.2 asks for are candidates of an envelope in every mode that
        searches vectors; words only add to them. Raises as ``retrieve`` does.
        """
        found = await self._measured(tenant_id, queries, mode, limit, where)
        return replace(found, hits=tuple(_with_nearest(hits, limit) for hits in found.hits))

    async def words(self, tenant_id: str, query: str, *, limit: int, where: FactFilter | None = None) -> list[FactHit]:
        """Return up to ``limit`` facts by BM25, best first; no model is asked, so that this works without any."""
        start = perf_counter()
        hits = await self._facts.search_text(tenant_id, query, limit=limit, where=where)
        self._counts.ended(RetrievalMode.TEXT, perf_counter() - start)
        return hits

    def forget(self, tenant_id: str) -> None:
        """Drop what is kept in memory of a tenant's facts: some were erased (SPEC-003 §17.2)."""
        for rescorer in self._rescorers.values():
            rescorer.forget(tenant_id)

    async def _measured(
        self, tenant_id: str, queries: SubQueries, mode: RetrievalMode, limit: int, where: FactFilter | None
    ) -> Retrieval:
        start = perf_counter()
        found = await self._found(tenant_id, queries, mode, limit, where)
        self._counts.ended(mode, perf_counter() - start)
        if found.keyword_fallback:
            self._counts.fell_back(mode)
        return found

    async def _found(
        self, tenant_id: str, queries: SubQueries, mode: RetrievalMode, limit: int, where: FactFilter | None
    ) -> Retrieval:
        if mode is RetrievalMode.TEXT:
            terms = _Terms(tenant_id, limit, where)
            found = await self._by_words(terms, queries.texts)
            rows = zip(queries.texts, queries.vectors, strict=True)
            return Retrieval(tuple(tuple(_with_cosines(found[text], row)) for text, row in rows), mode)
        if mode is RetrievalMode.DENSE:
            return await self._dense(_Terms(tenant_id, limit, where), queries)
        depth = max(limit, self._settings.fusion_depth)
        fused = await self._hybrid(_Terms(tenant_id, depth, where), queries)
        return await self._rescored(tenant_id, queries, fused, mode) if mode in RESCORED_MODES else fused

    async def _dense(self, terms: _Terms, queries: SubQueries) -> Retrieval:
        near = await self._by_vectors(terms, queries)
        empty = [text for text, hits in zip(queries.texts, near, strict=True) if not hits]
        by_words = await self._by_words(terms, empty)
        hits = [
            tuple(own or _with_cosines(by_words[text], row))
            for text, row, own in zip(queries.texts, queries.vectors, near, strict=True)
        ]
        return Retrieval(tuple(hits), RetrievalMode.DENSE, any(by_words.values()))

    async def _hybrid(self, terms: _Terms, queries: SubQueries) -> Retrieval:
        near, by_words = await asyncio.gather(self._by_vectors(terms, queries), self._by_words(terms, queries.texts))
        weights = _Weights(self._settings.hybrid_words_weight, self._settings.hybrid_exact_weight)
        asked = zip(queries.texts, queries.vectors, near, strict=True)
        lists = [_Lists(text, own, _with_cosines(by_words[text], row)) for text, row, own in asked]
        chars = sum(len(hit.fact.content) for each in lists for hit in (*each.near, *each.by_words))
        hits = _all_fused(lists, weights) if chars <= _IN_PLACE_CHARS else await compute(_all_fused, lists, weights)
        words_alone = any(not own and by_words[text] for text, own in zip(queries.texts, near, strict=True))
        return Retrieval(tuple(hits), RetrievalMode.HYBRID, words_alone)

    async def _by_vectors(self, terms: _Terms, queries: SubQueries) -> list[list[RetrievedFact]]:
        """Search for all sub-queries at once; what is less alike than the settings allow counts as not found."""
        results = await self._facts.search(terms.tenant_id, queries.vectors, limit=terms.depth, where=terms.where)
        least = self._settings.retrieval_least_cosine
        return [
            [RetrievedFact(hit.fact, hit.score, hit.score) for hit in hits if hit.score >= least] for hits in results
        ]

    async def _by_words(self, terms: _Terms, texts: Sequence[str]) -> dict[str, list[FactHit]]:
        distinct = list(dict.fromkeys(texts))
        found = await asyncio.gather(
            *(self._facts.search_text(terms.tenant_id, text, limit=terms.depth, where=terms.where) for text in distinct)
        )
        return dict(zip(distinct, found, strict=True))

    async def _rescored(self, tenant_id: str, queries: SubQueries, fused: Retrieval, mode: RetrievalMode) -> Retrieval:
        """Add the mode's own model as a third list of the best of every sub-query, in one call (ADR 0082, ADR 0110)."""
        third = self._third[mode]
        count = min(third.candidates, max(1, MAX_RESCORED // max(1, len(queries.texts))))
        tasks = [
            Rescoring(text, tuple(hit.fact for hit in hits[:count]))
            for text, hits in zip(queries.texts, fused.hits, strict=True)
        ]
        if not any(task.facts for task in tasks):
            return replace(fused, mode=mode)
        try:
            async with asyncio.timeout(self._allowed_s()):
                scores = await self._rescorer(mode).scores(tenant_id, tasks)
        except TimeoutError:
            return self._degraded(fused, mode, ErrorReason.DEADLINE_EXCEEDED)
        except RescoringUnavailableError as error:
            return self._degraded(fused, mode, error.reason)
        hits = [_with_third(own, found, third.weight) for own, found in zip(fused.hits, scores, strict=True)]
        return replace(fused, hits=tuple(hits), mode=mode)

    def _rescorer(self, mode: RetrievalMode) -> Rescorer:
        found = self._rescorers.get(mode)
        if found is None:
            raise RescoringUnavailableError(ErrorReason.MODEL_UNAVAILABLE)
        return found

    def _allowed_s(self) -> float | None:
        """Return the seconds that scoring anew may take; ``None`` without a deadline."""
        left = remaining_s()
        return None if left is None else max(0.0, left * self._settings.rescoring_deadline_share)

    def _degraded(self, fused: Retrieval, mode: RetrievalMode, reason: ErrorReason) -> Retrieval:
        """Answer as HYBRID and say so (ADR 0067)."""
        self._counts.degraded(mode, reason.value)
        _LOG.warning("%s was answered as %s", mode.name, fused.mode.name, extra={"reason": reason.value})
        why = _WHY.get(reason, "its model failed")
        return replace(fused, warnings=(f"{mode.name} was answered as {fused.mode.name}: {why} ({reason.value})",))


def _with_cosines(hits: Sequence[FactHit], query: NDArray[np.float32]) -> list[RetrievedFact]:
    if not hits:
        return []
    cosines = np.stack([hit.fact.embedding for hit in hits]) @ query
    return [RetrievedFact(hit.fact, float(cosine), hit.score) for hit, cosine in zip(hits, cosines, strict=True)]


def _all_fused(lists: Sequence[_Lists], weights: _Weights) -> list[tuple[RetrievedFact, ...]]:
    return [_fused(each, weights) for each in lists]


def _fused(lists: _Lists, weights: _Weights) -> tuple[RetrievedFact, ...]:
    """Return the facts of both lists by one score; what holds the query's exact terms has that much more (ADR 0110)."""
    known = {hit.fact.fact_id: hit for hit in (*lists.by_words, *lists.near)}  # the store's own cosine wins
    scores = blend(
        [hit.fact.fact_id for hit in lists.near],
        {key: hit.cosine for key, hit in known.items()},
        {hit.fact.fact_id: hit.score for hit in lists.by_words},
        words_weight=weights.words,
    )
    terms = exact_terms(lists.query)
    texts = [searched_text(known[key].fact.content, known[key].fact.source_location) for key in scores] if terms else []
    shares = exact_shares(terms, texts) if terms else [0.0] * len(scores)
    found = [
        replace(known[key], score=score + weights.exact * share)
        for (key, score), share in zip(scores.items(), shares, strict=True)
    ]
    return tuple(sorted(found, key=_best_first))


def _with_third(
    hits: tuple[RetrievedFact, ...], scores: NDArray[np.float32], weight: float
) -> tuple[RetrievedFact, ...]:
    """Return the facts with the model's list added: its best has the weight more, its last nothing."""
    given = scores.tolist()
    added = scaled(given, min(given, default=0.0), max(given, default=0.0))
    first = (replace(hit, score=hit.score + weight * more) for hit, more in zip(hits, added, strict=False))
    return tuple(sorted((*first, *hits[len(added) :]), key=_best_first))


def _with_nearest(hits: tuple[RetrievedFact, ...], limit: int) -> tuple[RetrievedFact, ...]:
    nearest = {hit.fact.fact_id for hit in sorted(hits, key=nearest_first)[:limit]}
    return (*hits[:limit], *(hit for hit in hits[limit:] if hit.fact.fact_id in nearest))


def nearest_of(hits: Sequence[RetrievedFact], count: int, mode: RetrievalMode) -> Sequence[RetrievedFact]:
    """Return the nearest of what a search found (SPEC-003 §5.2 step 1.2); of words alone, those that they put first."""
    return hits[:count] if mode is RetrievalMode.TEXT else sorted(hits, key=nearest_first)[:count]


def nearest_first(hit: RetrievedFact) -> tuple[float, str]:
    """Return what orders facts by cosine, the nearest first, ties by id."""
    return -hit.cosine, hit.fact.fact_id


def _best_first(hit: RetrievedFact) -> tuple[float, str]:
    return -hit.score, hit.fact.fact_id
