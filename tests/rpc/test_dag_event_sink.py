"""The event sink over a real store and a real HTTP endpoint: at least once, in order, whatever the endpoint does."""

import asyncio
import json
import sqlite3
import time
from datetime import timedelta
from itertools import chain

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from services.common.adapters.sqlite import SqliteSessionStore
from services.common.clock import SystemClock
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.ports.event_feed import Behind
from services.common.settings.stores import StoreSettings
from services.dag.sink.streaming import CONSUMER
from services.dag.sink_composition import _ndjson_line
from tests.fakes.event_log import append
from tests.fakes.event_receiver import OK, Receiver, in_turn
from tests.fakes.event_sinks import eventually, open_store, sink_settings, streaming
from tests.patience import patient

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
async def store(tmp_path):
    store = await open_store(tmp_path)
    yield store
    await store.close()


@pytest.fixture
async def receiver():
    receiver = await Receiver().listen()
    yield receiver
    await receiver.close()


@pytest.fixture
def settings(tmp_path, receiver):
    return sink_settings(tmp_path, receiver.url)


def ids(events):
    return [event["event_id"] for event in events]


async def settled(feed, among=()):
    """Wait until nothing is left to send: the position is moved after the endpoint answered."""
    async with asyncio.timeout(patient(20)):
        while await feed.behind(CONSUMER, 10, among):  # noqa: ASYNC110 - the position announces nothing
            await asyncio.sleep(0.01)


def first_of_each(events):
    return list(dict.fromkeys(ids(events)))


async def test_every_event_arrives_once_and_in_order(store, receiver, settings):
    sent = [await append(store, "s1", 3), await append(store, "s2", 2), await append(store, "s1", 2)]
    async with streaming(store, settings) as running:
        await receiver.until(lambda: len(receiver.events) == 7)
        more = await append(store, "s2", 2)
        await receiver.until(lambda: len(receiver.events) == 9)
        await settled(store.event_feed())
        assert ids(receiver.events) == [*chain(*sent), *more]
        assert running.metrics.sent == 9
        await eventually(lambda: running.sink.detail == "sending, 0 records wait")
    assert all(request.signed_with() for request in receiver.requests)


async def test_tenants_are_never_in_one_request(store, receiver, settings):
    for tenant in ("tenant-a", "tenant-b"):
        await append(store, f"s-{tenant}", 2, tenant=tenant)
    async with streaming(store, settings):
        await receiver.until(lambda: len(receiver.events) == 4)
    by_tenant = {request.headers["groundtrail-tenant"]: ids(request.events) for request in receiver.requests}
    assert by_tenant == {
        "tenant-a": ["tenant-a/s-tenant-a/0", "tenant-a/s-tenant-a/1"],
        "tenant-b": ["tenant-b/s-tenant-b/0", "tenant-b/s-tenant-b/1"],
    }


async def test_only_the_named_tenants_are_streamed(store, receiver, tmp_path):
    settings = sink_settings(tmp_path, receiver.url, tenants=("tenant-b",))
    for tenant in ("tenant-a", "tenant-b"):
        await append(store, f"s-{tenant}", 2, tenant=tenant)
    async with streaming(store, settings):
        await settled(store.event_feed(), ("tenant-b",))
    assert {request.headers["groundtrail-tenant"] for request in receiver.requests} == {"tenant-b"}
    assert await store.event_feed().behind(CONSUMER, 10) == [Behind("tenant-a", -1, 2)]


async def test_an_outage_blocks_no_write_and_loses_nothing(store, tmp_path):
    gone = await Receiver().listen()
    await gone.close()
    settings = sink_settings(tmp_path, gone.url)
    sent = await append(store, "s1", 3)
    async with streaming(store, settings) as running:
        await eventually(lambda: running.metrics.attempts.total() >= 3)
        sent += await append(store, "s1", 2)
        assert "unreachable" in running.sink.detail
        assert running.metrics.sent == 0
        back = await Receiver().listen(gone.port)
        await back.until(lambda: len(back.events) == 5)
        await settled(store.event_feed())
        await eventually(lambda: running.sink.detail == "sending, 0 records wait")
        assert ids(back.events) == sent
    await back.close()


@pytest.mark.timed
async def test_a_slow_endpoint_delays_no_write(store, receiver, tmp_path):
    settings = sink_settings(tmp_path, receiver.url, timeout_s=300.0)
    go_on = asyncio.Event()

    async def answer(_request):
        await go_on.wait()
        return OK

    receiver.answer = answer
    await append(store, "s1", 1)
    async with streaming(store, settings):
        await eventually(lambda: receiver.requests)
        await append(store, "s1", 20)
        assert (len(receiver.requests), len(receiver.accepted)) == (1, 0)  # the endpoint has not answered yet
        go_on.set()
        await receiver.until(lambda: len(receiver.events) == 21)
    assert ids(receiver.events) == [f"tenant-a/s1/{n}" for n in range(21)]


