"""What every ``FactStore`` promises about facts that were replaced, and from when to when a fact holds (ADR 0109)."""

from datetime import timedelta

import numpy as np
import pytest

from services.common.ports.facts import FactFilter, FactStatus, TimeFilter
from tests.contract.adapters import DIMENSION, FACT_STORES, parameters
from tests.contract.records import LATER, NOW, fact, random_vectors, vector

SOON = LATER + timedelta(seconds=1)
DAY = timedelta(days=1)
TENANT = "tenant-a"


@pytest.fixture(params=parameters(FACT_STORES))
async def store(request, tmp_path):
    opened = await request.param.open(tmp_path)
    yield opened
    await opened.close()


async def seen(store, time, **restricted):
    """Return what each of the three ways to read finds; they must agree."""
    where = FactFilter(time=time, **restricted)
    paged = [one.fact_id for one in await store.page(TENANT, where, after="", limit=99)]
    (near,) = await store.search(TENANT, vector(1.0)[None], limit=99, where=where)
    by_words = await store.search_text(TENANT, "content", limit=99, where=where)
    assert sorted(hit.fact.fact_id for hit in near) == sorted(hit.fact.fact_id for hit in by_words) == paged
    assert await store.count(TENANT, where) == len(paged)
    return paged


class TestTimes:
    async def test_they_come_back_as_they_were_written(self, store):
        one = fact("a", status=FactStatus.STALE, superseded_at=LATER, valid_from=NOW - 900 * DAY, valid_to=NOW + DAY)
        ancient = fact("b", valid_from=NOW.replace(year=1931), valid_to=NOW.replace(year=2190))
        await store.upsert([one, ancient])
        assert await store.get(TENANT, ["a", "b"]) == [one, ancient]

    async def test_a_read_sees_what_holds_at_its_moment(self, store):
        await store.upsert(
            [
                fact("always"),
                fact("replaced", status=FactStatus.STALE, superseded_at=NOW),
                fact("old", ttl=timedelta(microseconds=1)),
                fact("ended", valid_to=NOW),
                fact("ends", valid_to=LATER),
                fact("begun", valid_from=NOW),
                fact("coming", valid_from=LATER, valid_to=SOON),
            ]
        )
        assert await seen(store, TimeFilter(NOW)) == ["always", "begun", "ends", "old"]
        assert await seen(store, TimeFilter(NOW, ended=True)) == ["always", "begun", "ended", "ends", "old", "replaced"]
        assert await seen(store, TimeFilter(NOW, coming=True)) == ["always", "begun", "coming", "ends", "old"]
        assert await seen(store, TimeFilter(LATER)) == ["always", "begun", "coming", "old"]
        assert await seen(store, TimeFilter(SOON)) == ["always", "begun", "old"]
        assert len(await seen(store, None)) == 7
        assert await seen(store, TimeFilter(NOW), source_ids=("source-1",)) == ["always", "begun", "ends", "old"]
        assert await seen(store, TimeFilter(NOW), statuses=(FactStatus.STALE,)) == []

    async def test_what_does_not_hold_takes_nobodys_place(self, store):
        """A limit of 5 gives 5 facts that hold, however many nearer ones do not."""
        rows = random_vectors(5, 400)
        order = np.argsort(-(rows @ vector(1.0)))
        replaced = set(order[:300].tolist())
        await store.upsert(
            [
                fact(
                    f"f{n:03}",
                    embedding=row,
                    content="the same content" if n % 2 else "content",
                    superseded_at=NOW if n in replaced else None,
                    status=FactStatus.STALE if n in replaced else FactStatus.ACTIVE,
                )
                for n, row in enumerate(rows)
            ]
        )
        where = FactFilter(time=TimeFilter(LATER))
        (near,) = await store.search(TENANT, vector(1.0)[None], limit=5, where=where)
        assert [hit.fact.fact_id for hit in near] == [f"f{n:03}" for n in order[300:305]]
        assert len(await store.search_text(TENANT, "content", limit=5, where=where)) == 5

    async def test_the_next_turn_is_the_first_moment_behind(self, store):
        assert await store.next_turn(TENANT, NOW) is None
        await store.upsert(
            [
                fact("a", valid_from=LATER, valid_to=NOW + DAY),
                fact("b", valid_to=NOW),
                fact("withheld", valid_to=LATER + timedelta(microseconds=9), status=FactStatus.QUARANTINED),
                fact("theirs", tenant_id="tenant-b", valid_to=NOW + timedelta(microseconds=1)),
            ]
        )
        assert await store.next_turn(TENANT, NOW - DAY) == NOW
        assert await store.next_turn(TENANT, NOW) == LATER
        assert await store.next_turn(TENANT, LATER) == NOW + DAY
        assert await store.next_turn(TENANT, NOW + DAY) is None
        await store.supersede(TENANT, ["a"], ended_at=LATER, at=LATER)
        assert await store.next_turn(TENANT, NOW) is None


