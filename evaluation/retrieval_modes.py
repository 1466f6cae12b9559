"""Every mode of retrieval on a set, through the product's own store and ``Retriever``."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from evaluation.data import EvaluationDataError
from evaluation.embedding import embed_all
from evaluation.metrics import bootstrap_interval, ndcg, recall
from evaluation.retrieval import TENANT, record
from evaluation.retrieval_sets import Question, RetrievalSet
from services.common.composition import Adapters
from services.common.settings import Settings
from services.common.taxonomy import RetrievalMode
from services.envelope.compose import EnvelopeParts, open_parts, open_retriever
from services.envelope.retrieval import RetrievedFact, Retriever, SubQueries
from services.envelope.retrieval_counts import RetrievalCounts

FACTS: Final = 100
"""Facts asked for, as many as SearchFacts gives; a document ranks by its best fact."""
NDCG: Final = "nDCG@10"
RECALL: Final = "recall@50"
NDCG_DEPTH: Final = 10
RECALL_DEPTH: Final = 50
MODES: Final = tuple(RetrievalMode)
SINGLE: Final = (RetrievalMode.DENSE, RetrievalMode.TEXT)
"""What hybrid is made of, and what every gain is told against."""
CACHE_MIB: Final = 1_024
"""The evaluation keeps all token vectors, so that each fact is encoded once; the scores are the same without."""
_BATCH: Final = 500

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measured:
    """One mode on one half of one set.

    Attributes:
        values: per metric, one value per query.
        milliseconds: per query, the search alone, without embedding the query.
    """

    values: Mapping[str, Values]
    milliseconds: Values


def evaluation_settings(settings: Settings, folder: Path) -> Settings:
    """Return the settings with a data folder of its own and room for all token vectors; modes stay as they are."""
    store = settings.store.model_copy(update={"data_dir": folder})
    room = {"token_cache_tenant_mib": CACHE_MIB, "token_cache_total_mib": 2 * CACHE_MIB}
    envelope = settings.envelope.model_copy(update=room)
    return settings.model_copy(update={"store": store, "envelope": envelope})


@dataclass(frozen=True, slots=True)
class Order:
    """What to measure.

    Attributes:
        limit: most queries of a half; ``None`` = all.
        modes: dense and text are measured in any case: gains are told against them.
    """

    halves: Sequence[str]
    limit: int | None = None
    modes: Sequence[RetrievalMode] = MODES


async def measure(
    settings: Settings, one: RetrievalSet, order: Order, progress: Progress
) -> dict[str, dict[RetrievalMode, Measured]]:
    """Store the set's facts and search for each query of each half in the modes.

    Raises:
        EvaluationDataError: a mode was answered in another: its figures would be that one's.
    """
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="groundtrail-eval-"))
        adapters = await stack.enter_async_context(Adapters(evaluation_settings(settings, Path(folder))))
        parts = await open_parts(adapters.settings, adapters)
        await _store(parts, one, progress)
        questions = {half: one.of_half(half, order.limit) for half in order.halves}
        texts = (each.text for half in order.halves for each in questions[half])
        asked = await embed_all(parts.models.embedding, texts, progress, f"{one.name} queries")
        retriever = open_retriever(parts, RetrievalCounts())
        found: dict[str, dict[RetrievalMode, Measured]] = {half: {} for half in order.halves}
        for half in order.halves:
            for mode in (mode for mode in MODES if mode in SINGLE or mode in order.modes):
                shown = progress.track(questions[half], description=f"{one.name} {half} {mode.name}")
                found[half][mode] = await _mode(retriever, mode, shown, asked)
        return found


async def _store(parts: EnvelopeParts, one: RetrievalSet, progress: Progress) -> None:
    model = parts.models.embedding
    vectors = await embed_all(model, (content for _, content in one.facts), progress, f"{one.name} facts")
    for start in range(0, len(one.facts), _BATCH):
        block = one.facts[start : start + _BATCH]
        await parts.facts.upsert([record(source, content, vectors[content], model) for source, content in block])


async def _mode(
    retriever: Retriever, mode: RetrievalMode, questions: Iterable[Question], asked: Mapping[str, NDArray[np.float32]]
) -> Measured:
    values: dict[str, list[float]] = {NDCG: [], RECALL: []}
    milliseconds: list[float] = []
    for question in questions:
        queries = SubQueries((question.text,), asked[question.text][None])
        start = perf_counter()
        found = await retriever.retrieve(TENANT, queries, mode=mode, limit=FACTS)
        milliseconds.append(1_000 * (perf_counter() - start))
        if found.mode is not mode:
            raise EvaluationDataError(f"{mode.name} was answered as {found.mode.name}: {' '.join(found.warnings)}")
        ranking = documents(found.hits[0])
        values[NDCG].append(ndcg(ranking, question.relevant, NDCG_DEPTH))
        values[RECALL].append(recall(ranking, question.relevant, RECALL_DEPTH))
    return Measured({name: np.array(each) for name, each in values.items()}, np.array(milliseconds))


def documents(hits: Sequence[RetrievedFact]) -> list[str]:
    """Return the documents in the order of their best facts."""
    return list(dict.fromkeys(hit.fact.source_id for hit in hits))


def interval(values: Values) -> tuple[float, float]:
    """Return the 95% bootstrap interval of the mean over queries."""
    found = bootstrap_interval(lambda drawn: float(values[drawn].mean()), np.zeros(len(values), dtype=np.intp))
    if found is None:
        raise EvaluationDataError("there is no query to measure")
    return found


def results(measured: Mapping[RetrievalMode, Measured]) -> dict[str, Any]:
    """Return what is kept of a half: means, intervals, and each mode's difference to the best single ranking."""
    return {mode.name: _kept(mode, measured) for mode in measured}


def _kept(mode: RetrievalMode, measured: Mapping[RetrievalMode, Measured]) -> dict[str, Any]:
    own = measured[mode]
    found: dict[str, Any] = {"median_ms": round(float(np.median(own.milliseconds)), 1)}
    for metric, values in own.values.items():
        singles = [measured[single].values[metric] for single in SINGLE]
        best = max(singles, key=lambda each: float(each.mean()))
        gain = values - best
        found[metric] = {
            "value": round(float(values.mean()), 4),
            "interval": [round(end, 4) for end in interval(values)],
            "gain": round(float(gain.mean()), 4),
            "gain_interval": [round(end, 4) for end in interval(gain)],
        }
    return found
