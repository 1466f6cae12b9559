"""What ``Neo4jSessionStore`` promises beyond the port's contract, on the Neo4j that GROUNDTRAIL_TEST_NEO4J_URI names.

Every statement is profiled in a database that holds enough for a scan to show; 32 writers share one session; the
schema can be made twice, at once, and after half of it.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from neo4j import AsyncManagedTransaction
from pydantic import SecretStr

from services.common.adapters.neo4j import (
    Neo4jSessionStore,
    event_feed,
    published_log,
    session_list_statements,
    session_log,
    session_statements,
)
from services.common.adapters.neo4j.database import Neo4jDatabase, rows_of
from services.common.adapters.neo4j.migrations import GraphSchema, migrate
from services.common.adapters.neo4j.receipts import receipt_key
from services.common.adapters.neo4j.session_log import leaf_key
from services.common.adapters.neo4j.session_records import session_properties
from services.common.adapters.neo4j.session_schema import SESSIONS_SCHEMA
from services.common.adapters.neo4j.values import key, micros, sort_key
from services.common.errors import ConflictError, ErrorReason, UnavailableError
from services.common.merkle import leaf_hash
from services.common.ports.sessions import EdgeRecord, SessionChange, TransferType
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.common.taxonomy import WindowStatus
from tests.contract.records import NOW, digest, event, receipt, report, session, window
from tests.integration.neo4j_profile import RolledBackError, hits, kinds, plan_of, scans

pytestmark = [pytest.mark.needs_neo4j, pytest.mark.timeout(180)]

TENANT = "tenant-a"
SESSIONS = 150
"""Of the tenant; as many again of others."""
EVENTS = 1_000
"""In the chain of session s000."""
STATEMENTS = {
    name: statement
    for module in (session_statements, session_list_statements, session_log, published_log, event_feed)
    for name, statement in vars(module).items()
    if name.isupper() and isinstance(statement, str)
}
WRITERS, STEPS = 32, 2


@pytest.fixture
async def store(emptied_neo4j):
    opened = await Neo4jSessionStore.open(emptied_neo4j)
    yield opened
    await opened.close()


def leaf(name, number) -> LogLeaf:
    record = f"{name}/e{number}"
    return LogLeaf(name, LeafKind.EVENT, record, number, digest(record), leaf_hash(record.encode()))


def written(name, tenant=TENANT, events=3) -> SessionChange:
    return SessionChange(
        session(name, tenant_id=tenant),
        windows=(window(name, 1), window(name, 2)),
        edges=(EdgeRecord(name, f"{name}/w1", f"{name}/w2", TransferType.SUMMARY, 1),),
        events=tuple(event(name, number) for number in range(events)),
        reports=(report(name, f"{name}/r1"), report(name, f"{name}/r2")),
        receipt=receipt(f"{name}/q", tenant_id=tenant),
        leaves=tuple(leaf(name, number) for number in range(events)),
    )


async def filled(store) -> None:
    for start in range(0, SESSIONS, 10):
        names = [f"s{number:03}" for number in range(start, start + 10)]
        await asyncio.gather(
            *(store.write(written(name, events=EVENTS if name == "s000" else 3)) for name in names),
            *(store.write(written(name, tenant=f"tenant-{name}")) for name in names),
        )


def parameters() -> dict[str, dict[str, object]]:
    """Return what each statement is profiled with."""
    whose = {"key": key(TENANT, "s000")}
    change = written("s000")
    consumer = {"key": key("sink"), "consumer": "sink", "holder": "me"}
    rows = {
        "windows": [{"key": key(TENANT, "s000", "s000/w1"), "id_key": key(TENANT, "s000/w1"), "window_id": "s000/w1"}],
        "edges": [
            {
                "source": key(TENANT, "s000", "s000/w1"),
                "target": key(TENANT, "s000", "s000/w2"),
                "properties": {},
                "elsewhere": {},
            }
        ],
        "reports": [{"key": key(TENANT, "s000", "s000/r1"), "id_key": key(TENANT, "s000/r1")}],
        "events": [{"key": key("new"), "session_key": whose["key"], "sequence": EVENTS}],
        "erased_events": [{"key": key(TENANT, "s000", "0"), "session_key": whose["key"], "sequence": 0}],
        "erased_sessions": [whose["key"]],
    }
    page = {"sort_key": sort_key(""), "after": "", "limit": 10}
    tenant = {"key": key(TENANT), "tenant_id": TENANT}
    behind = {"key": key("sink"), "nothing": -1, "limit": 10}
    answered = {"key": receipt_key(TENANT, "IngestSource", "s000/q")}
    return {
        "STORE_ID": {"fresh": "f"},
        "CREATE_SESSION": {"session": session_properties(session("new"))},
        "LOCK_SESSION": whose,
        "APPLY": {"key": whose["key"], "session": session_properties(change.session)} | rows,
        "REMEMBER": answered | {"receipt": {"created_us": micros(NOW)}, "oldest": 0},
        "SNAPSHOT": whose,
        "FIND_CONTINUATION": {"key": key(TENANT, "s000/c1")},
        "AGE_OF_SESSION": {"key": whose["key"]},
        "LIST_SESSIONS": {
            "tenant_key": key(TENANT),
            "created_us": micros(NOW),
            "after": "s010",
            "limit": 10,
            "status": "OPEN",
            "opened_since": 0,
            "opened_until": 2**62,
            "updated_since": None,
            "updated_until": None,
            "parent": "",
        },
        "PAGE_DUE": {
            "tenant_key": key(TENANT),
            "status": "OPEN",
            "status_us": 0,
            "until": micros(NOW),
            "after": "",
            "limit": 10,
        },
        "COUNT_SESSIONS": {"tenant_key": key(TENANT), "statuses": ["OPEN", "ERASED"]},
        "SESSION_TENANTS": {"sort_key": "", "after": "", "limit": 10},
        "TOMBSTONE": {"key": key(TENANT, "s001")},
        "PAGE_EVENTS": whose | {"after": 500, "limit": 10},
        "GET_REPORT": {"key": key(TENANT, "s000/r1")},
        "PAGE_REPORTS_OF_SESSION": page | {"key": whose["key"]},
        "PAGE_REPORTS_OF_TENANT": page | {"key": key(TENANT)},
        "PAGE_BRIEF_REPORTS_OF_SESSION": page | {"key": whose["key"]},
        "PAGE_BRIEF_REPORTS_OF_TENANT": page | {"key": key(TENANT)},
        "GET_RECEIPT": answered,
        "FORGET_RECEIPTS": {"oldest": micros(NOW), "limit": 10},
        "LOCK_LOG": tenant | {"no_peaks": b"", "sort_key": TENANT},
        "APPEND": {"key": key(TENANT), "size": 1, "peaks": b"", "leaves": [{"key": key("leaf"), "record_key": "new"}]},
        "READ_STATE": tenant,
        "KEEP_HEAD": tenant | {"head": {"key": key(TENANT), "size": 0, "root": b"", "mac": "", "key_version": 1}},
        "READ_LEAVES": {"keys": [leaf_key(TENANT, 3)]},
        "OF_SESSION": {"key": whose["key"]},
        "UNKEYED": {},
        "LOCATE": {"keys": [leaf_key(TENANT, 3)]},
        "KEY_LEAVES": {"rows": [{"key": leaf_key(TENANT, 3), "session_key": whose["key"]}]},
        "KEYED": {"key": key(TENANT)},
        "READ_SUBTREES": {"keys": [leaf_key(TENANT, 3)]},
        "KEEP_COSIGNED": tenant | {"size": 3, "note": "n"},
        "COSIGNED": {"key": key(TENANT)},
        "FIND_LEAVES": {"keys": [key(TENANT, "s000", "event", "s000/e1")]},
        "CLAIM": consumer | {"now_us": 0, "until_us": 1},
        "RELEASE": consumer,
        "BEHIND": behind,
        "BEHIND_AMONG": behind | {"among": [key(TENANT)]},
        "PAGE": {"keys": [leaf_key(TENANT, 3)]},
        "ADVANCE": consumer | {"log": key(TENANT), "through": 1},
        "KEY_CHECKS": {},
        "KEEP_KEY_CHECK": {"version": 1, "value": b""},
    }


HITS = {
    "APPLY": 100,
    "SNAPSHOT": 150,
    "PAGE_EVENTS": 200,
    "PAGE_REPORTS_OF_TENANT": 200,
    "PAGE_BRIEF_REPORTS_OF_TENANT": 200,
    "LIST_SESSIONS": 1_500,
    "PAGE_DUE": 600,
    "COUNT_SESSIONS": 400,
    "SESSION_TENANTS": 600,
    "TOMBSTONE": 200,
    "OF_SESSION": 13 * EVENTS,
    "UNKEYED": 400,
}
"""Most records that a statement may touch here; 60 for the others. Sessions of one moment are sorted by id,
a session's leaves are read whole, and a start looks at every log."""


