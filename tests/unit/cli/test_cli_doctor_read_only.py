"""``groundtrail doctor`` on a folder that cannot be written: sound files are called sound, and no backup is advised."""

import os
import sqlite3
from contextlib import closing

import pytest

from services.cli.commands import doctor
from services.cli.commands.doctor import Finding, Level
from services.common.adapters.sqlite import looking
from services.common.settings import Settings, StoreSettings


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A database that was closed cleanly, in a folder that says that it cannot be written (tests may run as root)."""
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE t (x)")
    assert [each.name for each in tmp_path.iterdir()] == ["sessions.db"]
    monkeypatch.setattr(os, "access", lambda *_: False)
    return path


def test_a_file_without_a_log_is_looked_at_as_it_lies(stored):
    assert looking.looking_uri(stored).endswith("?immutable=1")
    finding = doctor._store(stored)
    assert (finding.level, "pages intact" in finding.detail) == (Level.OK, True)
    assert [each.name for each in stored.parent.iterdir()] == ["sessions.db"]  # nothing was made beside it


def test_one_with_a_log_is_not_called_broken(stored, monkeypatch):
    stored.with_name("sessions.db-wal").write_bytes(b"")
    assert looking.looking_uri(stored).endswith("?mode=ro")

    def refused(*_, **__):
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refused)
    finding = doctor._store(stored)
    assert finding.level is Level.WARNING
    assert "is read-only" in finding.detail
    assert "backup" not in finding.advice
    assert "can be written" in finding.advice


async def test_its_logs_are_not_said_to_need_a_migration(stored):
    (finding,) = await doctor._logs(Settings(store=StoreSettings(data_dir=stored.parent)))
    assert finding.level is Level.WARNING
    assert "migrates" not in finding.advice


@pytest.mark.parametrize("writable", [True, False])
def test_a_damaged_file_still_needs_its_backup(tmp_path, monkeypatch, writable):
    (tmp_path / "graph.db").write_bytes(b"no database at all, but long enough to be read as one" * 40)
    monkeypatch.setattr(os, "access", lambda *_: writable)
    finding = doctor._store(tmp_path / "graph.db")
    assert (finding.level, "backup" in finding.advice) == (Level.PROBLEM, True)


@pytest.mark.parametrize(
    ("levels", "title"),
    [
        ((), "nothing found"),
        ((Level.OK, Level.WARNING), "1 warning"),
        ((Level.PROBLEM, Level.WARNING, Level.WARNING, Level.OK), "1 problem and 2 warnings"),
    ],
)
def test_the_title_counts_what_is_to_be_looked_into(levels, title):
    findings = [Finding("x", level, "") for level in levels]
    assert doctor._title(findings) == f"{len(doctor._CHECKS)} checks: {title}"
