"""``stores copy`` and a vector engine from outside: another folder answers alike, and a served one is left alone."""

import json

import pytest

from tests.e2e.processes import command, environment, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
PAGE = "# Glass\n\nA broken window must be reported within 7 days. The deductible for glass damage is 150 EUR.\n"


def run(folder, env, *arguments, expect=0):
    done = command(folder, *arguments, "--json", env=env)
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout)


def found(folder, data, **settings):
    hits = run(folder, environment(data, **settings), "search", "broken window")["hits"]
    return [(hit["fact"]["fact_id"], hit["fact"]["content"]) for hit in hits]


@pytest.mark.whole
def test_a_copy_answers_as_what_it_was_made_of(tmp_path):
    old, new, other = tmp_path / "old", tmp_path / "new", tmp_path / "other"
    (tmp_path / "glass.md").write_text(PAGE, encoding="utf-8")
    run(tmp_path, environment(old), "ingest", "glass.md")
    server = start(tmp_path, "serving", env=environment(old))
    try:
        refused = run(tmp_path, environment(other), "stores", "copy", "old", "new", expect=6)
        assert refused["error"]["reason"] == "STORE_UNAVAILABLE"
    finally:
        assert server.stop() == 0
    copied = run(tmp_path, environment(other), "stores", "copy", "old", "new")
    (tenant,) = copied["tenants"]
    assert copied["equal"]
    assert tenant["written"]["sources"] == 1
    before = found(tmp_path, old)
    assert before
    assert found(tmp_path, new) == before
    engine = {"GROUNDTRAIL_VECTORS__ENGINE": "qdrant", "GROUNDTRAIL_STORE__EXACT_SEARCH_BELOW": "1"}
    assert found(tmp_path, new, **engine) == before
    again = run(tmp_path, environment(other), "stores", "copy", "old", "new")["tenants"][0]
    assert again["written"] == {"facts": 0, "sources": 0, "communities": False}
    (source,) = run(tmp_path, environment(new), "sources")["sources"]
    run(tmp_path, environment(new, **engine), "sources", "erase", source["source_id"], "--yes")
    assert found(tmp_path, new) == []
    refused = run(tmp_path, environment(other), "stores", "copy", "old", "new", expect=2)
    assert "erased or changed there later" in refused["error"]["message"]
    run(tmp_path, environment(other), "stores", "copy", "old", "new", "--merge")
    assert found(tmp_path, new) == []
