"""Copying a tenant's knowledge between stores: what goes along, what stays, and what proves it."""

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from services.common.adapters.memory import MemoryFactStore, MemoryKnowledgeGraph
from services.common.adapters.sqlite import SqliteFactStore, SqliteKnowledgeGraph
from services.common.errors import InvalidRequestError
from services.common.ports.facts import FactFilter, FactStatus
from services.common.ports.graph import ClusteringRecord, CommunityRecord, SourceStatus
from services.common.ports.outline import OutlineEntry, OutlineVersion, SourceOutline
from services.common.ports.recognition import Entity, EntityKind
from services.envelope import store_pictures
from services.envelope.store_copy import StoreCopy
from services.envelope.store_pictures import Stores, take_picture
from tests.contract.adapters import DIMENSION, MODEL, PLAIN
from tests.contract.records import LATER, NOW, digest, fact, random_vectors, source

T = "tenant-a"
ALL = FactFilter(statuses=())


async def open_stores(kind, path):
    if kind == "memory":
        return Stores(MemoryFactStore(DIMENSION), MemoryKnowledgeGraph())
    path.mkdir(exist_ok=True)
    facts = await SqliteFactStore.open(path / "knowledge.db", PLAIN, dimension=DIMENSION)
    return Stores(facts, await SqliteKnowledgeGraph.open(path / "graph.db", PLAIN))


@pytest.fixture(params=list(itertools.product(("memory", "sqlite"), repeat=2)), ids="-to-".join)
async def both(request, tmp_path, monkeypatch):
    monkeypatch.setattr(store_pictures, "PAGE", 7)
    pair = [await open_stores(kind, tmp_path / name) for kind, name in zip(request.param, ("old", "new"), strict=True)]
    yield pair
    for stores in pair:
        await stores.facts.close()
        await stores.graph.close()


@pytest.fixture
async def pair():
    return [await open_stores("memory", None) for _ in range(2)]


def facts(count=20, first=0, **changes):
    vectors = random_vectors(first + 1, count)
    return [fact(f"f{first + n:04}", embedding=row, **changes) for n, row in enumerate(vectors)]


async def fill(stores):
    """Write a knowledge base with everything that there is."""
    await stores.facts.upsert(facts())
    entity = Entity(EntityKind.DATE, "of", 8, 10)
    rich = fact(
        "f0100",
        entities=(entity,),
        metadata={"a": "ü", "b": ""},
        ttl=timedelta(days=3, microseconds=7),
        valid_from=NOW,
        valid_to=LATER,
        importance_weight=0.1 + 0.2,
        access_count=4,
        last_accessed_at=LATER,
    )
    await stores.facts.upsert([rich])
    await stores.facts.supersede(T, ["f0001", "f0002"], ended_at=NOW, at=LATER)
    await stores.facts.set_status(T, ["f0003"], FactStatus.QUARANTINED, at=LATER)
    await stores.facts.set_status(T, ["f0004", "f0005"], FactStatus.DELETED, at=LATER)
    await stores.facts.set_communities(T, {"f0007": "c1", "f0008": "c1"})
    await stores.facts.upsert(facts(3, 500, tenant_id="tenant-b"))
    await stores.graph.put_source(source("source-1", metadata={"k": "v"}, version=2))
    await stores.graph.put_source(source("gone", status=SourceStatus.ERASED, uri="", document_hash=""))
    for version in (1, 2):
        about = OutlineVersion(T, "source-1", version, digest(f"v{version}"), NOW, 2)
        await stores.graph.put_outline(
            SourceOutline(about, (OutlineEntry("f0001", "CLAUSE", 0), OutlineEntry(f"f000{version + 1}"))), keep=5
        )
    clustering = ClusteringRecord(T, 3, NOW, 20, MODEL)
    await stores.graph.replace_communities(clustering, [CommunityRecord(T, "c1", 2, 3)])


def nothing(_count):
    pass


async def copied(old, new, *, merge=False):
    copying = StoreCopy(old, new, MODEL, nothing)
    plan = await copying.plan(T, merge=merge)
    await copying.carry_out(plan)
    return plan, await copying.prove(plan)


async def everything(stores):
    found = await stores.facts.page(T, ALL, after="", limit=1_000)
    return {one.fact_id: (one, one.embedding.tobytes()) for one in found if one.status is not FactStatus.DELETED}


