"""What every ``EventFeed`` promises; the feed comes from a session store, which fills the log that it reads."""

import hashlib
from datetime import timedelta

import pytest

from services.common.ports.event_feed import Behind, FedEvent
from services.common.ports.sessions import SessionChange
from services.common.ports.transparency_log import LeafKind, LogLeaf
from tests.contract.adapters import SESSION_STORES, durable, parameters
from tests.contract.records import NOW, digest, event, session, window

SINK = "event-sink"
FEEDS = tuple(adapter for adapter in SESSION_STORES if "sealed" not in adapter.name)
"""Sealing changes records and not the log: the feed is that of the store beneath."""
UNTIL = NOW + timedelta(seconds=30)


@pytest.fixture(params=parameters(FEEDS))
async def store(request, tmp_path):
    opened = await request.param.open(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
async def feed(store):
    return store.event_feed()


@pytest.fixture(params=parameters(durable(FEEDS)))
def durable_adapter(request):
    return request.param


def leaf(session_id, kind, position):
    name = f"{session_id}/{kind}/{position}"
    return LogLeaf(session_id, kind, name, position, digest(name), hashlib.sha256(name.encode()).digest())


def change(session_id, tenant, version=1, events=(0,), windows=()):
    leaves = [leaf(session_id, LeafKind.WINDOW, number) for number in windows]
    leaves += [leaf(session_id, LeafKind.EVENT, sequence) for sequence in events]
    return SessionChange(
        session(session_id, version, tenant_id=tenant),
        windows=tuple(window(session_id, number) for number in windows),
        events=tuple(event(session_id, sequence) for sequence in events),
        leaves=tuple(leaves),
    )


async def test_an_empty_store_has_nobody_behind(feed):
    assert await feed.behind(SINK, 10) == []
    page = await feed.page("tenant-a", after=-1, limit=10)
    assert (list(page.events), page.through) == ([], -1)


async def test_events_come_in_the_order_of_the_log_and_windows_are_passed_over(store, feed):
    await store.write(change("s1", "tenant-a", events=(0, 1), windows=(1,)))
    await store.write(change("s2", "tenant-a", events=(0,)))
    await store.write(change("s1", "tenant-a", version=2, events=(2,)))
    assert await feed.behind(SINK, 10) == [Behind("tenant-a", -1, 5)]
    first = await feed.page("tenant-a", after=-1, limit=2)
    assert list(first.events) == [FedEvent("s1", 0, 1)]
    assert first.through == 1
    rest = await feed.page("tenant-a", after=first.through, limit=10)
    assert list(rest.events) == [FedEvent("s1", 1, 2), FedEvent("s2", 0, 3), FedEvent("s1", 2, 4)]
    assert rest.through == 4
    assert (await feed.page("tenant-a", after=4, limit=10)).through == 4


async def test_tenants_are_apart(store, feed):
    for tenant in ("tenant-b", "tenant-a", "tenant-c"):
        await store.write(change(f"s-{tenant}", tenant))
    assert [behind.tenant_id for behind in await feed.behind(SINK, 10)] == ["tenant-a", "tenant-b", "tenant-c"]
    assert [behind.tenant_id for behind in await feed.behind(SINK, 2)] == ["tenant-a", "tenant-b"]
    some = await feed.behind(SINK, 1, ("tenant-c", "tenant-x"))
    assert some == [Behind("tenant-c", -1, 1)]
    page = await feed.page("tenant-b", after=-1, limit=10)
    assert list(page.events) == [FedEvent("s-tenant-b", 0, 0)]
    await feed.claim(SINK, "me", NOW, UNTIL)
    assert await feed.advance(SINK, "me", "tenant-b", 0)
    assert [behind.tenant_id for behind in await feed.behind(SINK, 10)] == ["tenant-a", "tenant-c"]


async def test_consumers_are_apart(store, feed):
    await store.write(change("s1", "tenant-a", events=(0, 1)))
    await feed.claim("one", "me", NOW, UNTIL)
    await feed.advance("one", "me", "tenant-a", 1)
    assert await feed.behind("one", 10) == []
    assert await feed.behind("other", 10) == [Behind("tenant-a", -1, 2)]
    assert await feed.claim("other", "you", NOW, UNTIL)


async def test_a_position_moves_forward_only_and_for_the_claims_holder_only(store, feed):
    await store.write(change("s1", "tenant-a", events=(0, 1, 2)))
    assert not await feed.advance(SINK, "me", "tenant-a", 1)
    assert await feed.behind(SINK, 10) == [Behind("tenant-a", -1, 3)]
    assert await feed.claim(SINK, "me", NOW, UNTIL)
    assert await feed.advance(SINK, "me", "tenant-a", 1)
    assert not await feed.advance(SINK, "you", "tenant-a", 2)
    assert await feed.advance(SINK, "me", "tenant-a", 0)
    assert await feed.behind(SINK, 10) == [Behind("tenant-a", 1, 3)]


async def test_one_holder_at_a_time_until_its_claim_runs_out_or_is_released(feed):
    assert await feed.claim(SINK, "me", NOW, UNTIL)
    assert not await feed.claim(SINK, "you", NOW, UNTIL)
    assert await feed.claim(SINK, "me", NOW, UNTIL + timedelta(seconds=9))
    assert not await feed.claim(SINK, "you", UNTIL, UNTIL + timedelta(seconds=9))
    later = UNTIL + timedelta(seconds=9)
    assert await feed.claim(SINK, "you", later, later + timedelta(seconds=30))
    assert not await feed.claim(SINK, "me", later, later + timedelta(seconds=30))
    await feed.release(SINK, "me")
    assert not await feed.claim(SINK, "me", later, later + timedelta(seconds=30))
    await feed.release(SINK, "you")
    assert await feed.claim(SINK, "me", later, later + timedelta(seconds=30))


async def test_positions_and_claims_outlive_the_process(durable_adapter, tmp_path):
    first = await durable_adapter.open(tmp_path)
    await first.write(change("s1", "tenant-a", events=(0, 1)))
    feed = first.event_feed()
    await feed.claim(SINK, "me", NOW, UNTIL)
    await feed.advance(SINK, "me", "tenant-a", 0)
    await first.close()
    second = await durable_adapter.open(tmp_path)
    feed = second.event_feed()
    assert await feed.behind(SINK, 10) == [Behind("tenant-a", 0, 2)]
    assert not await feed.claim(SINK, "you", NOW, UNTIL)
    assert await feed.claim(SINK, "you", UNTIL, UNTIL + timedelta(seconds=30))
    await second.close()
