"""When communities are computed, what large tenants wait for, and what they do not (CRP-SPEC-009, ADR 0069)."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.adapters.sqlite import SqliteFactStore
from services.common.adapters.sqlite.graph import SqliteKnowledgeGraph
from services.common.errors import ErrorReason, LimitExceededError
from services.common.ports.facts import FactFilter, FactRecord, FactStatus
from services.common.settings.envelope import EnvelopeSettings
from services.common.settings.stores import StoreSettings
from services.envelope import community_search
from services.envelope.community_app import CommunityApp
from services.envelope.knowledge_stores import KnowledgeStores
from services.envelope.leiden import LeidenCommunityDetector
from services.envelope.state_hashes import StateHashes
from tests.fakes.envelope_world import TurnedClock
from tests.patience import patient

NOW = datetime(2026, 5, 24, 9, 0, tzinfo=UTC)
WORDS = ("deadline", "premium", "hospital", "cargo")
TOPICS = len(WORDS)
LARGE = EnvelopeSettings(cluster_apart_above=20, recluster_after_facts=4, recluster_growth_ratio=0.5)


def fact(number, topic=None):
    rng = np.random.default_rng(number)
    vector = 0.1 * rng.standard_normal(8)
    vector[(number if topic is None else topic) % TOPICS] += 1.0
    return FactRecord(
        tenant_id="t",
        fact_id=f"f{number:04}",
        content=f"The {WORDS[number % TOPICS]} of {number}.",
        content_hash=f"{number:064x}",
        source_id="s",
        source_location="",
        importance_weight=0.5,
        ingested_at=NOW,
        modified_at=NOW,
        status=FactStatus.ACTIVE,
        embedding=(vector / np.linalg.norm(vector)).astype(np.float32),
    )


class Place:
    """A tenant's stores and their communities."""

    def __init__(self, facts, graph, settings=LARGE):
        self.facts, self.graph, self.clock = facts, graph, TurnedClock(NOW)
        self.states = StateHashes(facts, graph, "m1", shared_store=False)
        stores = KnowledgeStores.over(facts, graph, self.states, self.clock)
        self.app = CommunityApp(stores, LeidenCommunityDetector(), settings, "m1")

    async def add(self, *numbers, topic=None):
        records = [fact(number, topic) for number in numbers]
        await self.facts.upsert(records)
        await self.app.facts_added("t", [record.fact_id for record in records])

    async def labels(self):
        page = await self.facts.page("t", FactFilter(), after="", limit=10_000)
        return {record.fact_id: record.community_label for record in page}

    async def epoch(self):
        return (await self.graph.clustering("t")).epoch


@pytest.fixture(params=["memory", "sqlite"])
async def place(request, tmp_path):
    if request.param == "memory":
        facts, graph = MemoryFactStore(8), MemoryKnowledgeGraph()
    else:
        facts = await SqliteFactStore.open(tmp_path / "knowledge.db", StoreSettings(), dimension=8)
        graph = await SqliteKnowledgeGraph.open(tmp_path / "graph.db", StoreSettings())
    made = Place(facts, graph)
    yield made
    await made.app.close()
    await facts.close()
    await graph.close()


async def test_a_small_tenant_is_clustered_in_the_call(place):
    await place.add(*range(12))
    assert await place.epoch() == 1
    assert set((await place.labels()).values()) == set(WORDS)


async def test_a_large_tenant_is_clustered_beside_the_calls_and_gets_the_same(place, tmp_path):
    await place.add(*range(60))
    assert await place.epoch() == 0  # the call did not wait
    await place.app.settled()
    assert await place.epoch() == 1
    here = Place(MemoryFactStore(8), MemoryKnowledgeGraph(), LARGE.model_copy(update={"cluster_apart_above": 10_000}))
    await here.add(*range(60))
    assert await place.labels() == await here.labels()
    [*theirs] = await place.graph.page_communities("t", after="", limit=10)
    assert theirs == await here.graph.page_communities("t", after="", limit=10)


async def test_new_facts_of_a_large_tenant_join_what_is_there_and_nothing_is_computed_anew(place, monkeypatch):
    await place.add(*range(60))
    await place.app.settled()
    before, state = await place.labels(), await place.states.of("t", ("cargo",))
    monkeypatch.setattr(community_search, "_search_apart", None)  # would fail if it were called
    looked = []
    read = place.facts.embeddings
    monkeypatch.setattr(place.facts, "embeddings", lambda tenant: looked.append(tenant) or read(tenant))
    await place.add(100, 101, 102)
    await place.app.settled()
    assert (await place.labels())["f0100"] == ""  # three are not enough
    assert looked == []
    await place.add(103)
    await place.app.settled()
    labels = await place.labels()
    assert [labels[f"f{number:04}"] for number in (100, 101, 102, 103)] == list(WORDS)
    assert {fact_id: labels[fact_id] for fact_id in before} == before
    assert looked == ["t"]
    assert await place.epoch() == 2
    assert await place.states.of("t", ("cargo",)) != state
    sizes = {one.label: one.fact_count for one in await place.graph.page_communities("t", after="", limit=10)}
    assert sizes == dict.fromkeys(WORDS, 16)
    assert (await place.graph.clustering("t")).facts_at_clustering == 60


