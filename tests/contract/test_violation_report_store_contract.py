"""What every ``ViolationReportStore`` promises."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from services.common.ports.violation_reports import OutgoingReport, ReportState
from tests.contract.adapters import VIOLATION_REPORT_STORES, durable, shared
from tests.contract.records import HOSTILE, NOW

MOST = 100
LEASE = NOW + timedelta(seconds=20)


def report(report_id="r1", host="a.example", **fields):
    made: dict[str, Any] = {
        "tenant_id": "t",
        "url": f"https://{host}/x",
        "body": b"{}",
        "created_at": NOW,
        "due_at": NOW,
    }
    return OutgoingReport(report_id=report_id, host=host, **(made | fields))


def dead(one, problem="HTTP 410"):
    return replace(one, state=ReportState.DEAD, attempts=1, problem=problem)


@pytest.fixture(params=VIOLATION_REPORT_STORES, ids=lambda adapter: adapter.name)
def adapter(request):
    return request.param


@pytest.fixture
async def store(adapter, tmp_path):
    opened = await adapter.open(tmp_path)
    yield opened
    await opened.close()


async def ids(store, now=NOW, without=(), limit=9):
    return [each.report_id for each in await store.take(now, LEASE, limit, without)]


async def test_what_is_filed_is_taken_once_and_again_when_its_time_is_over(store):
    assert await store.file([report()], MOST) == 0
    assert await store.file([report(body=b"other")], MOST) == 0  # known: nothing is filed twice
    assert await store.take(NOW, LEASE, 9, ()) == [report()]
    assert await ids(store) == []
    assert await ids(store, LEASE) == ["r1"]


async def test_one_of_a_host_is_taken_the_longest_waiting_first_and_none_of_a_busy_one(store):
    later = NOW + timedelta(seconds=1)
    await store.file([report("a2", due_at=later), report("a1"), report("b1", "b.example"), report("c1", "c")], MOST)
    assert set(await ids(store, later, without=["c"])) == {"a1", "b1"}
    assert await ids(store, later, without=["a.example"]) == ["c1"]
    assert await ids(store, later) == ["a2"]
    assert await store.counts() == (4, 0)


async def test_what_was_sent_is_not_filed_again_for_a_day_and_forgotten_then(store):
    await store.file([report()], MOST)
    await store.settle(replace(report(), state=ReportState.SENT, attempts=1))
    await store.file([report()], MOST)
    assert await ids(store) == []
    tomorrow = NOW + timedelta(hours=24)
    await store.file([report("r2", created_at=tomorrow, due_at=tomorrow)], MOST)
    await store.file([report("r1", created_at=tomorrow, due_at=tomorrow, host="z")], MOST)
    assert set(await ids(store, tomorrow)) == {"r1", "r2"}


async def test_the_queue_is_bounded_the_dead_counted(store):
    assert await store.file([report("r1"), report("r2"), report("r3")], 2) == 1
    await store.settle(dead(report("r1")))
    assert await store.file([report("r4")], 2) == 1
    await store.settle(replace(report("r2"), state=ReportState.SENT))
    assert await store.file([report("r4")], 2) == 0
    assert await store.counts() == (1, 1)


async def test_the_dead_are_listed_and_queued_anew_by_their_tenant_alone(store):
    for name in ("r3", "r1", "r2"):
        await store.file([report(name)], MOST)
        await store.settle(dead(report(name)))
    await store.file([report("x", tenant_id="u")], MOST)
    first = await store.page_dead("t", after="", limit=2)
    assert first == [dead(report("r1")), dead(report("r2"))]
    assert [each.report_id for each in await store.page_dead("t", after="r2", limit=2)] == ["r3"]
    assert await store.replay("u", [], NOW) == 0
    assert await store.replay("t", ["r2", "unknown"], NOW) == 1
    assert await store.replay("t", [], NOW) == 2
    (again, *_) = await store.take(NOW, LEASE, 1, ["never"])
    assert (again.attempts, again.state) == (0, ReportState.QUEUED)


async def test_any_text_is_kept(store):
    for text in HOSTILE:
        hostile = report(text, tenant_id=text, url=text, host=text)
        await store.file([hostile], MOST)
        assert await store.take(NOW, LEASE, 1, ()) == [hostile]
        await store.settle(dead(hostile, text))
        assert await store.page_dead(text, after="", limit=1) == ([dead(hostile, text)] if text else [])


@pytest.mark.parametrize("adapter", durable(VIOLATION_REPORT_STORES), ids=lambda adapter: adapter.name)
async def test_what_was_filed_is_there_after_a_reopen(adapter, tmp_path):
    store = await adapter.open(tmp_path)
    await store.file([report()], MOST)
    await store.close()
    again = await adapter.open(tmp_path)
    assert await ids(again) == ["r1"]
    await again.close()


@pytest.mark.parametrize("adapter", shared(VIOLATION_REPORT_STORES), ids=lambda adapter: adapter.name)
async def test_of_two_processes_one_takes_a_report(adapter, tmp_path):
    stores = [await adapter.open(tmp_path) for _ in range(2)]
    await stores[0].file([report()], MOST)
    taken = await asyncio.gather(*(ids(store) for store in stores))
    assert sorted(taken) == [[], ["r1"]]
    for store in stores:
        await store.close()