WHOLE = {"KEY_CHECKS"}
"""What reads all that there is of a kind: a record for each master key."""


async def test_every_statement_finds_what_it_needs_by_index(store, neo4j_database):
    await filled(store)
    await neo4j_database.rows("CALL db.prepareForReplanning(30)")
    values = parameters()
    assert values.keys() == STATEMENTS.keys()
    plans = {name: await plan_of(neo4j_database, statement, values[name]) for name, statement in STATEMENTS.items()}
    assert {name for name, plan in plans.items() if scans(plan)} <= WHOLE
    assert {name: hits(plan) for name, plan in plans.items() if hits(plan) > HITS.get(name, 60)} == {}


async def test_a_statement_without_an_index_would_be_seen(store, neo4j_database):
    await store.write(written("s"))
    plan = await plan_of(neo4j_database, "MATCH (w:Window {strategy: $strategy}) RETURN w", {"strategy": "x"})
    assert "NodeByLabelScan" in kinds(plan)
    assert scans(plan)


async def test_thirty_two_writers_of_one_session_lose_nothing(emptied_neo4j):
    stores = [await Neo4jSessionStore.open(emptied_neo4j) for _ in range(4)]
    await stores[0].write(
        SessionChange(session("s"), (window("s", 1),), events=(event("s", 0),), leaves=(leaf("s", 0),))
    )
    races = 0

    async def writer(number: int) -> None:
        nonlocal races
        store, done = stores[number % 4], 0
        while done < STEPS:
            before = await store.snapshot(TENANT, "s")
            version, sequence = before.session.version + 1, before.last_event.sequence + 1
            assert (version, sequence) == (len(before.windows) + 1, len(before.windows))  # each view is of one commit
            name = f"{number}.{done}"
            new = window("s", version, window_id=name, continuation_id=name, parent_ids=(before.windows[-1].window_id,))
            flow = EdgeRecord("s", new.parent_ids[0], name, TransferType.SUMMARY, version)
            change = SessionChange(
                session("s", version),
                (new,),
                (flow,),
                (event("s", sequence, window_id=name),),
                leaves=(leaf("s", sequence),),
            )
            try:
                await store.write(change)
            except ConflictError:
                races += 1
            else:
                done += 1

    await asyncio.gather(*(writer(number) for number in range(WRITERS)))
    total = WRITERS * STEPS + 1
    after = await stores[0].snapshot(TENANT, "s")
    assert races > WRITERS
    assert {one.window_id for one in after.windows} - {"s/w1"} == {
        f"{w}.{n}" for w in range(WRITERS) for n in range(STEPS)
    }
    assert [one.window_number for one in after.windows] == list(range(1, total + 1))
    assert [one.parent_ids for one in after.windows[1:]] == [(one.window_id,) for one in after.windows[:-1]]
    assert len(after.edges) == total - 1
    events = await stores[1].page_events(TENANT, "s", after_sequence=-1, limit=999)
    assert [(one.sequence, one.window_id) for one in events[1:]] == [
        (number, one.window_id) for number, one in enumerate(after.windows[1:], start=1)
    ]
    found = await stores[2].find_leaves(TENANT, "s", [(LeafKind.EVENT, f"s/e{number}") for number in range(total)])
    assert [one.leaf_index for one in found] == list(range(total)) == list(range(await stores[3].tree_size(TENANT)))
    for store in stores:
        await store.close()


