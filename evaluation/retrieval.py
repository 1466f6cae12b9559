"""Retrieval on Cranfield: the product's chunker, embedder and SQLite store; a document ranks by its best fact."""

import hashlib
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from evaluation.contexts import document
from evaluation.data import rows
from evaluation.embedding import embed_all
from evaluation.figures import Figure
from evaluation.metrics import ndcg, recall
from evaluation.words import words
from services.common.adapters.sqlite.facts import SqliteFactStore
from services.common.adapters.tokens.counter import open_token_counter
from services.common.adapters.tokens.table import EXTRACTIVE_MODEL
from services.common.documents.facts.chunking import chunk
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.facts import FactHit, FactRecord, FactStatus
from services.common.settings.inference import InferenceSettings
from services.common.settings.stores import StoreSettings

TENANT: Final = "evaluation"
HITS: Final = 400
"""Facts asked for, so that at least 50 documents are among them."""
BASELINE: Final = "word overlap"
_BATCH: Final = 500
_MADE: Final = datetime(2026, 1, 1, tzinfo=UTC)


async def facts_of(documents: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return (document id, fact) for each fact that the product makes of the documents."""
    counter = await open_token_counter(InferenceSettings())
    found: list[tuple[str, str]] = []
    for one in documents:
        drafts = chunk(document([one["text"]]), lambda text: counter.count([text], EXTRACTIVE_MODEL)[0])
        found += [(one["id"], draft.content) for draft in drafts]
    return found


def record(
    source: str, content: str, vector: NDArray[np.float32], model: EmbeddingModel, location: str = ""
) -> FactRecord:
    """Return a fact as ingestion would store it."""
    return FactRecord(
        tenant_id=TENANT,
        fact_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{source} {content}")),
        content=content,
        content_hash=hashlib.sha256(content.encode()).hexdigest(),
        source_id=source,
        source_location=location,
        importance_weight=0.5,
        ingested_at=_MADE,
        modified_at=_MADE,
        status=FactStatus.ACTIVE,
        embedding=vector,
        embedding_model=model.fingerprint,
    )


def by_document(hits: Iterable[FactHit]) -> list[str]:
    """Return the documents in the order of their best facts."""
    return list(dict.fromkeys(hit.fact.source_id for hit in hits))


def by_overlap(query: str, bags: Mapping[str, set[str]]) -> list[str]:
    """Return the documents by the number of distinct query words in them, ties by id."""
    asked = words(query)
    return sorted(bags, key=lambda name: (-len(asked & bags[name]), name))


async def measure(data: Path, model: EmbeddingModel, progress: Progress, limit: int | None) -> list[Figure]:
    """Measure dense and BM25 search; ``limit`` bounds the queries, never the documents."""
    documents = rows(data, "retrieval/cranfield_docs.jsonl.gz")
    queries = rows(data, "retrieval/cranfield_queries.jsonl.gz")[:limit]
    facts = await facts_of(documents)
    vectors = await embed_all(model, (content for _, content in facts), progress, "Cranfield documents")
    asked = await embed_all(model, (query["text"] for query in queries), progress, "Cranfield queries")
    records = [record(source, content, vectors[content], model) for source, content in facts]
    bags = {one["id"]: words(one["text"]) for one in documents}
    rankings: dict[str, list[list[str]]] = {"dense": [], "BM25": [], BASELINE: []}
    with tempfile.TemporaryDirectory(prefix="groundtrail-eval-") as scratch:
        settings = StoreSettings(data_dir=Path(scratch))
        store = await SqliteFactStore.open(Path(scratch) / "knowledge.db", settings, dimension=model.dimension)
        try:
            for start in range(0, len(records), _BATCH):
                await store.upsert(records[start : start + _BATCH])
            for query in progress.track(queries, description="Cranfield searches"):
                near = await store.search(TENANT, asked[query["text"]][None], limit=HITS)
                rankings["dense"].append(by_document(near[0]))
                rankings["BM25"].append(by_document(await store.search_text(TENANT, query["text"], limit=HITS)))
                rankings[BASELINE].append(by_overlap(query["text"], bags))
        finally:
            await store.close()
    return figures(queries, rankings)


def figures(queries: Sequence[Mapping[str, Any]], rankings: Mapping[str, Sequence[Sequence[str]]]) -> list[Figure]:
    """Return nDCG@10 and recall@50, the mean over the queries."""
    metrics: dict[str, Callable[[Sequence[str], Mapping[str, float]], float]] = {
        "nDCG@10": lambda ranking, relevant: ndcg(ranking, relevant, 10),
        "recall@50": lambda ranking, relevant: recall(ranking, relevant, 50),
    }
    found = []
    for metric, measured in metrics.items():
        means = {
            name: float(
                np.mean([measured(ranking, query["relevant"]) for query, ranking in zip(queries, each, strict=True)])
            )
            for name, each in rankings.items()
        }
        found += [
            Figure("retrieval", "Cranfield", len(queries), name, metric, means[name], BASELINE, means[BASELINE])
            for name in rankings
            if name != BASELINE
        ]
    return found