async def test_retry_after_is_kept_to(store, receiver, settings):
    moments = []
    answers = in_turn((429, {"Retry-After": "1"}))

    async def answer(request):
        moments.append(time.monotonic())
        return await answers(request)

    receiver.answer = answer
    sent = await append(store, "s1", 2)
    async with streaming(store, settings, share=lambda: 0.0) as running:
        await receiver.until(lambda: len(receiver.events) == 2)
        assert running.metrics.attempts["throttled"] == 1
    assert moments[1] - moments[0] > 0.99
    assert ids(receiver.events) == sent


async def test_refused_batches_are_sent_again_with_the_same_ids_and_in_order(store, receiver, settings):
    receiver.answer = in_turn((500, {}), (502, {}), OK, (500, {}))
    sent = await append(store, "s1", 4)
    async with streaming(store, settings) as running:
        await receiver.until(lambda: len(receiver.events) == 4)
        sent += await append(store, "s1", 3)
        await receiver.until(lambda: len(receiver.events) == 7)
        assert running.metrics.attempts["refused"] == 3
    assert ids(receiver.events) == sent
    assert [ids(request.events) for request in receiver.requests[:3]] == [sent[:4]] * 3


async def test_a_batch_that_is_too_large_is_cut_in_halves(store, receiver, settings):
    async def answer(request):
        return (413, {}) if len(request.events) > 2 else OK

    receiver.answer = answer
    sent = await append(store, "s1", 9)
    async with streaming(store, settings):
        await receiver.until(lambda: len(receiver.events) == 9)
    assert ids(receiver.events) == sent
    assert max(len(request.events) for request in receiver.accepted) == 2


async def test_batches_are_bounded_in_events_and_bytes(store, receiver, tmp_path):
    settings = sink_settings(tmp_path, receiver.url, batch_events=40, batch_bytes=4096)
    sent = await append(store, "s1", 90)
    sent += await append(store, "s1", 1, data=json.dumps({"long": "x" * 9000}))
    sent += await append(store, "s1", 1)
    async with streaming(store, settings):
        await receiver.until(lambda: len(receiver.events) == 92)
    assert ids(receiver.events) == sent
    assert all(len(request.body) <= 4096 or len(request.events) == 1 for request in receiver.requests)
    assert [len(request.events) for request in receiver.requests if len(request.body) > 4096] == [1]


async def test_a_nearly_full_disk_keeps_nothing_from_leaving(tmp_path, receiver, settings):
    store = await open_store(tmp_path)
    sent = await append(store, "s1", 3)
    await store.close()
    full = StoreSettings(disk_reserve_bytes=2**62, synchronous="NORMAL")
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", full)
    with pytest.raises(LimitExceededError):
        await append(store, "s1", 1)
    async with streaming(store, settings):
        await receiver.until(lambda: len(receiver.events) == 3)
        await settled(store.event_feed())
    assert ids(receiver.events) == sent
    await store.close()


async def test_a_restart_goes_on_where_it_stopped(store, receiver, settings):
    first = await append(store, "s1", 3)
    async with streaming(store, settings):
        await receiver.until(lambda: len(receiver.events) == 3)
        await settled(store.event_feed())
    second = await append(store, "s1", 3)
    async with streaming(store, settings, holder="another process"):
        await receiver.until(lambda: len(receiver.events) == 6)
    assert ids(receiver.events) == [*first, *second]


async def test_one_process_sends_and_the_other_takes_over(store, receiver, settings):
    async with streaming(store, settings, holder="second") as second:
        await eventually(lambda: second.metrics.sending)
        async with streaming(store, settings, holder="first") as first:
            sent = await append(store, "s1", 3)
            await receiver.until(lambda: len(receiver.events) == 3)
            await settled(store.event_feed())
            assert (first.metrics.sent, second.metrics.sent) == (0, 3)
            assert first.sink.detail == "standby: another process sends"
            await second.sink.close()
            sent += await append(store, "s1", 2)
            await receiver.until(lambda: len(receiver.events) == 5)
            await eventually(lambda: first.metrics.sent == 2)
    assert ids(receiver.events) == sent


async def test_a_claim_that_was_lost_moves_no_position(store, receiver, settings):
    """A sink that slept through its lease while another took over must not speak for what the other did."""
    go_on = asyncio.Event()

    async def answer(_request):
        await go_on.wait()
        return OK

    receiver.answer = answer
    await append(store, "s1", 1)
    feed = store.event_feed()
    async with streaming(store, settings, holder="sleeper") as running:
        await eventually(lambda: receiver.requests)
        later = SystemClock().now() + timedelta(seconds=60)
        assert await feed.claim(CONSUMER, "other", later, later + timedelta(seconds=60))
        go_on.set()
        await receiver.until(lambda: receiver.accepted)
        await eventually(lambda: not running.metrics.sending)
        assert await feed.behind(CONSUMER, 10) == [Behind("tenant-a", -1, 1)]


