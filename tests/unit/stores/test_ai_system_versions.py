"""The gateway's file over restarts: versions of AI systems stay, and a file of before versions is carried over."""

import sqlite3

from services.common.adapters.sqlite import SqliteCredentialStore
from services.common.adapters.sqlite.connections import Schema
from services.common.adapters.sqlite.credentials import _SCHEMA
from services.common.adapters.sqlite.database import Database
from services.common.settings.stores import StoreSettings
from tests.contract.records import LATER, NOW, ai_system

BEFORE = Schema(_SCHEMA.application_id, _SCHEMA.migrations[:1])


async def test_versions_survive_a_restart(tmp_path):
    path, settings = tmp_path / "gateway.db", StoreSettings(data_dir=tmp_path)
    versions = [ai_system("bot", name=f"v{number}", version=number, updated_at=LATER) for number in (1, 2)]
    store = await SqliteCredentialStore.open(path, settings)
    for each in versions:
        await store.put_ai_system(each)
    await store.close()
    store = await SqliteCredentialStore.open(path, settings)
    try:
        assert await store.page_ai_system_versions("tenant-a", "bot", after=0, limit=9) == versions
    finally:
        await store.close()


async def test_a_file_of_before_versions_is_carried_over(tmp_path):
    path, settings = tmp_path / "gateway.db", StoreSettings(data_dir=tmp_path)
    await (await Database.open(path, BEFORE, settings)).close()
    old = sqlite3.connect(path)
    moment_us = int(NOW.timestamp() * 1_000_000)
    row = ("tenant-a", "bot", 'Bot "1"', "CREATIVE", "art", moment_us, '[["A.9.4", "binder"]]')
    old.execute("INSERT INTO ai_systems VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    old.commit()
    old.close()
    store = await SqliteCredentialStore.open(path, settings)
    try:
        kept = await store.get_ai_system("tenant-a", "bot")
    finally:
        await store.close()
    assert (kept.name, kept.domain, kept.sector, kept.version) == ('Bot "1"', "CREATIVE", "art", 1)
    assert (kept.registered_at, kept.updated_at) == (NOW, NOW)
    assert kept.iso_42001_evidence == (("A.9.4", "binder"),)
    assert (kept.intended_purpose, kept.annex_iii_areas, kept.makes_decisions) == ("", (), False)