async def test_everything_of_the_tenant_goes_along_and_both_sides_are_the_same(both):
    old, new = both
    await fill(old)
    plan, proof = await copied(old, new)
    assert proof.equal
    assert (len(plan.facts), proof.facts, proof.tombstones) == (21, 21, 2)
    assert (proof.sources, proof.outlines, proof.communities) == (2, 2, 1)
    assert proof.state[0] == proof.state[1]
    assert await everything(new) == await everything(old)
    assert await new.facts.count("tenant-b", ALL) == 0
    entries = [one async for one in new.facts.state_entries(T)]
    assert entries == [one async for one in old.facts.state_entries(T)]
    assert await new.facts.get(T, ["f0004"]) == []
    query = random_vectors(1, 20)[7:8]
    hits = [[(h.fact.fact_id, h.score) for h in (await s.facts.search(T, query, limit=9))[0]] for s in both]
    assert hits[0] == hits[1]
    assert (await new.graph.clustering(T)).epoch == 3
    assert await new.graph.get_outline(T, "source-1", 1) == await old.graph.get_outline(T, "source-1", 1)


async def test_the_same_again_writes_nothing(both):
    old, new = both
    await fill(old)
    _, first = await copied(old, new)
    plan, second = await copied(old, new)
    assert (plan.facts, plan.sources, plan.communities) == (frozenset(), frozenset(), False)
    assert second == first


async def test_one_that_was_broken_off_goes_on(both, monkeypatch):
    old, new = both
    await fill(old)
    copying = StoreCopy(old, new, MODEL, nothing)
    plan = await copying.plan(T, merge=False)
    original = new.facts.upsert
    left = [2]

    async def upsert(some):
        if not left[0]:
            raise OSError("cable")
        left[0] -= 1
        await original(some)

    monkeypatch.setattr(new.facts, "upsert", upsert)
    with pytest.raises(OSError, match="cable"):
        await copying.carry_out(plan)
    monkeypatch.undo()
    assert await new.graph.get_source(T, "source-1") is None  # facts first: no source whose facts are not there
    plan, proof = await copied(old, new)
    assert 0 < len(plan.facts) < 21
    assert proof.equal


async def test_what_changed_since_is_brought_up_to_date(both):
    old, new = both
    await fill(old)
    await copied(old, new)
    after = LATER + timedelta(seconds=1)
    await old.facts.set_status(T, ["f0010"], FactStatus.DELETED, at=after)
    await old.facts.set_communities(T, {"f0011": "c2"})
    await old.facts.upsert(facts(2, 300))
    plan, proof = await copied(old, new)
    assert plan.facts == {"f0010", "f0011", "f0300", "f0301"}
    assert proof.equal
    assert await new.facts.get(T, ["f0010"]) == []


async def test_nothing_erased_there_comes_back(both):
    old, new = both
    await fill(old)
    await copied(old, new)
    await new.facts.set_status(T, ["f0010"], FactStatus.DELETED, at=LATER)
    with pytest.raises(InvalidRequestError, match="erased or changed there later"):
        await copied(old, new)
    plan, proof = await copied(old, new, merge=True)
    assert (plan.kept, proof.kept, proof.equal) == ({"f0010"}, 1, True)
    assert await new.facts.get(T, ["f0010"]) == []


async def test_an_erased_source_gets_no_facts_again(both):
    old, new = both
    await fill(old)
    await copied(old, new)
    erased = await new.graph.get_source(T, "source-1")
    await new.facts.erase_source(T, "source-1", at=LATER)
    await new.graph.put_source(replace(erased, status=SourceStatus.ERASED, uri="", document_hash=""))
    await old.facts.upsert(facts(1, 300))
    _, proof = await copied(old, new, merge=True)
    assert proof.equal
    assert await new.facts.count(T) == 0


async def test_what_changed_there_later_is_not_overwritten(both):
    old, new = both
    await fill(old)
    await copied(old, new)
    await new.facts.set_status(T, ["f0010"], FactStatus.QUARANTINED, at=LATER)
    with pytest.raises(InvalidRequestError, match=r"1 that were erased or changed there later.*--merge"):
        await copied(old, new)
    await copied(old, new, merge=True)
    assert (await new.facts.get(T, ["f0010"]))[0].status is FactStatus.QUARANTINED


