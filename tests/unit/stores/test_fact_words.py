"""The words of knowledge.db: built anew from a file of before stemming, and whenever the settings ask for others."""

import asyncio
import sqlite3

import pytest

from services.common.adapters.memory import bm25
from services.common.adapters.sqlite import SqliteFactStore, fact_text
from services.common.adapters.sqlite.connections import Schema
from services.common.adapters.sqlite.database import Database
from services.common.adapters.sqlite.fact_schema import FACTS_SCHEMA
from services.common.errors import UnavailableError
from services.common.keywords import Stemming, edition, keywords
from services.common.ports.facts import FactFilter, FactStatus
from services.common.settings.stores import StoreSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import LATER, fact

TEXTS = {"a": "Claims are reported at once.", "b": "The form KH-4419 is blue; Élan.", "c": "A claim on hail."}
TENANTS = ("tenant-a", "tenant-b")
OLD_TABLE = "USING fts5(content, content = '', tokenize = 'unicode61 remove_diacritics 2')"


def settings(folder, **changes) -> StoreSettings:
    return StoreSettings(data_dir=folder, disk_reserve_bytes=0, synchronous="NORMAL", **changes)


async def opened(folder, **changes) -> SqliteFactStore:
    return await SqliteFactStore.open(folder / "knowledge.db", settings(folder, **changes), dimension=DIMENSION)


async def found(store, query, tenant="tenant-a") -> dict[str, float]:
    return {hit.fact.fact_id: hit.score for hit in await store.search_text(tenant, query, limit=9)}


async def written(folder, **changes) -> None:
    store = await opened(folder, **changes)
    for tenant in TENANTS:
        await store.upsert([fact(name, tenant_id=tenant, content=text) for name, text in TEXTS.items()])
        await store.upsert([fact("d", tenant_id=tenant, content="claims of nobody"), fact("e", tenant_id=tenant)])
        await store.set_status(tenant, ["d"], FactStatus.DELETED, at=LATER)
        await store.delete(tenant, ["e"])
    await store.close()


def without_times(connection) -> None:
    """Take out of a file what version 3 and later ones added (``fact_schema``)."""
    for index in ("facts_by_start", "facts_by_end", "facts_by_replacement"):
        connection.execute(f"DROP INDEX {index}")
    for column in ("superseded_us", "valid_from_us", "valid_to_us"):
        connection.execute(f"ALTER TABLE facts DROP COLUMN {column}")


@pytest.fixture
async def old_file(tmp_path):
    """A file as the program of before wrote it: version 1, FTS5's own words."""
    await written(tmp_path)
    connection = sqlite3.connect(tmp_path / "knowledge.db")
    for (number,) in connection.execute("SELECT tenant_no FROM tenants").fetchall():
        connection.execute(f"DROP TABLE words_{number}")
        connection.execute(f"CREATE VIRTUAL TABLE words_{number} {OLD_TABLE}")
        connection.execute(
            f"INSERT INTO words_{number} (rowid, content) "
            "SELECT fact_no, content FROM facts WHERE tenant_no = ? AND status <> 'DELETED'",
            (number,),
        )
    connection.execute("DELETE FROM store WHERE name = 'words'")
    without_times(connection)
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    return tmp_path


def state(folder) -> tuple[int, str, list[str]]:
    """Return version, recorded edition, and the tenants' tables as they were created."""
    connection = sqlite3.connect(folder / "knowledge.db")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        recorded = connection.execute("SELECT value FROM store WHERE name = 'words'").fetchone()
        made = connection.execute("SELECT sql FROM sqlite_schema WHERE name IN ('words_1', 'words_2')").fetchall()
    finally:
        connection.close()
    return version, recorded[0] if recorded else "", [sql for (sql,) in made]


async def test_the_old_file_is_as_the_former_program_left_it(old_file):
    version, recorded, tables = state(old_file)
    assert (version, recorded) == (1, "")
    assert all("unicode61" in sql for sql in tables)
    former = await Database.open(
        old_file / "knowledge.db", Schema(FACTS_SCHEMA.application_id, FACTS_SCHEMA.migrations[:1]), settings(old_file)
    )
    await former.close()


async def test_an_old_file_is_found_in_by_the_new_words(old_file):
    store = await opened(old_file)
    try:
        for tenant in TENANTS:
            for query in ("claims", "claim", "reporting", "KH-4419", "elan", "nobody"):
                assert await found(store, query, tenant) == pytest.approx(bm25.rank(TEXTS, query))
        assert set(await found(store, "claiming")) == {"a", "c"}
    finally:
        await store.close()
    version, recorded, tables = state(old_file)
    assert (version, recorded) == (len(FACTS_SCHEMA.migrations), edition(Stemming.ENGLISH))
    assert all("ascii" in sql for sql in tables)


