"""Rows and nodes that do not parse: which record and column are named, and that a failed read leaves nothing behind."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import fields, replace

import pytest

from services.common.adapters.neo4j import receipts as neo4j_receipts
from services.common.adapters.neo4j import session_records
from services.common.adapters.neo4j.session_log import _read_leaf
from services.common.adapters.sqlite import SqliteFactStore, SqliteKnowledgeGraph, SqliteSessionStore
from services.common.adapters.sqlite.connections import connect
from services.common.adapters.sqlite.session_rows import (
    SESSION_COLUMNS,
    WINDOW_COLUMNS,
    edge_of,
    edge_values,
    event_of,
    event_values,
    report_of,
    report_values,
    session_of,
    session_values,
    window_of,
    window_values,
)
from services.common.errors import ErrorReason, UnreadableRecordError
from services.common.ports.graph import SourceStatus
from services.common.ports.session_lists import SessionFilter
from services.common.ports.sessions import (
    DeferredFact,
    EdgeRecord,
    SessionChange,
    SessionRecord,
    SessionSnapshot,
    SessionStatus,
    TransferType,
    WindowRecord,
)
from tests.contract.adapters import DIMENSION, PLAIN
from tests.contract.records import NOW, event, fact, receipt, report, session, source, window

STAMPED = session("s", updated_at=NOW, status_at=NOW, legal_hold=True)
EDGE = EdgeRecord("s", "parent", "child", TransferType.SUMMARY, 20, "ab")
WINDOW = replace(
    window("s", 1),
    window_id="w",
    parent_ids=("p",),
    facts_included=("f",),
    facts_deferred=(DeferredFact("g", 3),),
    safety_budget=0.5,
)
BAD_LISTS = ("", "[", "{}", "null", "7", "[1]", '[["a","b"]]', '["\\ud800"]', "[" * 20_000, "[" + "9" * 5_000 + "]")


def plain(values):
    """The values as SQLite gives them back: an enum is its text."""
    return tuple(
        str(value.value) if isinstance(value, SessionStatus | TransferType) or hasattr(value, "value") else value
        for value in values
    )


@pytest.mark.parametrize(
    ("record", "values", "read"),
    [
        (STAMPED, session_values, session_of),
        (WINDOW, window_values, window_of),
        (EDGE, edge_values, edge_of),
        (event("s", 3), event_values, event_of),
        (report("s", "r"), report_values, report_of),
    ],
    ids=lambda value: type(value).__name__ if not callable(value) else "",
)
class TestRows:
    def test_what_was_written_is_read(self, record, values, read):
        assert read(plain(values(record))) == record

    @pytest.mark.parametrize("bad", [None, b"blob", 1.5, 7, "abc"])
    def test_a_value_of_another_type_is_named_by_its_column(self, record, values, read, bad):
        row = plain(values(record))
        for at, good in enumerate(row):
            if type(good) is type(bad):
                continue
            if bad is None and record is STAMPED and SESSION_COLUMNS.split(", ")[at] in {"updated_us", "status_us"}:
                continue  # of a session without an event there are none; verification compares them with the trail
            with pytest.raises(UnreadableRecordError) as caught:
                read((*row[:at], bad, *row[at + 1 :]))
            assert caught.value.reason is ErrorReason.RECORD_UNREADABLE
            assert caught.value.metadata["field"]
            assert caught.value.metadata["record_kind"] == type(record).__name__.lower().replace("record", "").replace(
                "auditevent", "event"
            )
            assert "blob" not in caught.value.detail


@pytest.mark.parametrize("bad", BAD_LISTS)
@pytest.mark.parametrize("column", ["parent_ids", "facts_included", "facts_deferred"])
def test_json_that_is_no_such_list_is_named(column, bad):
    row = list(plain(window_values(WINDOW)))
    row[WINDOW_COLUMNS.split(", ").index(column)] = bad
    with pytest.raises(UnreadableRecordError) as caught:
        window_of(row)
    assert (caught.value.record_kind, caught.value.record_id) == ("window", "w")
    assert caught.value.metadata["field"] == column


@pytest.mark.parametrize(("column", "bad"), [("status", "UNREADABLE"), ("status", "open"), ("created_us", 2**62)])
def test_a_word_or_moment_that_is_none_is_named(column, bad):
    row = list(plain(session_values(session("s"))))
    row[SESSION_COLUMNS.split(", ").index(column)] = bad
    with pytest.raises(UnreadableRecordError) as caught:
        session_of(row)
    assert caught.value.metadata["field"] == column


def test_rows_are_read_in_the_order_of_the_records_fields():
    named = [
        column.replace("_us", "_at") if column.endswith("_us") else column for column in SESSION_COLUMNS.split(", ")
    ]
    assert named == [field.name for field in fields(SessionRecord)]
    named = [column.removesuffix("_us") for column in WINDOW_COLUMNS.split(", ")]
    assert [*named, "salt"] == [field.name for field in fields(WindowRecord)]


class TestNodes:
    """Neo4j types no property."""

    CASES = (
        (session_records.session_properties(STAMPED), session_records.session_of),
        (session_records.window_properties("t", WINDOW), session_records.window_of),
        (
            session_records.edge_row("t", EDGE)["properties"] | {"source_id": "parent", "target_id": "child"},
            lambda row: session_records.edge_of("s", row),
        ),
        (session_records.event_properties("t", event("s", 3)), session_records.event_of),
        (session_records.report_properties("t", report("s", "r")), session_records.report_of),
        (neo4j_receipts.receipt_properties(receipt("r")), neo4j_receipts.receipt_of),
        (
            {
                "session_id": "s",
                "record_kind": "event",
                "record_id": "e",
                "position": 1,
                "content_hmac": "ab",
                "leaf_index": 4,
                "subtrees": bytes(64),
            },
            _read_leaf,
        ),
    )
    KEYS = frozenset({"key", "id_key", "tenant_key", "session_key", "sort_key", "continuation_key", "root_key"})

    @pytest.mark.parametrize(("row", "read"), CASES)
    def test_every_property_of_another_type_is_named(self, row, read):
        assert read(row)
        for name, good in row.items():
            for bad in (None, b"", 1.5, 7, "abc", [], ["a"], [1], [None]):
                same = type(bad) is type(good) and not isinstance(good, list)
                if name in self.KEYS or same or (isinstance(good, list) and bad in ([], ["a"], [1])):
                    continue
                if name in {"safety_budget", "budget_ceiling"} and bad == 7:
                    continue  # Neo4j keeps a whole number as one
                if name in {"response", "subtrees"} and bad == b"":
                    continue
                with pytest.raises(UnreadableRecordError) as caught:
                    read(row | {name: bad})
                assert caught.value.metadata["field"] == name, bad

    @pytest.mark.parametrize(("row", "read"), CASES[:5])
    def test_a_property_that_is_gone_is_named(self, row, read):
        later = {"trail_mac", "budget_ceiling", "updated_us", "status_us", "legal_hold", "data_sha256", "inputs"}
        later |= self.KEYS
        for name in row.keys() - later - {"session_id"}:
            with pytest.raises(UnreadableRecordError):
                read({other: value for other, value in row.items() if other != name})

    def test_deferred_facts_and_their_tokens_belong_together(self):
        row = session_records.window_properties("t", WINDOW)
        with pytest.raises(UnreadableRecordError, match="facts_deferred_tokens"):
            session_records.window_of(row | {"facts_deferred_tokens": [1, 2]})

    def test_lists_have_a_place_for_what_does_not_parse(self):
        row = session_records.session_properties(session("s")) | {"status": "x"}
        listed = session_records.listed_session_of("tenant-a", row)
        assert (listed.session_id, listed.status) == ("s", SessionStatus.UNREADABLE)
        row = session_records.report_properties("t", report("s", "r")) | {"body": 7}
        assert isinstance(session_records.listed_report_of(row), UnreadableRecordError)


def alter(path, statement, *values):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values)


async def filled(path):
    store = await SqliteSessionStore.open(path, replace_readers(1))
    for name in ("bad", "good"):
        windows = tuple(
            replace(window(name, n), window_id=f"{name}-{n}", parent_ids=("p",), continuation_id="")
            for n in range(1, 40)
        )
        await store.write(SessionChange(session(name), windows=windows, reports=(report(name, f"r-{name}"),)))
    return store


def replace_readers(count):
    return PLAIN.model_copy(update={"reader_connections": count})


class TestFailedReads:
    """An exception's traceback once kept the cursor, and an unfinished SELECT survives ROLLBACK: the reader went on
    with an old picture of the file until the collector ran.
    """

    @pytest.mark.parametrize(
        "damage",
        [
            "UPDATE windows SET pattern = 'LINEAa' WHERE window_id = 'bad-3'",
            "UPDATE windows SET strategy = CAST(x'ff41' AS TEXT) WHERE window_id = 'bad-3'",
            "UPDATE windows SET facts_included = '[' WHERE window_id = 'bad-3'",
            "UPDATE sessions SET status = 'x' WHERE session_id = 'bad'",
        ],
    )
    async def test_the_next_reader_sees_what_was_written_meanwhile(self, tmp_path, damage):
        path = tmp_path / "sessions.db"
        store = await filled(path)
        alter(path, damage)
        kept = []
        for number in range(2, 6):
            try:
                await store.snapshot("tenant-a", "bad")
            except UnreadableRecordError as error:
                kept.append(error)  # with its traceback, as a log or a future may keep it
            await store.write(SessionChange(replace(session("good"), version=number, policy_hash=f"{number}")))
            found = await store.snapshot("tenant-a", "good")
            assert (found.session.version, found.session.policy_hash) == (number, f"{number}")
        assert len(kept) == 4
        assert {error.record_id for error in kept} == {"bad" if "sessions" in damage else "bad-3"}
        with closing(sqlite3.connect(path)) as connection:  # no picture of the file is held: the log can be emptied
            assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        await store.close()

    async def test_a_job_that_fails_half_way_through_its_rows_keeps_none(self, tmp_path):
        path = tmp_path / "sessions.db"
        store = await filled(path)
        held = []

        def job(connection):
            cursor = connection.execute("SELECT window_id FROM windows")
            held.append(cursor)
            raise ValueError(cursor.fetchone())

        for attempt in (store._database.read, store._database.write):
            with pytest.raises(ValueError, match="bad-1"):
                await attempt(job)
        for cursor in held:
            with pytest.raises(sqlite3.ProgrammingError):
                cursor.fetchone()
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        await store.close()

    async def test_lists_go_on_and_have_the_bad_one_in_its_place(self, tmp_path):
        path = tmp_path / "sessions.db"
        store = await filled(path)
        alter(path, "UPDATE sessions SET status = 'x' WHERE session_id = 'bad'")
        alter(path, "UPDATE reports SET created_us = 'x' WHERE report_id = 'r-bad'")
        alter(
            path,
            "INSERT INTO reports SELECT tenant_id, session_id, x'00', window_id, '', 0, '', '' FROM reports LIMIT 1",
        )
        sessions = await store.list_sessions("tenant-a", SessionFilter(), after="", limit=9)
        assert {one.session_id: one.record.status for one in sessions} == {
            "bad": SessionStatus.UNREADABLE,
            "good": SessionStatus.OPEN,
        }
        first, second = await store.page_reports("tenant-a", "", after="", limit=2)
        assert (first.record_id, first.metadata["field"]) == ("r-bad", "created_us")
        assert second.report_id == "r-good"
        assert await store.page_reports("tenant-a", "", after="r-good", limit=2) == []
        with pytest.raises(UnreadableRecordError, match="r-bad"):
            await store.get_report("tenant-a", "r-bad")
        await store.close()

    async def test_a_write_over_what_does_not_parse_is_refused(self, tmp_path):
        path = tmp_path / "sessions.db"
        store = await filled(path)
        alter(path, "UPDATE sessions SET version = 'x' WHERE session_id = 'bad'")
        with pytest.raises(UnreadableRecordError, match="version"):
            await store.write(SessionChange(replace(session("bad"), version=2)))
        await store.write(SessionChange(replace(session("good"), version=2)))
        await store.close()

    async def test_a_fact_and_a_source_are_named_and_their_neighbours_served(self, tmp_path):
        facts = await SqliteFactStore.open(tmp_path / "facts.db", PLAIN, dimension=DIMENSION)
        await facts.upsert([fact("f-1"), fact("f-2")])
        alter(tmp_path / "facts.db", "UPDATE facts SET metadata = '[' WHERE fact_id = 'f-1'")
        with pytest.raises(UnreadableRecordError, match="fact f-1"):
            await facts.get("tenant-a", ["f-1"])
        assert [one.fact_id for one in await facts.get("tenant-a", ["f-2"])] == ["f-2"]
        await facts.close()
        graph = await SqliteKnowledgeGraph.open(tmp_path / "graph.db", PLAIN)
        for name in ("s-1", "s-2"):
            await graph.put_source(source(name, status=SourceStatus.INGESTING))
        alter(tmp_path / "graph.db", "UPDATE sources SET metadata = '[' WHERE source_id = 's-1'")
        assert [one.source_id for one in await graph.unfinished_sources()] == ["s-2"]
        with pytest.raises(UnreadableRecordError, match="source s-1"):
            await graph.get_source("tenant-a", "s-1")
        await graph.close()

    async def test_reads_beside_a_bad_one_do_not_wait_for_it(self, tmp_path):
        path = tmp_path / "sessions.db"
        store = await filled(path)
        alter(path, "UPDATE windows SET pattern = 'x' WHERE session_id = 'bad'")
        outcomes = await asyncio.gather(
            *(store.snapshot("tenant-a", name) for name in ("bad", "good") * 20), return_exceptions=True
        )
        assert all(isinstance(one, UnreadableRecordError) for one in outcomes[::2])
        good = [one for one in outcomes[1::2] if isinstance(one, SessionSnapshot)]
        assert [len(one.windows) for one in good] == [39] * 20
        await store.close()


class TestTrackedCursors:
    """What a job leaves open is closed behind it, however many statements it ran and whichever way it ran them."""

    @pytest.fixture
    def connection(self, tmp_path):
        with closing(connect(tmp_path / "a.db", PLAIN)) as connection:
            connection.execute("CREATE TABLE numbers (n INTEGER)")
            connection.executemany("INSERT INTO numbers VALUES (?)", ((n,) for n in range(9)))
            yield connection

    @pytest.mark.parametrize("way", ["execute", "cursor"])
    def test_an_open_one_is_closed_after_many_others(self, connection, way):
        connection.execute("BEGIN")
        select = "SELECT n FROM numbers"
        opened = connection.execute(select) if way == "execute" else connection.cursor().execute(select)
        for _ in range(3_000):
            connection.execute("SELECT 1").fetchall()
        assert opened.fetchone() == (0,)
        assert len(connection._cursors) < 300
        connection.end_reads()
        with pytest.raises(sqlite3.ProgrammingError):
            opened.fetchone()

    def test_a_row_that_a_write_returns_is_one_too(self, connection):
        returned = connection.execute("INSERT INTO numbers VALUES (10), (11) RETURNING n")
        connection.end_reads()
        with pytest.raises(sqlite3.ProgrammingError):
            returned.fetchone()
