"""ListSessions end to end: what is listed, in which order, for whom, and what becomes of a row that was changed."""

from datetime import timedelta

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.adapters.sqlite import SqliteSessionStore
from services.common.settings.stores import StoreSettings
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.sealed_world import SealedWorld

PLAIN = StoreSettings(disk_reserve_bytes=0, synchronous="NORMAL")


@pytest.fixture(params=["memory", "sqlite"])
async def world(request, tmp_path):
    if request.param == "memory":
        yield SealedWorld()
        return
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", PLAIN)
    yield SealedWorld(store=store)
    await store.close()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def listed(client, subject="alice", **fields):
    return await client.call("ListSessions", pb.ListSessionsRequest(**fields), subject)


async def ids(client, **fields):
    return [one.session.session_id for one in (await listed(client, **fields)).sessions]


async def created(client, **fields):
    request = pb.CreateSessionRequest(request_id=fresh_uuid(), **fields)
    return (await client.call("CreateSession", request)).session.session_id


async def ended(client, session_id):
    request = pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=session_id, reason="done")
    await client.call("TerminateSession", request)


async def test_a_session_is_told_in_brief(client, world):
    first = await client.window(risk="LOW", tier="A")
    second = await client.window(first.session_token, risk="MEDIUM", tier="B")
    await client.open(second.session_token)
    (found,) = (await listed(client)).sessions
    assert (found.session.session_id, found.session.window_count) == (first.session.session_id, 3)
    assert (found.windows_committed, found.last_report_id) == (2, second.report_id)
    assert (found.quality_tier, found.risk_level) == (taxonomy.QUALITY_TIER_B, taxonomy.RISK_LEVEL_MEDIUM)
    assert found.safety_budget == pytest.approx(0.95)
    assert (found.unreadable, found.legal_hold) == (False, False)
    events = await client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=found.session.session_id))
    assert found.updated_time == events.events[-1].timestamp
    assert found.status_time == found.updated_time


async def test_sessions_without_a_report_are_visible_newest_first(client):
    names = [await created(client) for _ in range(3)]
    assert await ids(client) == names[::-1]


async def test_pages_hold_each_session_once_while_others_come(client):
    names = [await created(client) for _ in range(5)]
    found, token = [], ""
    while True:
        page = await listed(client, page_size=2, page_token=token)
        found += [one.session.session_id for one in page.sessions]
        token = page.next_page_token
        if not token:
            break
        await created(client)  # newer than the page's end: on no later page
    assert found == names[::-1]


async def test_filters(client, world):
    parent = await created(client)
    child = await created(client, agent_session_parent=parent)
    world.clock.advance(hours=1)
    third = await created(client)
    await ended(client, child)
    since = {one.session.session_id: one for one in (await listed(client)).sessions}
    assert await ids(client, status=dag_pb2.SESSION_STATUS_TERMINATED) == [child]
    assert await ids(client, status=dag_pb2.SESSION_STATUS_OPEN) == [third, parent]
    assert await ids(client, agent_session_parent=parent) == [child]
    moment = since[third].session.created_time
    assert await ids(client, opened_since=moment) == [third]
    assert await ids(client, opened_until=moment) == [child, parent]
    assert await ids(client, updated_since=moment) == [third, child]
    assert await ids(client, updated_until=since[child].updated_time) == [third, parent]
    assert since[child].status_time == since[child].updated_time


async def test_only_the_callers_tenant_is_listed_to_whoever_may_read(client):
    name = await created(client)
    assert (await listed(client, "mallory")).sessions == []
    assert [one.session.session_id for one in (await listed(client, "reader")).sessions] == [name]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"status": 99}, ["status"]),
        ({"agent_session_parent": "x"}, ["agent_session_parent"]),
        (
            {"opened_since": {"seconds": -1}, "updated_until": {"seconds": 1, "nanos": -5}},
            ["opened_since", "updated_until"],
        ),
        ({"page_token": "!"}, ["page_token"]),
    ],
)
async def test_what_cannot_be_asked_is_refused(client, fields, wrong):
    refusal = await client.fails("ListSessions", pb.ListSessionsRequest(**fields))
    assert refusal.code.name == "INVALID_ARGUMENT"
    assert list(refusal.fields) == wrong


