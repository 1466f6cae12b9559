"""The kept state hash against one that reads everything, after any sequence of writes (SPEC-003 §11.3, ADR 0068)."""

import asyncio
import hashlib
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.adapters.sqlite import SqliteFactStore, fact_changes
from services.common.ports.facts import FactRecord, FactStatus
from services.common.ports.graph import ClusteringRecord
from services.common.settings.stores import StoreSettings
from services.envelope.state_hashes import StateHashes
from tests.tenth import examples

NOW = datetime(2026, 5, 24, 9, 0, tzinfo=UTC)
MODEL = "m1"
LABELS = ("", "x", "y", "z")
IDS = tuple(f"f{number}" for number in range(8))
SELECTIONS = ((), ("",), ("x",), ("x", "y"), ("y", "unknown"))

ids = st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True)
writes = st.one_of(
    st.tuples(st.just("upsert"), ids, st.sampled_from(LABELS)),
    st.tuples(st.just("label"), ids, st.sampled_from(LABELS)),
    st.tuples(st.just("status"), ids, st.sampled_from(list(FactStatus))),
    st.tuples(st.just("erase"), st.sampled_from(["s0", "s1"]), st.none()),
    st.tuples(st.just("delete"), ids, st.none()),
    st.tuples(st.just("touch"), ids, st.none()),
    st.tuples(st.just("recluster"), st.none(), st.none()),
)


def record(fact_id, tick, community=""):
    return FactRecord(
        tenant_id="t",
        fact_id=fact_id,
        content=f"{fact_id} at {tick}",
        content_hash=f"{tick:064x}",
        source_id=f"s{int(fact_id[1:]) % 2}",
        source_location="",
        importance_weight=0.5,
        ingested_at=NOW,
        modified_at=NOW + timedelta(seconds=tick),
        status=FactStatus.ACTIVE,
        embedding=np.eye(1, 4, dtype=np.float32)[0],
        community_label=community,
    )


async def perform(store, graph, tick, kind, target, value):
    at = NOW + timedelta(seconds=tick)
    match kind:
        case "upsert":
            await store.upsert([record(fact_id, tick, value) for fact_id in target])
        case "label":
            await store.set_communities("t", dict.fromkeys(target, value))
        case "status":
            await store.set_status("t", target, value, at=at)
        case "erase":
            await store.erase_source("t", target, at=at)
        case "delete":
            await store.delete("t", target)
        case "touch":
            await store.touch("t", target, at=at)
        case "recluster":
            epoch = (await graph.clustering("t")).epoch + 1
            await graph.replace_communities(ClusteringRecord("t", epoch, at, 0, MODEL), [])


async def naive(store, graph, communities):
    """The definition of ADR 0006, over everything that the store holds."""
    wanted = {"", *communities} if communities else None
    entries = []
    for label in LABELS:
        if wanted is None or label in wanted:
            async for entry in store.state_entries("t", (label,)):
                at = entry.modified_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
                entries.append(f"{entry.fact_id}:{entry.content_hash}:{at}:{entry.status.value}")
    epoch = (await graph.clustering("t")).epoch
    text = "|".join([*sorted(entries), f"epoch:{epoch}", f"model:{MODEL}"])
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


async def compare(sequence):
    graph = MemoryKnowledgeGraph()
    options = StoreSettings(synchronous="NORMAL", index_on_disk=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "knowledge.db"
        own, other = [await SqliteFactStore.open(path, options, dimension=4) for _ in range(2)]
        memory = MemoryFactStore(4)
        kept = StateHashes(own, graph, MODEL, shared_store=False)
        read = StateHashes(memory, graph, MODEL, shared_store=True)
        for tick, (by_other, selection, write) in enumerate(sequence):
            await perform(other if by_other else own, graph, tick, *write)
            if write[0] != "recluster":
                await perform(memory, graph, tick, *write)
            expected = await naive(memory, graph, selection)
            assert await kept.of("t", selection) == expected
            assert await read.of("t", selection) == expected
        await own.close()
        await other.close()


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(SELECTIONS), writes), min_size=1, max_size=14))
def test_the_kept_hash_is_the_naive_one_whoever_writes(sequence):
    asyncio.run(compare(sequence))


@pytest.mark.parametrize("most", [0, 2])
def test_a_reader_that_is_far_behind_starts_over(monkeypatch, most):
    for name in ("_CHANGED", "_REMOVED"):
        monkeypatch.setattr(fact_changes, name, getattr(fact_changes, name).replace("10001", str(most + 1)))
    monkeypatch.setattr(fact_changes, "_MOST_CHANGES", most)
    upserts = [(True, SELECTIONS[number % 5], ("upsert", list(IDS[: 1 + number % 4]), "x")) for number in range(9)]
    asyncio.run(compare([*upserts, (True, (), ("delete", list(IDS[:3]), None)), (False, ("x",), upserts[0][2])]))


@pytest.fixture
async def store(tmp_path):
    opened = await SqliteFactStore.open(tmp_path / "knowledge.db", StoreSettings(), dimension=4)
    yield opened
    await opened.close()


async def test_ten_new_facts_beside_three_thousand_move_ten_entries(store):
    facts = [record(f"f{number}", number, f"c{number % 10}" if number % 3 else "") for number in range(3_000)]
    await store.upsert(facts)
    states = StateHashes(store, MemoryKnowledgeGraph(), MODEL, shared_store=False)
    before = await states.of("t", ("c1", "c2"))
    [tenant] = states._tenants.values()
    moved = tenant.index.touched
    assert moved == sum(fact.community_label in {"", "c1", "c2"} for fact in facts)
    await store.upsert([record(f"f{number}", number) for number in range(5_000, 5_010)])
    assert await states.of("t", ("c1", "c2")) != before
    assert tenant.index.touched == moved + 10
    await store.touch("t", ["f1"], at=NOW)
    await states.of("t", ("c1", "c2"))
    assert tenant.index.touched == moved + 10


async def test_a_write_to_a_shared_store_by_another_process_is_seen_by_version(store, tmp_path):
    other = await SqliteFactStore.open(tmp_path / "knowledge.db", StoreSettings(), dimension=4)
    states = StateHashes(store, MemoryKnowledgeGraph(), MODEL, shared_store=True)
    before = await states.version("t")
    await other.upsert([record("f1", 1)])
    assert await states.version("t") != before
    await other.close()


async def test_tenants_do_not_see_each_other(store):
    await store.upsert(
        [record("f1", 1), replace(record("f1", 1), tenant_id="u"), replace(record("f2", 2), tenant_id="u")]
    )
    states = StateHashes(store, MemoryKnowledgeGraph(), MODEL, shared_store=False)
    alone = await states.of("t")
    await store.set_status("u", ["f2"], FactStatus.STALE, at=NOW)
    assert await states.of("t") == alone
    assert await states.of("u") != alone


async def test_entries_beyond_the_limit_forget_the_tenant_asked_for_longest_ago(store, monkeypatch):
    monkeypatch.setattr("services.envelope.state_hashes._MOST_ENTRIES", 3)
    await store.upsert([replace(record(f"f{n}", n), tenant_id=tenant) for tenant in "tuv" for n in range(2)])
    states = StateHashes(store, MemoryKnowledgeGraph(), MODEL, shared_store=False)
    first = await states.of("t")
    for tenant in "uv":
        await states.of(tenant)
    assert list(states._tenants) == ["v"]
    assert await states.of("t") == first
