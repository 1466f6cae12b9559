"""``groundtrail doctor`` says of the configured master keys whether the sessions were made with them (ADR 0220)."""

import pytest

from services.cli.commands import doctor
from services.cli.commands.doctor import Level
from services.common.settings import DagSettings, Settings, StoreSettings
from services.dag.domain.keys import key_check
from services.dag.master_keys import add_key
from tests.fakes.dag_world import MASTER
from tests.fakes.raw_sessions import RawSessions


@pytest.fixture
async def raw(tmp_path):
    """A file with a session and a kept head, and no check value: as it was before they were kept."""
    raw = RawSessions(tmp_path)
    async with raw.serving() as client:
        await client.window()
    assert raw.run("DELETE FROM key_checks") == 1
    return raw


async def findings(raw, secret=None, *, version=1, sessions="sqlite"):
    key = {"master_key": secret.hex(), "master_key_version": version} if secret else {}
    settings = Settings(store=StoreSettings(data_dir=raw.folder, sessions=sessions), dag=DagSettings(**key))
    return await doctor._master_keys(settings)


async def finding(raw, secret=None, **configured):
    found = await findings(raw, secret, **configured)
    return found[0] if found else None


def keep(raw, version=1):
    raw.run("INSERT INTO key_checks VALUES (?, ?)", version, key_check(MASTER))


@pytest.mark.parametrize("kept", [True, False])
async def test_the_right_key_and_another_one(raw, kept):
    if kept:
        keep(raw)
        raw.run("DELETE FROM heads")
    assert (await finding(raw, MASTER.secret)).level is Level.OK
    other = await finding(raw, bytes(32))
    assert (other.check, other.level) == ("master key", Level.PROBLEM)
    assert "version 1 is another key" in other.detail
    assert "backup" in other.advice


async def test_a_file_before_key_checks_is_asked_by_its_heads(raw):
    raw.run("DROP TABLE key_checks")
    assert (await finding(raw, MASTER.secret)).level is Level.OK
    assert (await finding(raw, bytes(32))).level is Level.PROBLEM


async def test_a_key_that_is_not_here(raw):
    assert "no master-<version>.key" in (await finding(raw)).detail
    assert not (raw.folder / "keys").exists()
    add_key(raw.folder / "keys")
    assert "another key" in (await finding(raw)).detail
    keep(raw, version=2)
    assert [f.detail for f in await doctor._master_keys(Settings(store=StoreSettings(data_dir=raw.folder)))][1:] == [
        "version 2 is not here"
    ]


async def test_an_older_version_that_is_away_is_a_warning_where_a_later_one_signs(raw):
    keep(raw)
    later = await finding(raw, bytes(32), version=2)
    assert (later.level, later.detail) == (Level.WARNING, "version 1 is not here")
    keep(raw, version=3)
    assert [found.level for found in await findings(raw, bytes(32), version=2)] == [Level.WARNING, Level.PROBLEM]


async def test_without_sessions_nothing_is_wanted(raw, tmp_path):
    raw.run("DELETE FROM heads")
    assert (await finding(raw)).level is Level.OK
    assert await finding(RawSessions(tmp_path / "elsewhere")) is None
    assert await finding(raw, sessions="neo4j") is None
