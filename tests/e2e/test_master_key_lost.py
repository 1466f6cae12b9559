"""A restore without its master key, or with another one, is told as that from outside, and never as tampering."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from services.common.adapters.sqlite.session_rows import SESSIONS_SCHEMA
from tests.e2e.processes import command, environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
PAGE = "# Glass\n\nA broken window must be reported within 7 days. The deductible for glass damage is 150 EUR.\n"
WRONG = {"GROUNDTRAIL_DAG__MASTER_KEY": "ab" * 32}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys-lost")
    (folder / "docs").mkdir()
    (folder / "docs" / "glass.md").write_text(PAGE, encoding="utf-8")
    run(folder, environment(folder / "data"), "ingest", "docs")
    return folder


@pytest.fixture(scope="module")
def session(folder):
    asked = run(folder, environment(folder / "data"), "ask", "When must a broken window be reported?")
    return asked["answer"]["session_id"]


def run(folder, env, *arguments, expect=0):
    done = command(folder, *arguments, "--json", env=env)
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout)


def restored(folder, name, *, keys, before_checks=False):
    """Return a copy of the data, with its keys or without; as it was before key checks were kept, if wanted."""
    shutil.copytree(folder / "data", folder / name)
    if not keys:
        shutil.rmtree(folder / name / "keys")
    if before_checks:
        with closing(sqlite3.connect(folder / name / "sessions.db")) as file:
            file.executescript(f"DROP TABLE key_checks; PRAGMA user_version = {len(SESSIONS_SCHEMA.migrations) - 1}")
    return folder / name


def master_key_finding(folder, env, expect):
    findings = run(folder, env, "doctor", expect=expect)["findings"]
    return next(finding for finding in findings if finding["check"] == "master key")


def assert_refused(folder, env, session):
    served = command(folder, "serve", "dag", "--port", "0", env=env)
    assert served.returncode == 1
    assert "dag: cannot start: MASTER_KEY_MISMATCH: the stored sessions were made with" in served.stderr
    error = run(folder, env, "verify", session, expect=6)["error"]
    assert error["reason"] == "MASTER_KEY_MISMATCH"
    assert "backup" in error["message"]


@pytest.mark.parametrize("before_checks", [False, True])
def test_a_restore_without_keys_is_refused_and_makes_none(folder, session, before_checks):
    data = restored(folder, f"without-{before_checks}", keys=False, before_checks=before_checks)
    assert_refused(folder, environment(data), session)
    assert not list(data.glob("keys/*"))
    shutil.copytree(folder / "data" / "keys", data / "keys", dirs_exist_ok=True)
    assert run(folder, environment(data), "verify", session)["integrity"] == "CHAIN_INTEGRITY_VALID"


@pytest.mark.parametrize("before_checks", [False, True])
def test_another_key_of_the_same_version_is_refused(folder, session, before_checks):
    data = restored(folder, f"wrong-{before_checks}", keys=False, before_checks=before_checks)
    assert_refused(folder, environment(data, **WRONG), session)


def test_doctor_names_the_key(folder, session):
    env = environment(restored(folder, "looked-at", keys=True))
    assert master_key_finding(folder, env, expect=0)["level"] == "ok"
    assert master_key_finding(folder, env | WRONG, expect=3)["level"] == "problem"


def test_a_folder_from_before_opens_and_remembers_its_key(folder, session):
    data = restored(folder, "before", keys=True, before_checks=True)
    assert run(folder, environment(data), "verify", session)["integrity"] == "CHAIN_INTEGRITY_VALID"
    with closing(sqlite3.connect(data / "sessions.db")) as file:
        assert [version for (version,) in file.execute("SELECT key_version FROM key_checks")] == [1]


def test_a_rotation_changes_nothing_of_what_was(folder, session):
    data = restored(folder, "rotated", keys=True)
    env = environment(data)
    run(folder, env, "keys", "rotate-master")
    asked = run(folder, env, "ask", "What is the deductible for glass damage?")["answer"]["session_id"]
    for each in (session, asked):
        assert run(folder, env, "verify", each)["integrity"] == "CHAIN_INTEGRITY_VALID"
    (data / "keys" / "master-2.key").unlink()
    assert "master key version 2 was in use" in run(folder, env, "verify", session, expect=6)["error"]["message"]