async def test_of_many_steps_that_no_constraint_tells_apart_one_is_made(emptied_neo4j):
    stores = [await Neo4jSessionStore.open(emptied_neo4j) for _ in range(4)]
    await stores[0].write(SessionChange(session("s"), (window("s", 1),)))
    steps = [
        SessionChange(session("s", 2), (window("s", 2, window_id=f"w{number}", continuation_id=""),))
        for number in range(WRITERS)
    ]
    outcomes = await asyncio.gather(
        *(stores[number % 4].write(step) for number, step in enumerate(steps)), return_exceptions=True
    )
    assert outcomes.count(None) == 1
    assert {type(outcome) for outcome in outcomes if outcome is not None} == {ConflictError}
    assert len((await stores[0].snapshot(TENANT, "s")).windows) == 2
    for store in stores:
        await store.close()


async def test_a_snapshot_is_of_one_commit_though_the_change_is_large(emptied_neo4j):
    reader, writer = [await Neo4jSessionStore.open(emptied_neo4j) for _ in range(2)]
    names = [f"w{number:03}" for number in range(300)]

    def step(version: int) -> SessionChange:
        windows = (window("s", 2, window_id=n, continuation_id="", response_text=str(version)) for n in names)
        return SessionChange(session("s", version), tuple(windows))

    await writer.write(step(1))
    seen: set[int] = set()

    async def read() -> None:
        while max(seen, default=0) < 12:
            snapshot = await reader.snapshot(TENANT, "s")
            assert {one.response_text for one in snapshot.windows} == {str(snapshot.session.version)}
            seen.add(snapshot.session.version)

    async def write() -> None:
        for version in range(2, 13):
            await writer.write(step(version))

    await asyncio.gather(write(), *(read() for _ in range(4)))
    assert len(seen) > 3
    await reader.close()
    await writer.close()


