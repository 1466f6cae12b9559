"""A sessions.db of an earlier version opens, keeps what it holds, and takes seals, leaves and erasure (ADR 0054)."""

import sqlite3
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.adapters.sqlite import SqliteSessionStore
from services.common.adapters.sqlite import session_rows as rows
from services.common.adapters.sqlite.connections import Schema, prepare
from services.common.adapters.sqlite.session_rows import SESSIONS_SCHEMA
from services.common.adapters.sqlite.session_schema import LISTS_SCHEMA
from services.common.ports.sessions import SessionChange, SessionStatus
from services.dag.domain.repeated import repeats
from services.dag.sealed_store import SealedSessionStore
from tests.contract.adapters import PLAIN, SEALER
from tests.contract.records import NOW, digest, event, receipt, report, session, window

WITHOUT_LOG = 2
"""Version of the file before leaves, trees and ``data_sha256``."""


@pytest.fixture
def old_file(tmp_path):
    """A file as the version before wrote it, with plain content."""
    path = tmp_path / "sessions.db"
    old = Schema(SESSIONS_SCHEMA.application_id, SESSIONS_SCHEMA.migrations[:WITHOUT_LOG])
    prepare(path, old, PLAIN).close()
    connection = sqlite3.connect(path)

    def insert(table, values):
        width = len(connection.execute(f"PRAGMA table_info({table})").fetchall())
        marks = ", ".join("?" * width)
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", values[:width])  # later columns came at the end

    with connection:
        insert("sessions", rows.session_values(session("s")))
        insert("windows", ("tenant-a", *rows.window_values(window("s", 1, response_text="zyxplain"))))
        insert("events", ("tenant-a", *rows.event_values(event("s", 0, data='{"zyxdata":1}'))))
        insert("reports", ("tenant-a", "s", "s/r1", "s/w1", digest("s/r1"), 0, '{"zyxbody":1}', ""))
        insert("receipts", ("tenant-a", "OpenWindow", "q", digest("q"), b"zyxreceipt", 0))
    connection.close()
    return path


async def test_it_opens_and_holds_what_it_held(old_file):
    inner = await SqliteSessionStore.open(old_file, PLAIN)
    store = SealedSessionStore(inner, SEALER)
    snapshot = await store.snapshot("tenant-a", "s")
    assert snapshot.windows == (window("s", 1, response_text="zyxplain"),)
    assert snapshot.last_event == event("s", 0, data='{"zyxdata":1}')
    assert (await store.get_report("tenant-a", "s/r1")).body == '{"zyxbody":1}'
    assert (await store.get_receipt("tenant-a", "OpenWindow", "q")).response == b"zyxreceipt"
    assert await store.tree_size("tenant-a") == 0
    await store.close()


async def test_what_is_written_to_it_is_sealed_and_logged(old_file):
    store = SealedSessionStore(await SqliteSessionStore.open(old_file, PLAIN), SEALER)
    later = SessionChange(session("s", 2), events=(event("s", 1),), receipt=receipt("q2"))
    await store.write(later)
    assert await store.tree_size("tenant-a") == 1
    assert [one.data for one in await store.page_events("tenant-a", "s", after_sequence=-1, limit=9)] == [
        '{"zyxdata":1}',
        '{"n":1}',
    ]
    await store.close()


async def test_erasure_reaches_what_was_never_sealed(old_file):
    store = SealedSessionStore(await SqliteSessionStore.open(old_file, PLAIN), SEALER)
    snapshot = await store.snapshot("tenant-a", "s")
    held = await store.get_report("tenant-a", "s/r1")
    await store.write(
        SessionChange(
            session("s", 2, status=SessionStatus.ERASED),
            windows=tuple(replace(one, response_text="") for one in snapshot.windows),
            reports=(replace(held, body="", inputs=""), report("s", "s/r2", body="", inputs="")),
            events=(event("s", 1, event_type="SESSION_ERASED"),),
            erased_events=(replace(snapshot.last_event, data="", data_sha256=digest("x")),),
        )
    )
    await store.close()
    left = b"".join(path.read_bytes() for path in old_file.parent.glob("sessions.db*"))
    assert [word for word in (b"zyxplain", b"zyxdata", b"zyxbody") if word in left] == []


WITHOUT_LISTS = SESSIONS_SCHEMA.migrations.index(LISTS_SCHEMA)
"""Version of the file before rows repeated their trails."""


async def test_rows_of_before_repeat_their_trails(tmp_path):
    path = tmp_path / "sessions.db"
    old = Schema(SESSIONS_SCHEMA.application_id, SESSIONS_SCHEMA.migrations[:WITHOUT_LISTS])
    prepare(path, old, PLAIN).close()
    connection = sqlite3.connect(path)

    def insert(table, values):
        width = len(connection.execute(f"PRAGMA table_info({table})").fetchall())
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", values[:width])

    kinds = {
        "open": ["SESSION_CREATED", "TOOL_CALL"],
        "ended": ["SESSION_CREATED", "SESSION_TERMINATED", "TOOL_CALL"],
        "erased": ["SESSION_CREATED", "SESSION_TERMINATED", "SESSION_ERASED"],
    }
    trails = {
        name: [
            event(name, place, event_type=kind, timestamp=NOW + timedelta(seconds=place))
            for place, kind in enumerate(types)
        ]
        for name, types in kinds.items()
    }
    with connection:
        for name, trail in trails.items():
            insert("sessions", rows.session_values(session(name)))
            for one in trail:
                insert("events", ("tenant-a", *rows.event_values(one)))
    connection.close()
    store = await SqliteSessionStore.open(path, PLAIN)
    for name, ended in (("open", 1), ("ended", 1), ("erased", 2)):
        record = (await store.snapshot("tenant-a", name)).session
        last = len(trails[name]) - 1
        assert record.updated_at == NOW + timedelta(seconds=last)
        assert record.status_at == NOW + timedelta(seconds=ended)
        assert repeats(record, trails[name])
    await store.close()
