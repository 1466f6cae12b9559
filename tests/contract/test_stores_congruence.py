"""Random sequences of calls, made to the memory store and to SQLite alike: every answer must be the same."""

import random
from datetime import timedelta

import pytest

from services.common.errors import ConflictError
from services.common.ports.facts import FactFilter, FactStatus
from services.common.ports.session_lists import SessionFilter
from services.common.ports.sessions import EdgeRecord, SessionChange, TransferType
from services.common.taxonomy import WindowStatus
from tests.contract.adapters import FACT_STORES, SESSION_STORES, durable, parameters
from tests.contract.records import NOW, event, fact, random_vectors, receipt, report, session, window

TENANTS = ("tenant-a", "tenant-b")
WORDS = ["hail", "storm", "premium", "refund", "deductible", "claim", "form", "policy", "water", "damage"]


def random_filter(rng: random.Random) -> FactFilter:
    return FactFilter(
        source_ids=tuple(rng.sample(["s0", "s1", "s2"], rng.choice((0, 0, 1, 2)))),
        communities=tuple(rng.sample(["", "c0", "c1"], rng.choice((0, 0, 1, 2)))),
        statuses=tuple(rng.sample(list(FactStatus), rng.choice((0, 1, 2, 4)))),
    )


def random_fact(rng: random.Random, vectors, tenant: str):
    return fact(
        f"f{rng.randrange(40):02}",
        tenant_id=tenant,
        content=" ".join(rng.choices(WORDS, k=rng.randrange(1, 12))),
        source_id=f"s{rng.randrange(3)}",
        community_label=rng.choice(("", "c0", "c1")),
        status=rng.choice((FactStatus.ACTIVE, FactStatus.ACTIVE, *FactStatus)),
        embedding=vectors[rng.randrange(len(vectors))],
    )


def fact_call(rng: random.Random, step: int):
    """Return one random call as a function of a store."""
    tenant, at = rng.choice(TENANTS), NOW + timedelta(seconds=step)
    ids = [f"f{rng.randrange(40):02}" for _ in range(rng.randrange(6))]
    vectors = random_vectors(99, 25)  # few enough that ties happen
    where, limit = random_filter(rng), rng.randrange(12)
    batch = [random_fact(rng, vectors, rng.choice(TENANTS)) for _ in range(rng.randrange(1, 9))]
    query = " ".join(rng.choices([*WORDS, "unknown", '"OR"'], k=rng.randrange(4)))
    status, labels = rng.choice(list(FactStatus)), {name: rng.choice(("", "c0", "c1")) for name in ids}
    source = f"s{rng.randrange(3)}"
    calls = {
        "upsert": (6, lambda store: store.upsert(batch)),
        "get": (2, lambda store: store.get(tenant, ids)),
        "page": (2, lambda store: store.page(tenant, where, after=(ids or [""])[0], limit=limit)),
        "search": (6, lambda store: store.search(tenant, vectors[:3], limit=limit, where=where)),
        "search_text": (4, lambda store: store.search_text(tenant, query, limit=limit, where=where)),
        "set_status": (3, lambda store: store.set_status(tenant, ids, status, at=at)),
        "set_communities": (2, lambda store: store.set_communities(tenant, labels)),
        "touch": (1, lambda store: store.touch(tenant, ids, at=at)),
        "ids": (1, lambda store: store.fact_ids_of_source(tenant, source)),
        "erase": (1, lambda store: store.erase_source(tenant, source, at=at)),
        "delete": (1, lambda store: store.delete(tenant, ids)),
        "count": (2, lambda store: store.count(tenant, where)),
        "state": (2, lambda store: collected(store.state_entries(tenant, list(where.communities)))),
    }
    name = rng.choices(list(calls), weights=[weight for weight, _ in calls.values()])[0]
    return name, calls[name][1]


async def collected(stream):
    return [one async for one in stream]