async def test_a_stop_ends_within_its_grace_and_what_was_cut_off_comes_again(store, receiver, tmp_path):
    settings = sink_settings(tmp_path, receiver.url, stop_grace_s=0.1, timeout_s=300.0)
    never = asyncio.Event()

    async def answer(_request):
        await never.wait()
        return OK

    receiver.answer = answer
    sent = await append(store, "s1", 2)
    async with asyncio.timeout(patient(10)), streaming(store, settings):
        await eventually(lambda: receiver.requests)
    never.set()
    receiver.answer = None
    receiver.accepted.clear()
    async with streaming(store, settings, holder="next"):
        await receiver.until(lambda: first_of_each(receiver.events) == sent)


async def test_an_attempt_under_way_is_waited_for_when_it_ends_within_the_grace(store, receiver, settings):
    go_on = asyncio.Event()

    async def answer(_request):
        await go_on.wait()
        return OK

    receiver.answer = answer
    await append(store, "s1", 2)
    async with streaming(store, settings) as running:
        await eventually(lambda: receiver.requests)
        closing = asyncio.create_task(running.sink.close())
        go_on.set()
        await closing
    assert await store.event_feed().behind(CONSUMER, 10) == []


async def test_data_that_cannot_be_read_and_events_that_are_gone_stop_nothing(store, receiver, settings, tmp_path):
    await append(store, "s1", 1, data="not json")
    await append(store, "s1", 1, event_type="OF_A_LATER_VERSION")
    await append(store, "s1", 2)
    with sqlite3.connect(tmp_path / "sessions.db") as connection:
        connection.execute("DELETE FROM events WHERE sequence = 2")
    async with streaming(store, settings) as running:
        await receiver.until(lambda: len(receiver.events) == 3)
        await settled(store.event_feed())
        assert running.metrics.missing == 1
    assert [event["data"] for event in receiver.events] == [None, {"n": 1}, {"n": 1}]
    assert ids(receiver.events) == ["tenant-a/s1/0", "tenant-a/s1/1", "tenant-a/s1/3"]


class FailingFeed:
    """A feed whose store is away for a few calls."""

    def __init__(self, feed, failures):
        self._feed = feed
        self._failures = failures

    def __getattr__(self, name):
        method = getattr(self._feed, name)

        async def call(*arguments, **options):
            if name in self._failures:
                self._failures.remove(name)
                raise UnavailableError(ErrorReason.STORE_UNAVAILABLE, "the store is away")
            return await method(*arguments, **options)

        return call


async def test_a_store_that_is_away_is_asked_again(store, receiver, settings):
    sent = await append(store, "s1", 3)
    feed = FailingFeed(store.event_feed(), ["claim", "behind", "page", "advance"])
    async with streaming(store, settings, feed=feed):
        await receiver.until(lambda: len(set(ids(receiver.events))) == 3)
        await settled(store.event_feed())
    assert first_of_each(receiver.events) == sent


async def test_a_fault_of_ours_does_not_end_the_stream(store, receiver, settings):
    sent = await append(store, "s1", 2)
    failures = ["once"]

    def encode(tenant_id, record):
        if failures:
            raise RuntimeError(failures.pop())
        return _ndjson_line(tenant_id, record)

    async with streaming(store, settings, encode=encode):
        await receiver.until(lambda: len(receiver.events) == 2)
    assert ids(receiver.events) == sent


async def test_what_it_counts(store, receiver, settings):
    receiver.answer = in_turn((500, {}), (429, {}))
    await append(store, "s1", 3)
    async with streaming(store, settings) as running:
        registry = CollectorRegistry()
        registry.register(running.metrics)
        await receiver.until(lambda: len(receiver.events) == 3)
        await settled(store.event_feed())
        await eventually(lambda: not running.metrics.oldest_s)
        lines = generate_latest(registry).decode().splitlines()
    for line in (
        "groundtrail_event_sink_sent_total 3.0",
        'groundtrail_event_sink_failed_total{outcome="refused"} 1.0',
        'groundtrail_event_sink_failed_total{outcome="throttled"} 1.0',
        'groundtrail_event_sink_failed_total{outcome="unreachable"} 0.0',
        "groundtrail_event_sink_missing_total 0.0",
        "groundtrail_event_sink_lag_records 0.0",
        "groundtrail_event_sink_lag_seconds 0.0",
        "groundtrail_event_sink_active 1.0",
    ):
        assert line in lines
