"""Held answers on the disk: they outlive the process, show no word of their text, and go with their session.

The suite is the real one in one process with its stores in files; only generated stubs speak to it.
"""

import contextlib
from typing import Any

import grpc
from crp.gateway.v1 import review_pb2
from crp.gateway.v1 import review_service_pb2 as pb
from crp.gateway.v1.review_service_pb2_grpc import ReviewServiceStub

from services.allinone.embedded import embedded
from services.common.adapters.sqlite import SqliteCredentialStore, SqliteSessionStore
from services.common.adapters.sqlite.reviews import SqliteReviewStore
from services.common.settings import ReviewSettings, Settings, StoreSettings
from tests.fakes.dag_world import fresh_uuid
from tests.patience import patient
from tests.rpc.test_gateway_envelope import refusal
from tests.rpc.test_gateway_erasure import FACT, QUERY, SECRET, erase
from tests.rpc.test_gateway_retrieval import ingest_facts
from tests.rpc.test_gateway_suite import Caller, MemoryAdapters
from tests.unit.stores.test_erased_bytes import settled

HELD = {"safety_policy": "oversight human-review"}


@contextlib.asynccontextmanager
async def suite(tmp_path, key=""):
    store = StoreSettings(data_dir=tmp_path, disk_reserve_bytes=0)
    settings = Settings(store=store, reviews=ReviewSettings(author_may_decide=True))
    async with MemoryAdapters(settings) as adapters:
        kept: dict[str, Any] = {
            "_credentials": await SqliteCredentialStore.open(tmp_path / "gateway.db", store),
            "_sessions": await SqliteSessionStore.open(tmp_path / "sessions.db", store),
            "_reviews": await SqliteReviewStore.open(tmp_path / "oversight.db", store),
        }
        for name, one in kept.items():
            setattr(adapters, name, one)
            adapters.closing(one.close)
        async with embedded(settings, adapters=adapters) as system:
            key = key or await system.first_key()
            async with grpc.aio.insecure_channel(system.address) as channel:
                caller: Any = Caller(system, channel, key)
                caller.reviews = ReviewServiceStub(channel)
                caller.key = key
                await ingest_facts(caller, FACT)
                yield caller


async def get(caller, review_id):
    request = pb.GetReviewRequest(review_id=review_id)
    return await caller.reviews.GetReview(request, metadata=caller.metadata, timeout=patient(10))


async def approve(caller, review_id):
    request = pb.DecideReviewRequest(
        request_id=fresh_uuid(), review_id=review_id, decision="REVIEW_STATUS_APPROVED", comment="x", expected_version=1
    )
    return await caller.reviews.DecideReview(request, metadata=caller.metadata, timeout=patient(10))


async def test_a_held_answer_outlives_its_process_sealed(tmp_path):
    async with suite(tmp_path) as caller:
        held = (await caller.ask(QUERY, **HELD)).held_for_review
    assert SECRET.encode() not in await settled(tmp_path)
    async with suite(tmp_path, caller.key) as caller:
        assert SECRET in (await get(caller, held.review_id)).answer_text
        released = (await approve(caller, held.review_id)).response
    assert SECRET in released.answer.text
    async with suite(tmp_path, caller.key) as caller:
        assert (await get(caller, held.review_id)).response == released
    assert SECRET.encode() not in await settled(tmp_path)


async def test_an_erased_session_takes_its_held_answers_along(tmp_path):
    async with suite(tmp_path) as caller:
        held = (await caller.ask(QUERY, **HELD)).held_for_review
        released = (await caller.ask(QUERY, **HELD)).held_for_review
        await approve(caller, released.review_id)
        for each in (held, released):
            await erase(caller, each.session_id)
        refused = [await refusal(get(caller, each.review_id)) for each in (held, released)]
        refused.append(await refusal(approve(caller, held.review_id)))
        listed = await caller.reviews.ListReviews(pb.ListReviewsRequest(), metadata=caller.metadata)
    assert [each.reason for each in refused[:2]] == ["SESSION_CLOSED", "SESSION_CLOSED"]
    assert refused[2].reason == "REVIEW_EXPIRED"
    assert {each.status for each in listed.reviews} == {
        review_pb2.REVIEW_STATUS_EXPIRED,
        review_pb2.REVIEW_STATUS_APPROVED,
    }
    assert b"gtheld1." not in await settled(tmp_path)
