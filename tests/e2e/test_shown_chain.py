"""What is shown of a report's chain is what holds now, in every view, and a changed record is named as such."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.e2e.processes import command, environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
PAGE = "# Glass\n\nA broken window must be reported within 7 days. The deductible for glass damage is 150 EUR.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    (folder / "docs").mkdir()
    (folder / "docs" / "glass.md").write_text(PAGE, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def env(folder):
    return environment(folder / "data")


def run(folder, env, *arguments, expect=0):
    done = command(folder, *arguments, "--json", env=env)
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout)


def views(folder, env, report_id, expect=0):
    """Return the report as lines, as JSON, as what was said of the page, and as page."""
    shown = command(folder, "show", report_id, env=env | {"COLUMNS": "200"})
    assert shown.returncode == expect, shown.stdout + shown.stderr
    plain = run(folder, env, "show", report_id, expect=expect)
    made = run(folder, env, "show", report_id, "--html", "page.html", expect=expect)
    return shown.stdout, plain, made, (folder / "page.html").read_text(encoding="utf-8")


def test_one_report_has_one_verdict_and_it_is_the_records(folder, env):
    run(folder, env, "ingest", "docs")
    answer = run(folder, env, "ask", "When must a broken window be reported?")["answer"]
    session, report = answer["session_id"], answer["report"]["report_id"]

    assert run(folder, env, "verify", session)["integrity"] == "CHAIN_INTEGRITY_VALID"
    seen, plain, made, page = views(folder, env, report)
    assert "chain VALID" in seen.splitlines()[0]
    assert (plain["chain"]["integrity"], made["chain_integrity"]) == ("CHAIN_INTEGRITY_VALID", "VALID")
    assert "chain VALID" in page

    with closing(sqlite3.connect(folder / "data" / "sessions.db")) as store, store:
        store.execute("UPDATE windows SET risk_level = 'HIGH' WHERE session_id = ?", (session,))
    for _ in range(2):  # before anything else has verified the session, and after
        seen, plain, made, page = views(folder, env, report, expect=3)
        assert "chain BROKEN" in seen.splitlines()[0]
        assert f"the record of session {session} was changed" in seen
        assert (plain["chain"]["integrity"], made["chain_integrity"]) == ("CHAIN_INTEGRITY_BROKEN", "BROKEN")
        assert "chain BROKEN" in page
        assert "was changed" in page


def test_a_damaged_log_is_an_error_and_no_line_of_a_servers_log(folder, env):
    run(folder, env, "ingest", "docs")
    run(folder, env, "ask", "When must a broken window be reported?")
    with closing(sqlite3.connect(folder / "data" / "sessions.db")) as store, store:
        store.execute("DELETE FROM leaves WHERE leaf_index = (SELECT MAX(leaf_index) FROM leaves)")
    done = command(folder, "checkpoint", env=env)
    assert done.returncode == 3
    assert done.stderr.startswith("error: the tenant's transparency log does not hold together")
    assert "{" not in done.stderr
