"""What every ``FeedbackStore`` promises."""

from dataclasses import replace

import pytest

from services.common.ports.feedback import FeedbackRecord
from tests.contract.adapters import FEEDBACK_STORES, durable
from tests.contract.records import HOSTILE, LATER, NOW


def said(feedback_id="f1", **fields):
    made = {"tenant_id": "t", "report_id": "p1", "session_id": "s", "claim_id": "c1", "verdict": "SUPPORTED"}
    made |= {"right": False, "expected": "CONTRADICTED", "given_by": "alice", "given_at": NOW}
    return FeedbackRecord(feedback_id=feedback_id, **(made | fields))


@pytest.fixture(params=FEEDBACK_STORES, ids=lambda adapter: adapter.name)
def adapter(request):
    return request.param


@pytest.fixture
async def store(adapter, tmp_path):
    opened = await adapter.open(tmp_path)
    yield opened
    await opened.close()


async def test_the_last_word_stands(store):
    await store.put(said())
    await store.put(replace(said(), right=True, expected="", given_at=LATER))
    assert await store.page("t", "", after="", limit=9) == [replace(said(), right=True, expected="", given_at=LATER)]


async def test_pages_go_by_id_within_tenant_and_report(store):
    for name in ("c", "a", "b"):
        await store.put(said(name))
    await store.put(said("d", report_id="p2"))
    await store.put(said("e", tenant_id="u"))
    assert [one.feedback_id for one in await store.page("t", "", after="a", limit=2)] == ["b", "c"]
    assert [one.feedback_id for one in await store.page("t", "p2", after="", limit=9)] == ["d"]


async def test_any_text_is_kept(store):
    for text in HOSTILE:
        hostile = said("x", tenant_id=text, report_id=text, given_by=text)
        await store.put(hostile)
        assert await store.page(text, text, after="", limit=9) == [hostile]


@pytest.mark.parametrize("adapter", durable(FEEDBACK_STORES), ids=lambda adapter: adapter.name)
async def test_it_is_there_after_a_reopen(adapter, tmp_path):
    store = await adapter.open(tmp_path)
    await store.put(said())
    await store.close()
    again = await adapter.open(tmp_path)
    assert await again.page("t", "", after="", limit=9) == [said()]
    await again.close()
