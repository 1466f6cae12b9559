"""A real session is exported and every report of it recomputed, in another process, to the byte (ADR 0043)."""

import json

import pytest

from tests.e2e.processes import command, environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
TIMEOUT_S = 400
PAGE = "# Glass\n\nA broken window must be reported within 7 days. The deductible for glass damage is 150 EUR.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    (folder / "glass.md").write_text(PAGE, encoding="utf-8")
    return folder


def run(folder, *arguments, expect=0, **settings):
    env = environment(folder / "data", **settings)
    done = command(folder, *arguments, "--json", env=env, timeout_s=TIMEOUT_S)
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def session(folder):
    run(folder, "ingest", "glass.md")
    first = run(folder, "ask", "When must a broken window be reported?")
    session_id = first["answer"]["window"]["session_id"]
    run(folder, "ask", "What is the deductible for glass damage?", "--session", session_id)
    return session_id


@pytest.fixture(scope="module")
def exported(folder, session):
    counts = run(folder, "export", session, "export.ndjson", "--with-content")
    assert counts["analyses"] == 2
    assert counts["facts"] >= 1
    return (folder / "export.ndjson").read_text(encoding="utf-8").splitlines()


def replay(folder, lines, *, expect):
    (folder / "given.ndjson").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return run(folder, "replay", "given.ndjson", expect=expect, PYTHONHASHSEED="4711")["reports"]


def altered(lines, record, *changes):
    """Return the export with the changes applied to the first lines of that kind, one to each."""
    found, left = [], list(changes)
    for line in lines:
        value = json.loads(line)
        if value.get("record") == record and left:
            left.pop(0)(value)
        found.append(json.dumps(value))
    return found


def test_every_report_is_the_same_in_another_process_with_another_hash_seed(folder, exported):
    reports = replay(folder, exported, expect=0)
    assert [(one["window_number"], one["result"], one["fields"]) for one in reports] == [
        (1, "SAME", []),
        (2, "SAME", []),
    ]


@pytest.mark.whole
def test_other_weights_and_one_byte_of_an_answer_are_named(folder, exported):
    def other_weights(value):
        value["report"]["models"][0]["fingerprint"] += "0"

    def other_answer(value):
        value["response_text"] = value["response_text"].replace("5", "8", 1)

    first, second = replay(folder, altered(exported, "analysis", other_weights, other_answer), expect=3)
    assert first["result"] == "OTHER_WEIGHTS"
    assert first["fields"][0].startswith("models[")
    assert (second["result"], second["reason"]) == ("DIFFERS", "EXPORT_ALTERED")
    assert any(name.startswith("response_text") for name in second["fields"])


@pytest.mark.whole
def test_an_export_without_content_says_what_is_missing(folder, exported):
    events = [line for line in exported if "record" not in json.loads(line)]
    reports = replay(folder, events, expect=1)
    assert {(one["result"], one["reason"]) for one in reports} == {("NOT_REPLAYABLE", "CONTENT_NOT_EXPORTED")}


@pytest.mark.whole
def test_an_erased_fact_is_named(folder, exported):
    kept = [line for line in exported if json.loads(line).get("record") != "fact"]
    reports = replay(folder, kept, expect=1)
    assert {one["reason"] for one in reports} == {"FACT_ERASED"}


def test_build_info(folder):
    found = run(folder, "build-info")
    assert found["trust"] == "UNSIGNED"
    assert len(found["code_digest"]) == len(found["weights_digest"]) == 64
    stopped = run(folder, "build-info", expect=3, GROUNDTRAIL_INTEGRITY__PUBLIC_KEY="a" * 64)
    assert "no build manifest" in stopped["problem"]
