"""Concurrent writes share commits; each one's failure is its own."""

import asyncio
import sqlite3
from typing import Any

import pytest

from services.common.adapters.sqlite import connections
from services.common.adapters.sqlite.connections import Schema, prepare
from services.common.adapters.sqlite.database import Database
from services.common.adapters.sqlite.writer import WriteTraits
from services.common.settings.stores import StoreSettings
from tests.patience import patient

SCHEMA = Schema(application_id=7, migrations=(("CREATE TABLE notes (note TEXT PRIMARY KEY)",),))
SETTINGS = StoreSettings(disk_reserve_bytes=0)


@pytest.fixture
async def database(tmp_path):
    opened = await Database.open(tmp_path / "notes.db", SCHEMA, SETTINGS)
    yield opened
    await opened.close()


def note(text: str):
    return lambda connection: connection.execute("INSERT INTO notes VALUES (?)", (text,)).lastrowid


async def notes(database) -> list[str]:
    rows = await database.read(lambda connection: connection.execute("SELECT note FROM notes ORDER BY 1").fetchall())
    return [row[0] for row in rows]


def traced(database) -> list[str]:
    """Return the list that the writer's statements will be appended to."""
    statements: list[str] = []
    database._writer._connection.set_trace_callback(statements.append)
    return statements


async def test_concurrent_writes_share_commits(database):
    statements = traced(database)
    await asyncio.gather(*(database.write(note(f"{n:03}")) for n in range(200)))
    assert statements.count("COMMIT") < 20
    assert await notes(database) == [f"{n:03}" for n in range(200)]


async def test_a_write_that_fails_takes_nothing_with_it(database):
    def fails_late(connection: sqlite3.Connection) -> None:
        note("half")(connection)
        raise LookupError("on purpose")

    writes = [database.write(job) for job in (note("a"), fails_late, note("a"), note("b"))]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(outcome).__name__ for outcome in outcomes] == ["int", "LookupError", "IntegrityError", "int"]
    assert await notes(database) == ["a", "b"]


async def test_a_write_that_ends_the_groups_transaction_is_run_again_alone(database):
    def rolls_everything_back(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("as a full disk may do")

    writes = [database.write(job) for job in (note("a"), note("b"), rolls_everything_back, note("c"))]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(outcome).__name__ for outcome in outcomes] == ["int", "int", "OperationalError", "int"]
    assert await notes(database) == ["a", "b", "c"]


async def test_only_best_effort_writes_do_without_the_disk(database):
    statements = traced(database)
    await database.write(note("a"), WriteTraits(best_effort=True))
    await database.write(note("b"))
    await database.write(note("c"))
    switches = [statement for statement in statements if "synchronous" in statement]
    assert switches == ["PRAGMA synchronous = NORMAL", "PRAGMA synchronous = FULL"]


async def test_a_cancelled_write_that_waits_is_not_made(database):
    begun, blocked = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def blocks(_connection: sqlite3.Connection) -> None:
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(blocked.wait(), loop).result(patient(5))

    first = asyncio.create_task(database.write(blocks))
    await begun.wait()
    second = asyncio.create_task(database.write(note("never")))
    await asyncio.sleep(0)
    second.cancel()
    blocked.set()
    await first
    with pytest.raises(asyncio.CancelledError):
        await second
    assert await notes(database) == []


async def test_closing_finishes_what_is_queued(tmp_path):
    database = await Database.open(tmp_path / "notes.db", SCHEMA, SETTINGS)
    writes = [asyncio.create_task(database.write(note(f"{n:02}"))) for n in range(50)]
    await asyncio.sleep(0)
    await database.close()
    await asyncio.gather(*writes)
    again = await Database.open(tmp_path / "notes.db", SCHEMA, SETTINGS)
    assert len(await notes(again)) == 50
    await again.close()


async def test_a_slow_read_blocks_neither_the_loop_nor_other_reads_nor_writes(database):
    begun, release = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(connection: sqlite3.Connection) -> list[str]:
        connection.execute("SELECT * FROM notes").fetchall()
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result(patient(5))
        return [row[0] for row in connection.execute("SELECT note FROM notes")]

    reading = asyncio.create_task(database.read(slow))
    await begun.wait()
    await database.write(note("later"))
    assert await notes(database) == ["later"]
    release.set()
    assert await reading == []  # one view of the file from its first statement on


async def test_migrations_run_once_and_in_order(tmp_path):
    first = await Database.open(tmp_path / "notes.db", SCHEMA, SETTINGS)
    await first.write(note("kept"))
    await first.close()
    added = Schema(7, (*SCHEMA.migrations, ("ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 3",)))
    for _ in range(2):
        second = await Database.open(tmp_path / "notes.db", added, SETTINGS)
        rows = await second.read(lambda connection: connection.execute("SELECT * FROM notes").fetchall())
        assert rows == [("kept", 3)]
        await second.close()


async def test_a_migration_that_fails_changes_nothing(tmp_path):
    first = await Database.open(tmp_path / "notes.db", SCHEMA, SETTINGS)
    await first.close()
    broken = Schema(7, (*SCHEMA.migrations, ("CREATE TABLE extra (x)", "NOT SQL")))
    with pytest.raises(sqlite3.OperationalError):
        await Database.open(tmp_path / "notes.db", broken, SETTINGS)
    again = await Database.open(tmp_path / "notes.db", SCHEMA, SETTINGS)
    tables = await again.read(lambda connection: connection.execute("SELECT name FROM sqlite_schema").fetchall())
    assert ("extra",) not in tables
    await again.close()


async def test_many_open_a_new_file_at_once(tmp_path):
    opened = await asyncio.gather(*(Database.open(tmp_path / "notes.db", SCHEMA, SETTINGS) for _ in range(8)))
    await asyncio.gather(*(database.write(note(str(n))) for n, database in enumerate(opened)))
    assert len(await notes(opened[0])) == 8
    await asyncio.gather(*(database.close() for database in opened))


async def test_who_opens_a_file_that_is_just_being_made_does_not_take_it_for_another(tmp_path, monkeypatch):
    """Between two looks at a new file somebody else makes it."""
    path, known = tmp_path / "notes.db", connections._known_version

    class Meanwhile:
        def __init__(self, connection):
            self.connection = connection

        def execute(self, statement):
            found = self.connection.execute(statement)
            if statement == "PRAGMA application_id":
                prepare(path, SCHEMA, SETTINGS).close()
            return found

    def looked_at(connection, path, schema):
        monkeypatch.setattr(connections, "_known_version", known)
        meanwhile: Any = Meanwhile(connection)
        return known(meanwhile, path, schema)

    monkeypatch.setattr(connections, "_known_version", looked_at)
    prepare(path, SCHEMA, SETTINGS).close()