async def test_other_facts_there_are_refused_and_kept_with_merge(both):
    old, new = both
    await fill(old)
    await new.facts.upsert(facts(3, 700))
    await new.graph.put_source(source("theirs"))
    with pytest.raises(InvalidRequestError, match="4 other facts and sources"):
        await copied(old, new)
    assert await new.facts.count(T, ALL) == 3
    _, proof = await copied(old, new, merge=True)
    assert (proof.others, proof.equal) == (4, True)
    assert proof.state[0] != proof.state[1]
    assert await new.facts.count(T, ALL) == 24


async def test_a_merge_leaves_a_clustering_that_is_there(pair):
    old, new = pair
    await fill(old)
    await new.facts.upsert(facts(3, 700))
    await new.graph.replace_communities(ClusteringRecord(T, 9, NOW, 3, MODEL), [CommunityRecord(T, "x", 3, 9)])
    plan, proof = await copied(old, new, merge=True)
    assert not plan.communities
    assert proof.equal
    assert (await new.graph.clustering(T)).epoch == 9


async def test_a_uri_that_is_taken_there_is_told_before_anything_is_written(pair):
    old, new = pair
    await fill(old)
    await new.graph.put_source(source("theirs", uri="file:///source-1"))
    with pytest.raises(InvalidRequestError, match="file:///source-1"):
        await copied(old, new, merge=True)
    assert await new.facts.count(T, ALL) == 0


async def test_another_embedding_model_is_refused(pair):
    old, new = pair
    await fill(old)
    await old.facts.upsert(facts(1, 300, embedding_model="other@2+sha256:00"))
    with pytest.raises(InvalidRequestError, match="other@2"):
        await copied(old, new)
    assert await new.facts.count(T, ALL) == 0


@pytest.mark.parametrize("status", [SourceStatus.INGESTING, SourceStatus.ERASING])
async def test_an_unfinished_source_is_refused(pair, status):
    old, new = pair
    await fill(old)
    await old.graph.put_source(source("half", status=status))
    with pytest.raises(InvalidRequestError, match=r"broken off.*half"):
        await copied(old, new)


CHANGES: dict[str, dict[str, Any]] = {
    "content": {"content": "other", "content_hash": digest("other")},
    "status": {"status": FactStatus.STALE},
    "location": {"source_location": "p. 2"},
    "source": {"source_id": "source-2"},
    "importance": {"importance_weight": 0.6},
    "ingested": {"ingested_at": LATER},
    "modified": {"modified_at": LATER},
    "vector": {"embedding": np.nextafter(random_vectors(1, 1)[0], 2, dtype=np.float32)},
    "model": {"embedding_model": "x"},
    "community": {"community_label": "c"},
    "ttl": {"ttl": timedelta(microseconds=1)},
    "entities": {"entities": (Entity(EntityKind.DATE, "c", 0, 1),)},
    "metadata": {"metadata": {"a": "b"}},
    "superseded": {"superseded_at": LATER},
    "from": {"valid_from": NOW},
    "to": {"valid_to": NOW},
}


@pytest.mark.parametrize("name", CHANGES)
async def test_the_proof_fails_on_any_difference_of_a_fact(pair, name):
    old, new = pair
    await old.facts.upsert(facts(3))
    copying = StoreCopy(old, new, MODEL, nothing)
    plan = await copying.plan(T, merge=False)
    await copying.carry_out(plan)
    assert (await copying.prove(plan)).equal
    await new.facts.upsert([replace(facts(3)[0], **CHANGES[name])])
    assert not (await copying.prove(plan)).equal


async def test_the_proof_fails_on_a_lost_fact_a_source_and_a_community(pair):
    old, new = pair
    await fill(old)
    copying = StoreCopy(old, new, MODEL, nothing)
    plan = await copying.plan(T, merge=False)
    await copying.carry_out(plan)
    await new.facts.delete(T, ["f0012"])
    assert not (await copying.prove(plan)).equal
    await copied(old, new)
    await new.graph.put_source(source("source-1", title="another"))
    assert not (await copying.prove(plan)).equal
    await copied(old, new)
    await new.graph.replace_communities(ClusteringRecord(T, 3, NOW, 20, MODEL), [])
    assert not (await copying.prove(plan)).equal


async def test_counted_accesses_go_along_and_are_no_part_of_the_proof(pair):
    old, new = pair
    await fill(old)
    await copied(old, new)
    assert (await new.facts.get(T, ["f0100"]))[0].access_count == 4
    picture = await take_picture(old, T, nothing)
    await old.facts.touch(T, ["f0100"], at=LATER)
    assert (await take_picture(old, T, nothing)).facts == picture.facts