async def test_a_new_fact_near_to_none_stays_in_none(place):
    await place.add(*range(60))
    await place.app.settled()
    await place.add(*range(200, 204), topic=None)
    lonely = [replace(fact(number), embedding=np.eye(8, dtype=np.float32)[7]) for number in range(300, 304)]
    await place.facts.upsert(lonely)
    await place.app.facts_added("t", [one.fact_id for one in lonely])
    await place.app.settled()
    labels = await place.labels()
    assert labels["f0200"] == WORDS[0]
    assert {labels[one.fact_id] for one in lonely} == {""}


async def test_when_enough_has_grown_all_are_computed_anew(place):
    await place.add(*range(60))
    await place.app.settled()
    await place.add(*range(100, 140))
    await place.app.settled()
    clustering = await place.graph.clustering("t")
    assert clustering.facts_at_clustering == 100


async def test_an_erasure_leaves_no_label_of_what_held_erased_facts_and_they_come_back_beside_the_calls(place):
    await place.add(*range(60))
    await place.app.settled()
    before = await place.labels()
    erased = replace(fact(0), source_id="erased", community_label=before["f0000"])
    await place.facts.upsert([erased])
    assert await place.facts.erase_source("t", "erased", at=NOW) == 1
    await place.app.facts_erased("t", "erased")
    labels = await place.labels()
    gone = before.pop("f0000")
    assert labels == {name: "" if label == gone else label for name, label in before.items()}
    assert [entry async for entry in place.facts.state_entries("t", (gone,))] == []  # the tombstone has none either
    left = {one.label: one.fact_count for one in await place.graph.page_communities("t", after="", limit=10)}
    assert left == dict.fromkeys(set(WORDS) - {gone}, 15)
    await place.app.settled()
    assert set((await place.labels()).values()) == set(WORDS)


async def test_an_erasure_of_facts_in_no_community_leaves_the_communities_alone(place):
    await place.add(*range(60))
    await place.app.settled()
    await place.facts.upsert([replace(fact(500), source_id="erased")])
    await place.facts.erase_source("t", "erased", at=NOW)
    before, epoch = await place.labels(), await place.epoch()
    await place.app.facts_erased("t", "erased")
    assert (await place.labels(), await place.epoch()) == (before, epoch)


async def test_communities_are_renewed_after_a_week(place):
    await place.add(*range(12))
    place.clock.advance(days=6, hours=23)
    assert await place.app.renew_old() == 0
    place.clock.advance(hours=2)
    assert await place.app.renew_old() == 1
    await place.app.settled()
    clustering = await place.graph.clustering("t")
    assert (clustering.epoch, clustering.clustered_at) == (2, place.clock.now())
    assert await place.app.renew_old() == 0


async def test_ages_are_watched_once_started_and_until_closed(place):
    await place.add(*range(12))
    place.clock.advance(days=8)
    place.app.start()
    while await place.epoch() == 1:  # noqa: ASYNC110 - what is awaited tells nobody
        await asyncio.sleep(0.01)
    await place.app.close()
    assert place.app._ageing.done()


async def test_the_loop_goes_on_while_communities_are_searched(tmp_path):
    """Builds are served by the loop: it must turn while a search runs, and the states must be told before and after."""
    place = Place(MemoryFactStore(8), MemoryKnowledgeGraph())
    await place.add(*range(400))
    turns, before = 0, await place.states.of("t")
    work = asyncio.create_task(place.app.settled())
    while not work.done():
        await asyncio.sleep(0.001)
        turns += 1
        if await place.epoch() == 0:
            assert await place.states.of("t") == before
    assert turns > 20
    assert await place.states.of("t") != before


async def test_a_search_that_dies_leaves_the_communities_as_they_were(place, monkeypatch, caplog):
    await place.add(*range(60))
    await place.app.settled()
    before = await place.labels()
    monkeypatch.setattr(community_search, "_MODULE", "services.envelope.no_such_module")
    await place.add(*range(100, 160))
    await place.app.settled()
    assert {fact_id: label for fact_id, label in (await place.labels()).items() if fact_id in before} == before
    assert "communities were not computed" in caplog.text
    monkeypatch.undo()
    await place.add(*range(160, 164))
    await place.app.settled()
    assert (await place.graph.clustering("t")).facts_at_clustering == 124


async def test_closing_ends_a_running_search(place):
    await place.add(*range(60))
    await asyncio.sleep(0)
    await asyncio.wait_for(place.app.close(), patient(20))
    assert await place.epoch() == 0


async def test_more_facts_than_may_be_clustered_are_refused_before_they_are_read(place, monkeypatch):
    limited = Place(place.facts, place.graph, LARGE.model_copy(update={"max_clustered_facts": 30}))
    await limited.add(*range(60))
    await limited.app.settled()
    assert await limited.epoch() == 0
    monkeypatch.setattr(place.facts, "embeddings", None)  # would fail if it were called
    with pytest.raises(LimitExceededError) as caught:
        await limited.app.rebuild("t")
    assert caught.value.reason is ErrorReason.QUEUE_FULL
