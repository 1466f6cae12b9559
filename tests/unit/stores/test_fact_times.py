"""A file of before the times of facts: what was STALE was replaced when it was last changed (ADR 0109)."""

import sqlite3
from datetime import timedelta

from services.common.adapters.milvus.fact_rows import NO_END, NO_START, digest, encode, record, timed
from services.common.adapters.sqlite.fact_schema import FACTS_SCHEMA
from services.common.adapters.sqlite.facts import SqliteFactStore
from services.common.keywords import Stemming
from services.common.ports.facts import FactFilter, FactStatus, TimeFilter
from services.common.settings.stores import StoreSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import LATER, NOW, fact
from tests.unit.stores.test_fact_words import without_times

SETTINGS = StoreSettings(disk_reserve_bytes=0)


async def test_stale_facts_of_an_old_file_were_replaced(tmp_path):
    path = tmp_path / "knowledge.db"
    store = await SqliteFactStore.open(path, SETTINGS, dimension=DIMENSION)
    await store.upsert([fact("old", status=FactStatus.STALE, modified_at=LATER), fact("new"), fact("withheld")])
    await store.set_status("tenant-a", ["withheld"], FactStatus.QUARANTINED, at=LATER)
    await store.close()
    connection = sqlite3.connect(path)
    without_times(connection)
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()

    store = await SqliteFactStore.open(path, SETTINGS, dimension=DIMENSION)
    try:
        found = await store.get("tenant-a", ["old", "new", "withheld"])
        assert [one.superseded_at for one in found] == [LATER, None, None]
        where = FactFilter(time=TimeFilter(LATER))
        assert [one.fact_id for one in await store.page("tenant-a", where, after="", limit=9)] == ["new"]
    finally:
        await store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == len(FACTS_SCHEMA.migrations)
    connection.close()


def test_rows_of_the_old_milvus_layout_are_read_likewise():
    tenant = digest("tenant-a")
    stale = encode(fact("a", status=FactStatus.STALE, modified_at=LATER), tenant, DIMENSION, Stemming.NONE)
    active = encode(fact("b"), tenant, DIMENSION, Stemming.NONE)
    for row in (stale, active):
        row["key"] += f".{7:016x}"
        del row["starts_us"], row["ends_us"]
    copied = timed(stale)
    assert record("tenant-a", copied).superseded_at == LATER
    assert (copied["starts_us"], copied["ends_us"]) == (NO_START, (LATER - NOW + (NOW - EPOCH)) // MICROSECOND)
    assert (timed(active)["starts_us"], timed(active)["ends_us"]) == (NO_START, NO_END)
    assert record("tenant-a", timed(active)) == fact("b")


EPOCH = NOW.replace(year=1970, month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
MICROSECOND = timedelta(microseconds=1)
