"""``groundtrail doctor`` computes the transparency logs in sessions.db anew and names what does not fit (ADR 0099)."""

import pytest

from services.cli.commands import doctor
from services.cli.commands.doctor import Level
from services.common.settings import Settings, StoreSettings
from tests.fakes.raw_sessions import TENANT, RawSessions
from tests.rpc.test_dag_log_compared import BREAKS, three_windows

NEEDS_A_KEY = {"the kept head's key changed", "the kept head deleted", "the kept head's size lowered"}
"""What the server finds by the MAC or by a session's promise."""


def settings(folder, sessions="sqlite"):
    return Settings(store=StoreSettings(data_dir=folder, sessions=sessions))


@pytest.fixture
async def raw(tmp_path):
    raw = RawSessions(tmp_path)
    async with raw.serving() as client:
        await three_windows(client)
        await client.open(subject="mallory")
    return raw


async def test_a_log_that_holds_together(raw):
    (finding,) = await doctor._logs(settings(raw.folder))
    assert (finding.check, finding.level) == ("log", Level.OK)


@pytest.mark.parametrize("name", sorted(BREAKS.keys() - NEEDS_A_KEY))
async def test_what_does_not_fit_is_a_problem_of_its_tenant(raw, name):
    raw.run(BREAKS[name], TENANT)
    (finding,) = await doctor._logs(settings(raw.folder))
    assert (finding.check, finding.level) == ("log", Level.PROBLEM)
    assert finding.detail.startswith(f"tenant {TENANT}: ")


async def test_nothing_is_changed_or_made(raw, tmp_path):
    before = raw.rows("SELECT * FROM heads")
    await doctor._logs(settings(raw.folder))
    assert raw.rows("SELECT * FROM heads") == before
    assert await doctor._logs(settings(tmp_path / "elsewhere")) == []
    assert await doctor._logs(settings(raw.folder, "neo4j")) == []


async def test_a_file_of_an_earlier_version_is_a_warning(raw):
    raw.run("DROP TABLE heads")
    (finding,) = await doctor._logs(settings(raw.folder))
    assert finding.level is Level.WARNING
