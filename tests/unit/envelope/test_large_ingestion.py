"""What ingestion reads and keeps does not grow with what is there."""

import asyncio
import uuid
from dataclasses import replace

import pytest

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.adapters.sqlite import SqliteFactStore
from services.common.adapters.tokens.counter import open_token_counter
from services.common.envelope_request import EnvelopeRequest
from services.common.ports.facts import FactFilter, FactStatus
from services.common.settings.envelope import EnvelopeSettings
from services.common.settings.inference import InferenceSettings
from services.common.settings.stores import StoreSettings
from services.envelope import community_search
from services.envelope.compose import EnvelopeParts, open_apps
from services.envelope.domain.importance import SourceType
from services.envelope.requests import FactEntries, FactEntry, WriteTicket
from services.envelope.version_writer import TextModels
from tests.fakes.envelope_world import TurnedClock

BASE = 1_500


def ticket():
    return WriteTicket("IngestFacts", str(uuid.uuid4()), "0" * 64, lambda _: b"")


def entries(first, count, **changes):
    facts = tuple(
        FactEntry(f"Rule {number} sets a limit of {number} euros.", **changes) for number in range(first, first + count)
    )
    return FactEntries("rules", "Rules", SourceType.INTERNAL, facts)


@pytest.fixture
async def parts(tmp_path):
    store = await SqliteFactStore.open(tmp_path / "knowledge.db", StoreSettings(), dimension=64)
    tokens = await open_token_counter(InferenceSettings())
    models = TextModels(MemoryEmbeddingModel(64), MemoryEntityRecognizer(), tokens)
    yield EnvelopeParts(store, MemoryKnowledgeGraph(), models, EnvelopeSettings(cluster_apart_above=0), TurnedClock())
    await store.close()


async def test_ten_facts_more_for_a_large_source_read_ten_and_rebuild_nothing(parts, monkeypatch):
    apps = await open_apps(parts)
    for first in range(0, BASE, 500):
        await apps.ingestion.ingest_facts("t", entries(first, 500), ticket())
    await apps.communities.settled()
    clustering = await parts.graph.clustering("t")
    assert clustering.facts_at_clustering == BASE
    read, embedded = [], len(parts.models.embedding.calls)
    get = parts.facts.get
    monkeypatch.setattr(parts.facts, "get", lambda tenant, ids: read.append(list(ids)) or get(tenant, ids))
    for name in ("page", "embeddings", "outlines", "fact_ids_of_source", "state_entries"):
        monkeypatch.setattr(parts.facts, name, None)  # would fail if it were called
    outcome = await apps.ingestion.ingest_facts("t", entries(BASE - 2, 12), ticket())
    await apps.communities.settled()
    assert (outcome.facts_created, outcome.facts_unchanged, outcome.source.fact_count) == (10, 2, BASE + 10)
    assert sum(map(len, read)) == 12
    assert sum(map(len, parts.models.embedding.calls[embedded:])) == 10
    assert await parts.graph.clustering("t") == clustering
    await apps.communities.close()


async def test_a_source_counts_what_is_replaced_and_what_comes_back(parts):
    apps = await open_apps(parts)
    first = await apps.ingestion.ingest_facts("t", entries(0, 5), ticket())
    replacing = entries(10, 1, supersedes_fact_ids=first.fact_ids[:2])
    outcome = await apps.ingestion.ingest_facts("t", replacing, ticket())
    assert (outcome.facts_stale, outcome.source.fact_count) == (2, 4)
    again = await apps.ingestion.ingest_facts("t", entries(0, 1), ticket())
    assert (again.facts_created, again.source.fact_count) == (1, 5)
    active = FactFilter(statuses=(FactStatus.ACTIVE,))
    assert await parts.facts.count("t", active) == 5
    await parts.facts.set_status("t", [first.fact_ids[4]], FactStatus.QUARANTINED, at=parts.clock.now())
    more = await apps.ingestion.ingest_facts("t", entries(20, 1), ticket())
    assert more.source.fact_count == 5
    await apps.communities.close()


async def test_builds_go_on_while_communities_are_searched_and_their_etags_hold_until_they_are_written(
    parts, monkeypatch
):
    apps = await open_apps(parts)
    may_go_on, searching = asyncio.Event(), asyncio.Event()
    search = community_search._search_apart

    async def held(*args):
        searching.set()
        await may_go_on.wait()
        return await search(*args)

    monkeypatch.setattr(community_search, "_search_apart", held)
    await apps.ingestion.ingest_facts("t", entries(0, 120), ticket())
    await searching.wait()
    request = EnvelopeRequest("Which limit does rule 7 set?", "gpt-4o", max_envelope_tokens=500)
    built = await apps.envelopes.build("t", request)
    assert built.facts
    again = replace(request, if_match_etag=built.summary.etag)
    assert (await apps.envelopes.build("t", again)).not_modified
    may_go_on.set()
    await apps.communities.settled()
    assert (await parts.graph.clustering("t")).epoch == 1
    fresh = await apps.envelopes.build("t", again)
    assert not fresh.not_modified
    assert fresh.cache_status == "MISS; reason=facts-updated"
    assert {fact.candidate.fact_id for fact in fresh.facts}
    await apps.communities.close()
