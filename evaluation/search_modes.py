"""Where search puts the answers: every mode through the product's own store and ``Retriever``, and a library's BM25."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from evaluation.data import EvaluationDataError
from evaluation.kept_vectors import KeptVectors
from evaluation.retrieval import TENANT, record
from evaluation.retrieval_modes import SINGLE, evaluation_settings
from evaluation.search_sets import SearchFact, SearchQuestion, SearchSet
from services.common.composition import Adapters
from services.common.locations import searched_text
from services.common.questions.decomposition import decompose
from services.common.settings import Settings
from services.common.taxonomy import RetrievalMode
from services.envelope.compose import EnvelopeParts, open_parts, open_retriever
from services.envelope.domain.fusion import fuse
from services.envelope.retrieval import Retriever, SubQueries, nearest_of
from services.envelope.retrieval_counts import RetrievalCounts

FACTS: Final = 100
"""Facts asked for, as many as SearchFacts gives."""
DEPTH: Final = 10
BY_RANKS: Final = "RANKS"
"""The two lists fused by reciprocal ranks, as HYBRID was before."""
LIBRARY: Final = "BM25S"
"""bm25s as it comes: its own tokens without English stop words, the Lucene formula, over the facts alone."""
LIBRARY_FIELDS: Final = "BM25S+HEADINGS"
"""The same over the facts and the headings over them, which is what TEXT searches."""
WHOLE: Final = "CANDIDATES"
CUT: Final = "CANDIDATES+CUT"
"""Whether the answers of compound questions are among the candidates: 1 or 0 for each part, searched whole and
by sub-queries."""
COMPOUND: Final = "compound"
ALWAYS: Final = (*SINGLE, RetrievalMode.HYBRID)
_BATCH: Final = 500

Ranks = list[list[int]]
"""For each question the rank of the first answer to each of its parts; 0 where none is among the first ten."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A set's questions of one half, and where their searches go; ``k`` as envelopes take it for a sub-query."""

    k: int
    added: int
    questions: Sequence[SearchQuestion]
    vectors: Mapping[str, NDArray[np.float32]]
    units: Mapping[str, str]
    retriever: Retriever


@dataclass(frozen=True, slots=True)
class Order:
    """What to measure.

    Attributes:
        modes: besides those that are always measured.
        vectors: the file that keeps vectors between runs.
    """

    half: str
    modes: Sequence[RetrievalMode]
    vectors: Path | None = None


async def measured_ranks(settings: Settings, one: SearchSet, order: Order, progress: Progress) -> dict[str, Ranks]:
    """Store the set's facts, ask each question of the half in each mode, and return the ranks of the answers by mode.

    Raises:
        EvaluationDataError: a mode was answered in another: its figures would be that one's.
    """
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="groundtrail-eval-"))
        adapters = await stack.enter_async_context(Adapters(evaluation_settings(settings, Path(folder))))
        parts = await open_parts(adapters.settings, adapters)
        kept = KeptVectors(order.vectors, parts.models.embedding)
        units = await _stored(parts, one, kept, progress)
        questions = one.of_half(order.half)
        compound = [each.text for each in questions if each.kind == COMPOUND]
        texts = [*(each.text for each in questions), *(part for text in compound for part in decompose(text))]
        vectors = await kept.of(texts, progress, f"{one.name} questions")
        retriever = open_retriever(parts, RetrievalCounts())
        terms = settings.envelope
        asked = _Asked(terms.retrieval_k, terms.hybrid_candidates, questions, vectors, units, retriever)
        found: dict[str, Ranks] = {}
        lists: dict[RetrievalMode, list[list[str]]] = {}
        for mode in (mode for mode in RetrievalMode if mode in ALWAYS or mode in order.modes):
            shown = progress.track(questions, description=f"{one.name} {mode.name}")
            lists[mode] = [(await _lists(asked, (each.text,), mode))[0] for each in shown]
            found[mode.name] = _ranks(asked, lists[mode])
        both = zip(*(lists[mode] for mode in SINGLE), strict=True)
        found[BY_RANKS] = _ranks(asked, [[key for key, _ in fuse(pair)] for pair in both])
        found[LIBRARY] = _ranks(asked, by_library(one.facts, questions, headings=False))
        found[LIBRARY_FIELDS] = _ranks(asked, by_library(one.facts, questions, headings=True))
        found[WHOLE] = [await _among_candidates(asked, each, (each.text,)) for each in questions]
        found[CUT] = [await _among_candidates(asked, each, decompose(each.text)) for each in questions]
        return found