def comparable(name: str, answer):
    if name == "search":
        return [[(hit.fact, hit.score) for hit in hits] for hits in answer]
    if name == "search_text":
        return sorted((round(hit.score, 9), hit.fact.fact_id) for hit in answer)
    return answer


@pytest.mark.tenth(share=3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("adapter", parameters(durable(FACT_STORES)))
async def test_facts(adapter, seed, tmp_path):
    rng = random.Random(seed)
    reference, store = await FACT_STORES[0].open(tmp_path), await adapter.open(tmp_path)
    for step in range(150):
        name, call = fact_call(rng, step)
        expected, answer = await call(reference), await call(store)
        assert comparable(name, answer) == comparable(name, expected), (step, name)
        if rng.random() < 0.02:
            await store.close()
            store = await adapter.open(tmp_path)
    await store.close()


def random_change(rng: random.Random, versions: dict[tuple[str, str], int], step: int) -> SessionChange:
    tenant, name = rng.choice(TENANTS), f"session-{rng.randrange(4)}"
    version = versions.get((tenant, name), 0) + rng.choice((1, 1, 1, 1, 0, 2))
    windows = tuple(
        window(
            name,
            number,
            window_id=f"w{rng.randrange(12)}",
            parent_ids=("w0",) if rng.random() < 0.8 else (),
            status=rng.choice(list(WindowStatus)),
            continuation_id=rng.choice(("", f"c{rng.randrange(30)}")),
        )
        for number in range(1, rng.randrange(1, 4))
    )
    first = max(0, version - 1)
    return SessionChange(
        session(name, version, tenant_id=tenant, created_at=NOW + timedelta(seconds=rng.randrange(3))),
        windows=windows,
        edges=tuple(EdgeRecord(name, "w0", one.window_id, TransferType.SUMMARY, step) for one in windows),
        events=(event(name, first if rng.random() < 0.9 else first + 1),),
        reports=(report(name, f"r{rng.randrange(40)}", body=str(step)),) if rng.random() < 0.5 else (),
        receipt=receipt(f"q{rng.randrange(60)}", tenant_id=tenant, response=bytes([step % 256])),
    )


async def written(store, change: SessionChange) -> str:
    try:
        await store.write(change)
    except ConflictError as error:
        return error.reason.value
    return "written"


async def everything(store):
    sessions = [await store.list_sessions(tenant, SessionFilter(), after="", limit=99) for tenant in TENANTS]
    names = [(tenant, f"session-{number}") for tenant in TENANTS for number in range(4)]
    return (
        sessions,
        [await store.snapshot(*name) for name in names],
        [await store.page_events(*name, after_sequence=-1, limit=99) for name in names],
        [await store.load(*name, limit=limit) for name in names for limit in (2, 99)],
        [await store.page_reports(tenant, "", after="", limit=99) for tenant in TENANTS],
        [await store.get_receipt(tenant, "IngestSource", f"q{n}") for tenant in TENANTS for n in range(60)],
        [await store.find_continuation(tenant, f"c{n}") for tenant in TENANTS for n in range(30)],
    )


@pytest.mark.tenth(share=3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("adapter", parameters(durable(SESSION_STORES)))
async def test_sessions(adapter, seed, tmp_path):
    rng = random.Random(seed)
    reference, store = await SESSION_STORES[0].open(tmp_path), await adapter.open(tmp_path)
    versions: dict[tuple[str, str], int] = {}
    outcomes = []
    for step in range(120):
        change = random_change(rng, versions, step)
        expected, outcome = await written(reference, change), await written(store, change)
        assert outcome == expected, step
        outcomes.append(outcome)
        if outcome == "written":
            versions[change.session.tenant_id, change.session.session_id] = change.session.version
        if step % 30 == 29:
            assert await everything(store) == await everything(reference)
    assert {"written", "COMMIT_RACE"} == set(outcomes)
    await store.close()
