"""The command as scripts use it: JSON on stdout, exit codes, messages that say what to do next."""

import json
import re

import pytest

from tests.e2e.processes import command, environment, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
PAGE = "# Glass\n\nA broken window must be reported within 7 days. The deductible for glass damage is 150 EUR.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command")
    (folder / "docs").mkdir()
    (folder / "docs" / "glass.md").write_text(PAGE, encoding="utf-8")
    (folder / "docs" / "notes.bin").write_bytes(b"\x00\x01")
    (folder / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    return folder


@pytest.fixture(scope="module")
def env(folder):
    return environment(folder / "data")


def run(folder, env, *arguments, expect=0):
    done = command(folder, *arguments, "--json", env=env)
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def ingested(folder, env):
    return run(folder, env, "ingest", "docs", expect=3)


@pytest.fixture(scope="module")
def asked(folder, env, ingested):
    return run(folder, env, "ask", "When must a broken window be reported?")


def test_ingest_takes_what_it_can_read_and_says_what_it_made(ingested):
    document, left = ingested["documents"]
    assert document["path"] == "docs/glass.md"
    assert document["facts_created"] >= 2
    assert not document["error"]
    assert (left["path"], left["reason"], left["facts_created"]) == ("docs/notes.bin", "UNSUPPORTED_MEDIA", 0)


def test_ingesting_again_changes_nothing(folder, env, ingested):
    document, _ = run(folder, env, "ingest", "docs", expect=3)["documents"]
    assert document["unchanged"]
    assert document["source_id"] == ingested["documents"][0]["source_id"]


def test_a_refused_file_is_an_error_with_its_reason(folder, env):
    (document,) = run(folder, env, "ingest", "picture.txt", expect=2)["documents"]
    assert document["reason"] == "UNSUPPORTED_MEDIA"


def test_a_missing_path_is_wrong_input(folder, env):
    error = run(folder, env, "ingest", "nowhere", expect=2)["error"]
    assert error["reason"] == "INVALID_FIELD"
    assert error["fields"][0]["field"] == "PATH"


def test_ask_answers_from_the_document(asked):
    assert "within 7 days" in asked["answer"]["text"]
    assert asked["answer"]["report"]["claims"]


def test_a_streamed_answer_is_the_answer_line_by_line(folder, env, ingested):
    done = command(folder, "ask", "When must a broken window be reported?", "--stream", "--json", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    *pieces, outcome = [json.loads(line) for line in done.stdout.splitlines()]
    assert "".join(piece["token"] for piece in pieces) == outcome["answer"]["text"]
    assert "within 7 days" in outcome["answer"]["text"]


def test_ask_goes_on_with_the_session(folder, env, asked):
    session = asked["answer"]["session_id"]
    more = run(folder, env, "ask", "What is the deductible for glass damage?", "--session", session)
    assert more["answer"]["session_id"] == session
    assert more["answer"]["window"]["window_number"] == 2
    assert "150 EUR" in more["answer"]["text"]
    verdict = run(folder, env, "verify", session)
    assert verdict["integrity"] == "CHAIN_INTEGRITY_VALID"
    assert verdict["windows_total"] == 2
    (listed,) = [s for s in run(folder, env, "sessions")["sessions"] if s["session"]["session_id"] == session]
    assert listed["windows_committed"] == 2
    assert listed["session"]["circuit_breaker"] == "BREAKER_STATE_CLOSED"
    assert "CLOSED" in read(folder, env, "sessions")
    assert "circuit breaker CLOSED" in read(folder, env, "dag", session)
    report = run(folder, env, "show", more["answer"]["report"]["report_id"])
    assert report["report"]["window_id"] == more["answer"]["window"]["window_id"]


def read(folder, env, *arguments, columns=80):
    done = command(folder, *arguments, env=env | {"COLUMNS": str(columns)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_people_see_what_matters_first_why_and_from_where(folder, env, ingested):
    seen = read(folder, env, "ask", "When must a broken window be reported?")
    lines = seen.splitlines()
    assert re.match(r"LOW 0\.\d\d · 1 claim supported · chain ", lines[0])
    assert len(lines) <= 42  # and how to go on
    assert max(len(line) for line in lines) <= 80
    assert "Stands word for word in Glass." in seen
    assert "CRP-" not in seen
    assert "\x1b" not in seen
    assert "CRP-Context-Quality-Tier" in read(
        folder, env, "ask", "When must glass be reported?", "--headers", columns=120
    )


def test_a_fact_is_shown_by_the_beginning_of_its_id(folder, env, asked):
    fact_id = asked["answer"]["report"]["claims"][0]["judgement"]["evidence"][0]["fact_id"]
    assert "7 days" in read(folder, env, "facts", "show", fact_id[:8])
    shown = run(folder, env, "facts", "show", fact_id[:8])
    assert (shown["fact"]["fact_id"], shown["source"]["title"]) == (fact_id, "Glass")
    assert run(folder, env, "facts", "show", "0000-", expect=2)["error"]["reason"] == "INVALID_FIELD"
    assert run(folder, env, "facts", "show", "x", expect=2)["error"]["fields"][0]["field"] == "ID"


def test_a_report_becomes_one_page(folder, env, asked):
    report_id = asked["answer"]["report"]["report_id"]
    made = run(folder, env, "show", report_id, "--html", "answer.html")
    assert made["risk_level"] == "LOW"
    html = (folder / "answer.html").read_text(encoding="utf-8")
    for wanted in ("When must a broken window be reported?", "within 7 days", "Glass", report_id, "word for word"):
        assert wanted in html
    refused = run(folder, env, "show", report_id, "--html", "nowhere/x.html", expect=2)["error"]
    assert refused["fields"][0]["field"] == "--html"
    assert "Stands word for word in Glass." in read(folder, env, "show", report_id)


def test_unknown_session_is_not_found_and_says_where_to_look(folder, env):
    error = run(folder, env, "verify", "crp_sess_" + "x" * 32, expect=4)["error"]
    assert error["reason"] == "SESSION_NOT_FOUND"
    assert "groundtrail sessions" in error["hint"]


def test_keys_are_made_listed_and_revoked(folder, env):
    made = run(folder, env, "keys", "create", "--label", "ci", "--role", "reader", "--days", "3")
    assert made["api_key"].startswith("crp_gw_dev_")
    listed = run(folder, env, "keys", "list")["keys"]
    (mine,) = [key for key in listed if key["key_id"] == made["key"]["key_id"]]
    assert mine["state"] == "API_KEY_STATE_ACTIVE"
    assert made["api_key"] not in json.dumps(listed)
    revoked = run(folder, env, "keys", "revoke", made["key"]["key_id"])
    assert revoked["key"]["state"] == "API_KEY_STATE_REVOKED"


def test_doctor_finds_nothing_wrong_here_and_names_wrong_weights(folder, env, tmp_path):
    levels = {f["check"]: f["level"] for f in run(folder, env, "doctor")["findings"]}
    assert levels["weights"] == "ok"
    assert "problem" not in levels.values()
    (tmp_path / "MANIFEST.json").write_text("{}", encoding="utf-8")
    broken = env | {"GROUNDTRAIL_INFERENCE__MODEL_REPOSITORY": str(tmp_path)}
    levels = {f["check"]: f for f in run(folder, broken, "doctor", expect=3)["findings"]}
    assert levels["weights"]["level"] == "problem"
    assert levels["weights"]["advice"]


def test_doctor_finds_a_damaged_store(folder, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "sessions.db").write_bytes(b"this is no database" * 400)
    findings = run(folder, environment(data), "doctor", expect=3)["findings"]
    assert {f["check"]: f["level"] for f in findings}["sessions.db"] == "problem"


def test_version_names_the_models(folder, env):
    seen = run(folder, env, "version")
    assert seen["crp"] == "3.0.0"
    assert "embedder" in seen["models"]


def test_a_misspelt_setting_stops_everything(folder, env):
    done = command(folder, "version", "--json", env=env | {"GROUNDTRAIL_STORE__DATADIR": "x"})
    assert done.returncode == 2
    assert "GROUNDTRAIL_STORE__DATA_DIR" in json.loads(done.stdout)["error"]["hint"]


def test_help_lists_every_command(folder, env):
    done = command(folder, "--help", env=env)
    assert done.returncode == 0
    for name in (
        "demo",
        "serve",
        "ingest",
        "keys",
        "systems",
        "ask",
        "verify",
        "sessions",
        "show",
        "doctor",
        "version",
    ):
        assert name in done.stdout


def test_a_running_server_is_used_when_one_is_named(folder, tmp_path):
    env = environment(tmp_path / "served")
    key = run(folder, env, "keys", "create", "--label", "remote", "--role", "writer")["api_key"]
    server = start(tmp_path, "served", env=env)
    try:
        remote = environment(
            tmp_path / "unused", GROUNDTRAIL_CLIENT__SERVER=server.address, GROUNDTRAIL_CLIENT__API_KEY=key
        )
        run(folder, remote, "ingest", "docs/glass.md")
        assert "7 days" in run(folder, remote, "ask", "When must a broken window be reported?")["answer"]["text"]
        error = run(folder, remote, "keys", "list", expect=5)["error"]
        assert error["reason"] == "ROLE_MISSING"
    finally:
        assert server.stop() == 0
    error = run(folder, remote, "sessions", expect=6)["error"]
    assert error["reason"] == "SERVICE_UNAVAILABLE"
    assert "groundtrail serve" in error["hint"]


def test_a_preview_foretells_the_envelope(folder, env, ingested):
    asked = ("When must a broken window be reported?", "--budget", "100", "--grounding-mode", "context-strict")
    foretold = run(folder, env, "preview", *asked)["preview"]
    built = run(folder, env, "envelope", *asked)["envelope"]
    assert (foretold["etag"], foretold["estimated_tokens"]) == (built["etag"], built["token_count"])
    assert built["grounding_mode"] == "GROUNDING_MODE_CONTEXT_STRICT"


@pytest.mark.parametrize("arguments", [("--budget", "-1"), ("--grounding-mode", "loose")])
def test_a_preview_with_wrong_options_is_refused(folder, env, arguments):
    done = command(folder, "preview", "When?", *arguments, env=env)
    assert done.returncode == 2
