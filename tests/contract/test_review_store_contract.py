"""What every ``ReviewStore`` promises."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.errors import ConflictError, ErrorReason, PreconditionError
from services.common.ports.reviews import HeldViolation, ReviewFilter, ReviewPlace, ReviewRecord, ReviewStatus
from tests.contract.adapters import REVIEW_STORES, durable, shared
from tests.contract.records import HOSTILE, LATER, NOW
from tests.unit.stores.test_erased_bytes import settled

ANY = ReviewFilter(NOW)


def review(review_id="r1", **fields):
    made = {
        "tenant_id": "tenant-a",
        "review_id": review_id,
        "session_id": "s1",
        "window_id": "w1",
        "report_id": "p1",
        "reason": "OVERSIGHT_REQUIRED",
        "risk_level": "LOW",
        "violations": (HeldViolation("warn-on LOW", "RISK", "the risk is LOW", "WARNED"),),
        "author": "alice",
        "steps": ("c", "f", "e"),
        "created_at": NOW,
        "expires_at": NOW + timedelta(hours=1),
        "held": b"\x00sealed",
    }
    return ReviewRecord(**(made | fields))


def decided(before, status=ReviewStatus.APPROVED, **fields):
    made = {"decided_at": LATER, "decided_by": "bob", "decision_id": "d1", "decision_hash": "h"}
    return replace(before, status=status, version=before.version + 1, **(made | fields))


@pytest.fixture(params=REVIEW_STORES, ids=lambda adapter: adapter.name)
def adapter(request):
    return request.param


@pytest.fixture
async def store(adapter, tmp_path):
    opened = await adapter.open(tmp_path)
    yield opened
    await opened.close()


async def test_every_field_comes_back_and_the_first_stands(store):
    first, last = review(), decided(review(), settled=False, held=b"anew")
    assert await store.add(first) == first
    assert await store.add(review(author="mallory")) == first
    assert await store.get("tenant-a", "r1") == first
    await store.change(last)
    assert await store.get("tenant-a", "r1") == last
    assert await store.find_decision("tenant-a", "d1") == last
    assert await store.get("tenant-b", "r1") is None
    assert await store.find_decision("tenant-b", "d1") is None
    assert await store.find_decision("tenant-a", "") is None


async def test_of_two_changes_the_first_wins(store):
    await store.add(review())
    changes = [decided(review(), decided_by=name, decision_id=name) for name in "abc"]
    came = await asyncio.gather(*(store.change(each) for each in changes), return_exceptions=True)
    assert [getattr(each, "reason", None) for each in came].count(ErrorReason.ETAG_STALE) == 2
    with pytest.raises(ConflictError):
        await store.change(decided(review("unknown")))


async def test_one_request_decides_about_one_review(store):
    for name in ("r1", "r2"):
        await store.add(review(name))
    await store.change(decided(review("r1")))
    with pytest.raises(PreconditionError) as caught:
        await store.change(decided(review("r2")))
    assert caught.value.reason is ErrorReason.REQUEST_ID_REUSED
    assert await store.get("tenant-a", "r2") == review("r2")
    await store.add(review("r2", tenant_id="tenant-b"))
    await store.change(decided(review("r2", tenant_id="tenant-b")))  # another tenant's id is another id


async def test_pages_go_by_age_without_what_is_held(store):
    for number, name in enumerate(("z", "a", "m")):
        await store.add(review(name, created_at=NOW + timedelta(microseconds=number)))
    await store.add(review("x", tenant_id="tenant-b"))
    first = await store.page("tenant-a", ANY, after=None, limit=2)
    rest = await store.page("tenant-a", ANY, after=ReviewPlace(first[-1].created_at, first[-1].review_id), limit=9)
    assert [each.review_id for each in (*first, *rest)] == ["z", "a", "m"]
    assert {each.held for each in (*first, *rest)} == {b""}


async def test_filters_go_by_session_and_by_what_the_time_makes_of_a_status(store):
    await store.add(review("open"))
    await store.add(review("late", expires_at=NOW))
    await store.add(review("said", session_id="s2"))
    await store.change(decided(review("said", session_id="s2"), ReviewStatus.REJECTED))

    async def ids(**fields):
        return {
            each.review_id for each in await store.page("tenant-a", ReviewFilter(NOW, **fields), after=None, limit=9)
        }

    assert await ids(status=ReviewStatus.PENDING) == {"open"}
    assert await ids(status=ReviewStatus.EXPIRED) == {"late"}
    assert await ids(status=ReviewStatus.REJECTED) == {"said"}
    assert await ids(session_id="s2") == {"said"}
    assert await ids(status=ReviewStatus.APPROVED) == set()


async def test_any_text_is_kept_and_found(store):
    await store.add(review("other"))
    for text in HOSTILE:
        hostile = review(text, tenant_id=text, session_id=text, author=text, reason=text)
        await store.add(hostile)
        assert await store.get(text, text) == hostile
        assert len(await store.page(text, ReviewFilter(NOW, session_id=text), after=None, limit=9)) == 1


@pytest.mark.parametrize("adapter", durable(REVIEW_STORES), ids=lambda adapter: adapter.name)
async def test_what_returned_is_there_after_a_reopen_and_what_was_replaced_is_gone(adapter, tmp_path):
    store = await adapter.open(tmp_path)
    await store.add(review(held=b"the sealed words"))
    await store.change(decided(review(), held=b""))
    await store.close()
    assert b"the sealed words" not in await settled(tmp_path)
    again = await adapter.open(tmp_path)
    assert (await again.get("tenant-a", "r1")).status is ReviewStatus.APPROVED
    await again.close()


@pytest.mark.parametrize("adapter", shared(REVIEW_STORES), ids=lambda adapter: adapter.name)
async def test_two_processes_see_each_others_decisions(adapter, tmp_path):
    one, other = await adapter.open(tmp_path), await adapter.open(tmp_path)
    await one.add(review())
    await other.change(decided(review()))
    assert (await one.get("tenant-a", "r1")).decided_by == "bob"
    for each in (one, other):
        await each.close()
