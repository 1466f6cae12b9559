"""The head that was kept against the log, where nothing but the one or the other tells (ADR 0099, ADR 0102)."""

import pytest
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import transparency_service_pb2 as transparency

from tests.fakes.dag_world import fresh_uuid
from tests.fakes.raw_sessions import TENANT, RawSessions


@pytest.fixture
def raw(tmp_path):
    return RawSessions(tmp_path)


async def head(client, **fields):
    return (await client.ask_log("GetTreeHead", transparency.GetTreeHeadRequest(**fields))).tree_head


async def no_head(client):
    """Return why no head is signed."""
    refusal = await client.log_fails("GetTreeHead", transparency.GetTreeHeadRequest())
    assert refusal.reason == "LOG_INCONSISTENT"
    return refusal.metadata["detail"]


async def test_an_older_one_put_back_under_a_running_server_is_missed_without_witnesses(raw):
    """It is one that was kept, and the log goes on from it: this process knows that it kept a later one."""
    async with raw.serving() as client:
        await client.window()
        assert (await head(client)).tree_size == 5
        older = raw.rows("SELECT * FROM heads WHERE tenant_id = ?", TENANT)
        await client.window()
        assert (await head(client)).tree_size == 10
        raw.run("DELETE FROM heads WHERE tenant_id = ?", TENANT)
        raw.run("INSERT INTO heads VALUES (?, ?, ?, ?, ?)", *older[0])
        assert await no_head(client) == "the head that was kept of size 10 is gone"


async def test_one_of_the_log_that_nobody_kept_is_refused(raw):
    """Size and root are the log's own: the MAC alone tells."""
    async with raw.serving() as client:
        await client.window()
        await client.window()
        earlier = await head(client, tree_size=5)
        assert (await head(client)).tree_size == 10
    raw.run("UPDATE heads SET size = 5, root = ? WHERE tenant_id = ?", earlier.root_hash, TENANT)
    async with raw.serving() as client:
        assert await no_head(client) == "the head that was kept was changed"


async def test_no_head_is_signed_that_does_not_go_on_from_it(raw):
    """A hash that was changed under a running server, where no write looks at it again."""
    async with raw.serving() as client:
        first = await client.window()
        second = await client.window(first.session_token)
        third = await client.window(second.session_token)
        event = pb.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=third.session.session_id,
            event_type="AUDIT_EVENT_TYPE_TOOL_CALL",
            data="{}",
        )
        await client.call("AppendEvent", event)
        assert (await head(client)).tree_size == 16
        raw.run(
            "UPDATE leaves SET subtrees = zeroblob(length(subtrees)) WHERE tenant_id = ? AND leaf_index = 15", TENANT
        )
        await client.window()
        assert await no_head(client) == "its head of size 21 does not belong with the one of size 16"


async def test_a_token_brings_no_session_back_that_this_store_has_lost(raw):
    """Taken over it would be another session under its id, and what it held would never be missed."""
    async with raw.serving() as client:
        first = await client.window()
        name = first.session.session_id
        raw.put_back(name, {table: [] for table in ("windows", "edges", "events", "reports", "sessions")})
        request = pb.OpenWindowRequest(
            request_id=fresh_uuid(), session_token=first.session_token, available_budget_tokens=1000
        )
        refusal = await client.fails("OpenWindow", request)
        assert refusal.reason == "CHAIN_BROKEN"
        assert "names windows of this store" in (await said(client, request))
        assert raw.rows("SELECT session_id FROM sessions WHERE session_id = ?", name) == []


async def said(client, request):
    """Return the message of a refusal."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any refusal
        await client.call("OpenWindow", request)
    return str(caught.value)
