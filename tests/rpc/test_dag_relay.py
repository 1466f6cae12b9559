"""Stateless relay: an instance that never saw the session goes on from the token (SPEC-004 §10.2, ADR 0102)."""

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as pb

from services.common.settings.dag import DagSettings
from tests.fakes.dag_world import TIERS, CountingIds, World, fresh_uuid
from tests.unit.dag import independent


def another_instance(**fields):
    return World(ids=CountingIds(prefix="y"), **fields)


async def test_another_instance_goes_on_from_the_token():
    here, there = World(), another_instance(settings=DagSettings(max_windows=9))
    async with here.serving() as client:
        first = await client.window(tier="A")
        second = await client.window(first.session_token, tier="B", risk="HIGH")
    async with there.serving() as client:
        opened = await client.open(second.session_token, continuation_ids=[second.continuation_id])
        assert opened.session.session_id == first.session.session_id
        assert opened.window.window_number == 3
        assert opened.chain_integrity == taxonomy.CHAIN_INTEGRITY_PARTIAL
        assert list(opened.quality_history) == [TIERS["A"], TIERS["B"]]
        assert opened.safety_budget == 0.85
        assert opened.session.limits.max_windows == 5
        assert opened.parents[0].skipped[0] == "FULL_CONTEXT: the parent's response is not in this store"
        third = await client.commit(opened, "Third.", tier="C")
        assert third.chain_integrity == taxonomy.CHAIN_INTEGRITY_PARTIAL
        assert third.dag_root == ""
        assert third.set_session.endswith("Window=3; QualityHistory=A,B,C")
        fourth = await client.window(third.session_token, tier="C")
        assert fourth.set_session.endswith("Window=4; QualityHistory=A,B,C,C")
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
        assert verified.integrity == taxonomy.CHAIN_INTEGRITY_PARTIAL
        assert (verified.windows_verified, verified.windows_total) == (2, 3)
        assert verified.partial_reason
    key = independent.session_key(there.keys._current.secret.hex(), first.session.session_id, "hmac")
    from services.common.encoding import iso_micros

    held = there.held(first.session.session_id).windows[third.window.window_id]
    fields = {
        "session_id": held.session_id,
        "window_number": 3,
        "timestamp": iso_micros(held.timestamp),
        "response_text": "Third.",
        "report_hash": held.report_hash,
    }
    assert third.window.hmac == independent.window(key, fields, [second.window.hmac])


async def test_a_changed_stand_in_is_found():
    here, there = World(), another_instance()
    async with here.serving() as client:
        first = await client.window()
    async with there.serving() as client:
        opened = await client.open(first.session_token)
        stand_in = opened.window.parent_ids[0]
        there.tamper(first.session.session_id, stand_in, hmac="0" * 64)
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
        assert (verified.integrity, verified.fault.record_id) == (taxonomy.CHAIN_INTEGRITY_BROKEN, stand_in)


async def test_a_session_without_a_window_is_adopted_too():
    here, there = World(), another_instance()
    async with here.serving() as client:
        created = await client.call(
            "CreateSession", pb.CreateSessionRequest(request_id=fresh_uuid(), safety_budget_ceiling=0.5)
        )
    async with there.serving() as client:
        committed = await client.window(created.session_token)
        assert committed.session.session_id == created.session.session_id
        assert committed.safety_budget == 0.5
        second = await client.window(committed.session_token)
        assert second.chain_integrity == taxonomy.CHAIN_INTEGRITY_VALID


@pytest.mark.parametrize("risk", ["LOW", "CRITICAL"])
async def test_a_complete_session_is_not_continued_elsewhere(risk):
    here = World(settings=DagSettings(max_windows=1))
    async with here.serving() as client:
        last = await client.window(risk=risk)
    async with another_instance().serving() as client:
        request = pb.OpenWindowRequest(
            request_id=fresh_uuid(), session_token=last.session_token, available_budget_tokens=10
        )
        assert (await client.fails("OpenWindow", request)).reason == "SESSION_CLOSED"


async def test_an_adopted_leaf_is_continued_once():
    here, there = World(), another_instance()
    async with here.serving() as client:
        first = await client.window()
    async with there.serving() as client:
        await client.window(first.session_token)
        request = pb.OpenWindowRequest(
            request_id=fresh_uuid(), session_token=first.session_token, available_budget_tokens=10
        )
        assert (await client.fails("OpenWindow", request)).reason == "TOKEN_SPENT"


async def test_without_a_tenant_in_the_token_nothing_is_adopted(monkeypatch):
    from services.dag.domain import token as tokens

    here, there = World(), another_instance()
    with monkeypatch.context() as patched:
        patched.setattr(tokens, "tenant_digest", lambda _: "")
        async with here.serving() as client:
            first = await client.window()
    async with there.serving() as client:
        request = pb.OpenWindowRequest(
            request_id=fresh_uuid(), session_token=first.session_token, available_budget_tokens=10
        )
        assert (await client.fails("OpenWindow", request)).reason == "SESSION_NOT_FOUND"