async def _stored(parts: EnvelopeParts, one: SearchSet, kept: KeptVectors, progress: Progress) -> dict[str, str]:
    """Store the facts and return by fact id what each is judged as."""
    model = parts.models.embedding
    vectors = await kept.of((fact.content for fact in one.facts), progress, f"{one.name} facts")
    units: dict[str, str] = {}
    for start in range(0, len(one.facts), _BATCH):
        block = one.facts[start : start + _BATCH]
        records = [record(fact.key, fact.content, vectors[fact.content], model, fact.location) for fact in block]
        units |= {kept.fact_id: fact.unit for kept, fact in zip(records, block, strict=True)}
        await parts.facts.upsert(records)
    return units


async def _lists(asked: _Asked, texts: Sequence[str], mode: RetrievalMode) -> list[list[str]]:
    """Return for each text the ids that the mode finds, best first."""
    queries = SubQueries(tuple(texts), np.stack([asked.vectors[text] for text in texts]))
    found = await asked.retriever.retrieve(TENANT, queries, mode=mode, limit=FACTS)
    if found.mode is not mode:
        raise EvaluationDataError(f"{mode.name} was answered as {found.mode.name}: {' '.join(found.warnings)}")
    return [[hit.fact.fact_id for hit in hits] for hits in found.hits]


async def _among_candidates(asked: _Asked, question: SearchQuestion, texts: Sequence[str]) -> list[int]:
    """Say for each part of a compound question whether its answer is a candidate of an envelope; nothing for others."""
    if question.kind != COMPOUND:
        return [0] * len(question.wanted)
    queries = SubQueries(tuple(texts), np.stack([asked.vectors[text] for text in texts]))
    found = await asked.retriever.candidates(TENANT, queries, mode=RetrievalMode.HYBRID, limit=asked.k)
    units = {
        asked.units[hit.fact.fact_id]
        for hits in found.hits
        for hit in (*nearest_of(hits, asked.k, RetrievalMode.HYBRID), *hits[: asked.added])
    }
    return [int(not wanted.isdisjoint(units)) for wanted in question.wanted]


def _ranks(asked: _Asked, lists: Sequence[Sequence[str]]) -> Ranks:
    return [
        ranks_of(question, [asked.units.get(key, key) for key in found])
        for question, found in zip(asked.questions, lists, strict=True)
    ]


def ranks_of(question: SearchQuestion, units: Sequence[str]) -> list[int]:
    """Return for each part of a question the rank of the first unit that answers it; 0 where it is not among ten."""
    first = list(dict.fromkeys(units))[:DEPTH]
    return [next((rank for rank, unit in enumerate(first, start=1) if unit in wanted), 0) for wanted in question.wanted]


def by_library(facts: Sequence[SearchFact], questions: Sequence[SearchQuestion], *, headings: bool) -> list[list[str]]:
    """Return for each question the units that bm25s finds, best first."""
    import bm25s

    texts = [searched_text(fact.content, fact.location) if headings else fact.content for fact in facts]
    index: bm25s.BM25 = bm25s.BM25()
    index.index(_tokens(texts), show_progress=False)
    asked = _tokens([question.text for question in questions])
    places, scores = index.retrieve(asked, k=min(FACTS, len(facts)), show_progress=False)
    return [
        [facts[int(place)].unit for place, score in zip(row, values, strict=True) if score > 0]
        for row, values in zip(places, scores, strict=True)
    ]


def _tokens(texts: Sequence[str]) -> Any:
    import bm25s

    return bm25s.tokenize(list(texts), stopwords="en", show_progress=False)