class TestReplaced:
    async def test_superseding_marks_once(self, store):
        withheld = fact("withheld", status=FactStatus.QUARANTINED)
        await store.upsert([fact("a"), fact("b", valid_to=LATER), withheld, fact("gone", status=FactStatus.DELETED)])
        ids = ["a", "withheld", "a", "gone", "nope"]
        assert await store.supersede(TENANT, ids, ended_at=NOW, at=LATER) == 2
        assert await store.supersede(TENANT, ids, ended_at=SOON, at=SOON) == 0
        assert await store.get(TENANT, ["a", "withheld"]) == [
            fact("a", status=FactStatus.STALE, superseded_at=NOW, modified_at=LATER),
            fact("withheld", status=FactStatus.QUARANTINED, superseded_at=NOW, modified_at=LATER),
        ]
        assert await seen(store, TimeFilter(NOW)) == ["b"]
        assert await store.supersede("tenant-b", ["b"], ended_at=NOW, at=LATER) == 0

    async def test_what_is_replaced_later_stands_until_then(self, store):
        withheld = fact("withheld", status=FactStatus.QUARANTINED)
        await store.upsert([fact("a"), withheld, fact("b"), fact("c", valid_to=NOW + DAY)])
        assert await store.supersede(TENANT, ["a", "withheld"], ended_at=SOON, at=NOW) == 2
        assert await store.get(TENANT, ["a", "withheld"]) == [
            fact("a", superseded_at=SOON, modified_at=NOW),
            fact("withheld", status=FactStatus.QUARANTINED, superseded_at=SOON, modified_at=NOW),
        ]
        assert await seen(store, TimeFilter(LATER)) == ["a", "b", "c"]
        assert await seen(store, TimeFilter(SOON)) == ["b", "c"]
        assert await store.next_turn(TENANT, LATER) == SOON
        # another version may still move that end, until it is over
        assert await store.supersede(TENANT, ["a"], ended_at=NOW + DAY, at=LATER) == 1
        assert await seen(store, TimeFilter(SOON)) == ["a", "b", "c"]
        assert await store.supersede(TENANT, ["a"], ended_at=LATER, at=LATER) == 1
        assert await store.supersede(TENANT, ["a"], ended_at=SOON, at=SOON) == 0
        assert await store.get(TENANT, ["a"]) == [
            fact("a", status=FactStatus.STALE, superseded_at=LATER, modified_at=LATER)
        ]
        assert await store.reinstate(TENANT, ["withheld"], at=LATER) == 1

    async def test_reinstating_takes_the_mark_off(self, store):
        await store.upsert([fact("a"), fact("withheld", status=FactStatus.QUARANTINED), fact("b", valid_to=SOON)])
        await store.supersede(TENANT, ["a", "withheld", "b"], ended_at=NOW, at=NOW)
        assert await store.reinstate(TENANT, ["a", "withheld", "b", "nope"], at=LATER) == 3
        assert await store.reinstate(TENANT, ["a"], at=SOON) == 0
        assert await store.get(TENANT, ["a", "withheld", "b"]) == [
            fact("a", modified_at=LATER),
            fact("withheld", status=FactStatus.QUARANTINED, modified_at=LATER),
            fact("b", valid_to=SOON, modified_at=LATER),
        ]
        assert await seen(store, TimeFilter(LATER)) == ["a", "b"]
        assert await seen(store, TimeFilter(SOON)) == ["a"]

    async def test_withholding_and_restoring_keep_the_mark(self, store):
        await store.upsert([fact("a")])
        await store.supersede(TENANT, ["a"], ended_at=NOW, at=NOW)
        await store.set_status(TENANT, ["a"], FactStatus.QUARANTINED, at=LATER)
        await store.set_status(TENANT, ["a"], FactStatus.ACTIVE, at=SOON)
        (found,) = await store.get(TENANT, ["a"])
        assert (found.status, found.superseded_at) == (FactStatus.ACTIVE, NOW)
        assert await seen(store, TimeFilter(LATER)) == []

    async def test_what_is_written_again_has_the_mark_that_it_is_written_with(self, store):
        await store.upsert([fact("a")])
        await store.supersede(TENANT, ["a"], ended_at=NOW, at=NOW)
        await store.upsert([fact("a", embedding=vector(*[0.1] * DIMENSION))])
        assert await seen(store, TimeFilter(LATER)) == ["a"]

    async def test_the_state_tells_of_it(self, store):
        await store.upsert([fact("a")])
        before = [entry async for entry in store.state_entries(TENANT)]
        await store.supersede(TENANT, ["a"], ended_at=NOW, at=LATER)
        after = [entry async for entry in store.state_entries(TENANT)]
        assert before != after
        assert (after[0].status, after[0].modified_at) == (FactStatus.STALE, LATER)

    async def test_erasure_leaves_no_time(self, store):
        await store.upsert([fact("a", valid_from=NOW, valid_to=LATER)])
        await store.supersede(TENANT, ["a"], ended_at=NOW, at=NOW)
        await store.erase_source(TENANT, "source-1", at=LATER)
        (tombstone,) = await store.page(TENANT, FactFilter(statuses=()), after="", limit=9)
        assert (tombstone.superseded_at, tombstone.valid_from, tombstone.valid_to) == (None, None, None)