async def test_two_roots_at_once_are_one(emptied_neo4j):
    stores = [await Neo4jSessionStore.open(emptied_neo4j) for _ in range(4)]
    await stores[0].write(SessionChange(session("s")))
    roots = [window("s", 1, window_id=f"root{n}", continuation_id="") for n in range(16)]
    changes = [SessionChange(session("s", 2), (root,)) for root in roots]
    outcomes = await asyncio.gather(
        *(stores[n % 4].write(change) for n, change in enumerate(changes)), return_exceptions=True
    )
    assert outcomes.count(None) == 1
    assert all(isinstance(outcome, ConflictError) for outcome in outcomes if outcome is not None)
    kept = (await stores[0].snapshot(TENANT, "s")).windows
    assert [one.status for one in kept] == [WindowStatus.COMMITTED]
    for store in stores:
        await store.close()


async def test_an_edge_may_come_from_a_window_that_another_instance_keeps(store):
    adopted = window("s", 3, parent_ids=("elsewhere",))
    flow = EdgeRecord("s", "elsewhere", adopted.window_id, TransferType.SUMMARY, 7, digest("summary"))
    await store.write(SessionChange(session("s"), (adopted,), (flow,)))
    snapshot = await store.snapshot(TENANT, "s")
    assert (snapshot.windows, snapshot.edges) == ((adopted,), (flow,))
    arrived = window("s", 2, window_id="elsewhere", parent_ids=("s/w1",))
    await store.write(SessionChange(session("s", 2), (arrived,)))
    snapshot = await store.snapshot(TENANT, "s")
    assert (snapshot.windows, snapshot.edges) == ((arrived, adopted), (flow,))


async def test_an_edge_to_a_window_that_is_not_there_is_refused(store):
    flow = EdgeRecord("s", "s/w1", "nowhere", TransferType.SUMMARY, 7)
    with pytest.raises(ValueError, match="not there"):
        await store.write(SessionChange(session("s"), (window("s", 1),), (flow,)))
    assert await store.snapshot(TENANT, "s") is None


async def test_receipts_past_their_retention_go_in_portions_and_those_written_anew_stay(store, neo4j_database):
    for number in range(5):
        await store.write(replace(written(f"s{number}"), receipt=receipt(f"q{number}")))
    later = NOW + timedelta(hours=24, microseconds=1)
    anew = receipt("q0", created_at=later, response=b"another answer")
    await store.write(SessionChange(session("t"), receipt=anew))
    kept = [await store.get_receipt(TENANT, "IngestSource", f"q{number}") for number in range(5)]
    assert kept == [anew, None, None, None, None]
    (row,) = await neo4j_database.rows("MATCH (r:Receipt) RETURN count(r) AS count")
    assert row["count"] == 1