async def test_a_page_token_holds_for_its_own_filters_and_tenant(client):
    for _ in range(2):
        await created(client)
    token = (await listed(client, page_size=1)).next_page_token
    other = pb.ListSessionsRequest(page_size=1, page_token=token, status=dag_pb2.SESSION_STATUS_OPEN)
    assert (await client.fails("ListSessions", other)).reason == "PAGE_TOKEN_INVALID"
    stolen = pb.ListSessionsRequest(page_size=1, page_token=token)
    assert (await client.fails("ListSessions", stolen, "mallory")).reason == "PAGE_TOKEN_INVALID"


class TestRowsThatWereChanged:
    """Of the SQLite file: one row that cannot be read is named, and the others are listed."""

    @pytest.fixture
    async def world(self, tmp_path):
        store = await SqliteSessionStore.open(tmp_path / "sessions.db", PLAIN)
        yield SealedWorld(store=store)
        await store.close()

    @pytest.mark.parametrize(
        "change",
        [
            "status = 'OPENa'",
            "created_us = 'soon'",
            "legal_hold = 7",
            "version = 'x'",
            "updated_us = x'00'",
            "status_us = 1e30",
        ],
    )
    async def test_one_row_hurts_no_other(self, world, client, change):
        names = [await created(client) for _ in range(3)]

        def spoil(connection):
            connection.execute(f"UPDATE sessions SET {change} WHERE session_id = ?", (names[1],))

        await world.store._database.write(spoil)
        found, token = {}, ""
        for _ in range(4):
            page = await listed(client, page_size=1, page_token=token)
            found |= {one.session.session_id: one.unreadable for one in page.sessions}
            token = page.next_page_token
        assert found == {names[0]: False, names[1]: True, names[2]: False}

    async def test_a_row_that_says_another_time_is_broken(self, world, client):
        name = await created(client)
        for column in ("updated_us", "status_us"):
            await world.store._database.write(
                lambda c, column=column: c.execute(f"UPDATE sessions SET {column} = {column} + 1")
            )
            verdict = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=name))
            assert (verdict.fault.record_kind, verdict.fault.record_id) == ("session", name)
            await world.store._database.write(
                lambda c, column=column: c.execute(f"UPDATE sessions SET {column} = {column} - 1")
            )
        await world.store._database.write(lambda c: c.execute("UPDATE sessions SET legal_hold = 1"))
        verdict = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=name))
        assert verdict.integrity == taxonomy.CHAIN_INTEGRITY_BROKEN

    async def test_every_list_is_a_range_of_an_index(self, world, client):
        from services.common.adapters.sqlite import session_lists as lists

        def plans(connection):
            ordered = "ORDER BY created_us DESC, session_id LIMIT 50"
            base = "SELECT * FROM sessions WHERE tenant_id = 't'"
            statements = [
                f"{base} {ordered}",
                f"{base} AND status = 'OPEN' {ordered}",
                f"{base} AND parent_session_id = 'p' AND parent_session_id <> '' {ordered}",
                lists._DUE.replace("?4", "0")
                .replace("?5", "''")
                .replace("?6", "5")
                .replace("?3", "9")
                .replace("?2", "'OPEN'")
                .replace("?1", "'t'"),
                lists._TENANTS.replace("?1", "''").replace("?2", "5"),
            ]
            return [[row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {one}")] for one in statements]

        for plan in await world.store._database.read(plans):
            assert not any("SCAN sessions" in step or "TEMP B-TREE" in step for step in plan), plan


async def test_the_clock_of_a_list_is_the_trails(client, world):
    name = await created(client)
    world.clock.advance(days=2)
    (found,) = (await listed(client)).sessions
    assert found.session.session_id == name
    assert world.clock.now() - found.updated_time.ToDatetime(tzinfo=world.clock.moment.tzinfo) > timedelta(days=1)