async def test_what_is_changed_afterwards_leaves_no_word_behind(old_file):
    store = await opened(old_file)
    try:
        await store.upsert([fact("a", content="Thefts were mended.")])
        await store.erase_source("tenant-a", "source-none", at=LATER)
        await store.set_status("tenant-a", ["c"], FactStatus.DELETED, at=LATER)
        assert await found(store, "claim") == {}
        assert set(await found(store, "theft")) == {"a"}
    finally:
        await store.close()
    connection = sqlite3.connect(old_file / "knowledge.db")
    connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words_1, 'row')")
    terms = {row[0] for row in connection.execute("SELECT term FROM temp.terms")}
    connection.close()
    left = keywords("Thefts were mended. " + TEXTS["b"], Stemming.ENGLISH)
    assert terms == set(left)


async def test_a_former_program_refuses_the_new_file(old_file):
    await (await opened(old_file)).close()
    with pytest.raises(UnavailableError, match=f"schema version {len(FACTS_SCHEMA.migrations)}, this program knows 1"):
        await Database.open(
            old_file / "knowledge.db",
            Schema(FACTS_SCHEMA.application_id, FACTS_SCHEMA.migrations[:1]),
            settings(old_file),
        )


async def test_another_setting_builds_the_words_anew_and_back(tmp_path):
    await written(tmp_path)
    for stemming, hits in (("none", {"c"}), ("english", {"a", "c"})):
        store = await opened(tmp_path, text_stemming=stemming)
        try:
            assert set(await found(store, "claim")) == hits
            await store.upsert([fact("z", content="claims")])
            await store.delete("tenant-a", ["z"])
            expected = bm25.rank(TEXTS, "claim", Stemming(stemming))
            assert await found(store, "claim") == pytest.approx(expected)
        finally:
            await store.close()


async def test_headings_come_into_an_index_of_before_and_leave_it_rightly(tmp_path):
    """An index of edition 1 has no headings (ADR 0110); until it is built anew nothing of them goes in or out."""
    store = await opened(tmp_path)
    await store.upsert([fact("a", content="claims", source_location="# Hail")])
    await store.close()
    connection = sqlite3.connect(tmp_path / "knowledge.db")
    recorded = edition(Stemming.ENGLISH)
    former = recorded.replace("/2/", "/1/")
    assert former != recorded
    connection.execute("UPDATE store SET value = ? WHERE name = 'words'", (former,))
    fact_text.remove_text(connection, 1, [(1, "claims\nHail", "")])
    fact_text.add_text(connection, 1, [(1, "claims", "# Hail")])
    connection.commit()
    assert [fact_text.rank_text(connection, 1, word, FactFilter(), 9) for word in ("hail",)] == [[]]
    connection.close()
    store = await opened(tmp_path)
    try:
        assert set(await found(store, "hail")) == {"a"}
        await store.delete("tenant-a", ["a"])
        assert await found(store, "hail") == await found(store, "claims") == {}
    finally:
        await store.close()
    assert state(tmp_path)[1] == recorded


async def test_the_same_setting_builds_nothing(tmp_path, monkeypatch):
    await written(tmp_path)
    monkeypatch.setattr(fact_text, "create_text_table", lambda *_: pytest.fail("built anew"))
    await (await opened(tmp_path)).close()


async def test_a_process_that_has_the_file_open_goes_on_with_the_files_words(tmp_path):
    await written(tmp_path)
    first = await opened(tmp_path)
    second = await opened(tmp_path, text_stemming="none")
    try:
        await first.upsert([fact("late", content="claims again")])
        for store in (first, second):
            assert set(await found(store, "claims")) == {"a", "late"}
    finally:
        await first.close()
        await second.close()


async def test_a_rebuild_that_fails_changes_nothing_and_is_made_the_next_time(old_file, monkeypatch):
    def spoilt(text: str, stemming: Stemming) -> list[str]:
        if "hail" in text:
            raise OSError("the process ends here")
        return keywords(text, stemming)

    with monkeypatch.context() as patch:
        patch.setattr(fact_text, "keywords", spoilt)
        with pytest.raises(UnavailableError):
            await opened(old_file)
    assert state(old_file)[1] == "unicode61"
    assert all("unicode61" in sql for sql in state(old_file)[2])
    store = await opened(old_file)
    try:
        assert set(await found(store, "claim")) == {"a", "c"}
    finally:
        await store.close()


async def test_many_open_an_old_file_at_once(old_file):
    stores = await asyncio.gather(*(opened(old_file) for _ in range(4)))
    try:
        for store in stores:
            assert await found(store, "claim") == pytest.approx(bm25.rank(TEXTS, "claim"))
    finally:
        for store in stores:
            await store.close()