class TestSchema:
    async def test_it_can_be_made_twice_and_by_several_at_once(self, emptied_neo4j, neo4j_database):
        await neo4j_database.rows("MATCH (n:SchemaVersion) DELETE n")
        stores = await asyncio.gather(*(Neo4jSessionStore.open(emptied_neo4j) for _ in range(4)))
        (row,) = await neo4j_database.rows("MATCH (n:SchemaVersion {store: 'sessions'}) RETURN n.version AS version")
        assert row["version"] == len(SESSIONS_SCHEMA.migrations)
        for store in stores:
            await store.close()

    async def test_what_was_half_made_is_finished(self, neo4j_database):
        first, second = "CREATE INDEX half_one IF NOT EXISTS FOR (n:Half) ON (n.one)", "CREATE INDEX half_two IF NOT"
        broken = GraphSchema("half", ((first,), (second,)))
        with pytest.raises(Exception, match="Invalid input"):
            await migrate(neo4j_database, broken)
        whole = GraphSchema("half", ((first,), (f"{second} EXISTS FOR (n:Half) ON (n.two)",)))
        try:
            await migrate(neo4j_database, whole)
            rows = await neo4j_database.rows(
                "SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'half' RETURN name, state"
            )
            assert sorted((row["name"], row["state"]) for row in rows) == [
                ("half_one", "ONLINE"),
                ("half_two", "ONLINE"),
            ]
        finally:
            for name in ("half_one", "half_two"):
                await neo4j_database.change_schema(f"DROP INDEX {name} IF EXISTS")
            await neo4j_database.rows("MATCH (n:SchemaVersion {store: 'half'}) DELETE n")

    async def test_a_later_version_is_refused(self, emptied_neo4j, neo4j_database):
        await neo4j_database.rows("MERGE (n:SchemaVersion {store: 'sessions'}) SET n.version = n.version + 1")
        try:
            with pytest.raises(UnavailableError, match="upgrade the program") as caught:
                await Neo4jSessionStore.open(emptied_neo4j)
            assert caught.value.reason is ErrorReason.STORE_UNAVAILABLE
        finally:
            await neo4j_database.rows("MATCH (n:SchemaVersion {store: 'sessions'}) SET n.version = n.version - 1")


class TestRefusals:
    async def test_a_wrong_password_is_told_at_once_and_not_shown(self, emptied_neo4j):
        wrong = emptied_neo4j.model_copy(update={"password": SecretStr("wrong-password-1")})
        with pytest.raises(UnavailableError, match="GROUNDTRAIL_NEO4J__USER") as caught:
            await Neo4jSessionStore.open(wrong)
        assert caught.value.metadata["cause"] == "Neo.ClientError.Security.Unauthorized"
        assert "wrong-password-1" not in str(caught.value)

    async def test_a_database_that_is_not_there(self, emptied_neo4j):
        with pytest.raises(UnavailableError, match="GROUNDTRAIL_NEO4J__DATABASE"):
            await Neo4jSessionStore.open(emptied_neo4j.model_copy(update={"database": "nowhere"}))

    async def test_a_transaction_that_takes_too_long_is_ended(self, emptied_neo4j, neo4j_database):
        hurried = await Neo4jDatabase.open(emptied_neo4j.model_copy(update={"timeout_s": 0.3, "retry_s": 0.0}))
        await neo4j_database.rows("CREATE (:Held {name: 'x'})")

        async def hold(transaction: AsyncManagedTransaction) -> None:
            await rows_of(transaction, "MATCH (n:Held) SET n.name = 'held'")
            with pytest.raises(UnavailableError) as caught:
                await hurried.rows("MATCH (n:Held) SET n.name = 'late'")
            assert caught.value.metadata["cause"].startswith("Neo.")
            raise RolledBackError

        with pytest.raises(RolledBackError):
            await neo4j_database.run(hold)
        assert (await hurried.rows("MATCH (n:Held) RETURN n.name AS name")) == [{"name": "x"}]
        await hurried.close()
