"""The committed vectors are what the product makes now, and there are some for every pattern."""

import json

import pytest

from tests import wire_vectors


def test_the_vectors_are_what_the_product_makes():
    """After a change of the formats on purpose: ``python -m tests.wire_vectors``, and docs/wire-formats.md."""
    assert wire_vectors.differing() == []


@pytest.fixture(scope="module")
def wire():
    return json.loads((wire_vectors.FOLDER / "wire.json").read_text(encoding="utf-8"))


def test_there_are_vectors_for_every_pattern(wire):
    patterns = {window.get("pattern", "ADOPTED") for windows in wire["windows"].values() for window in windows}
    assert patterns == {"LINEAR", "FAN_OUT", "FAN_IN", "BRANCH", "ADOPTED"}
    assert set(wire["exports"]) == set(wire_vectors.SEEDS)
    parents = [window["text"].count("|") for window in wire["windows"]["fan_in"] if window["pattern"] == "FAN_IN"]
    assert min(parents, default=0) >= 1
    verdicts = {export["verdict"] for export in wire["exports"].values()}
    assert verdicts == {"VALID", "TRUNCATED", "INCOMPLETE", "BROKEN"}


def test_there_are_tokens_that_name_windows_of_several_stores_and_of_parallel_groups(wire):
    origins = [token["payload"]["org"] for token in wire["tokens"]]
    assert {len({store for store, *_ in line}) for line in origins} == {1, 2}
    assert {entry[3] for line in origins for entry in line if len(entry) > 3} == {1, 2}
    assert [(line[0][1], line[0][2]) for line in origins if not line[0][2]] == [(0, "")]


def test_there_is_an_export_of_a_log_that_witnesses_cosigned(wire):
    lines = (wire_vectors.FOLDER / wire["exports"]["cosigned"]["file"]).read_text(encoding="utf-8").splitlines()
    (log,) = [value for line in lines if (value := json.loads(line)).get("record") == "log"]
    assert log["cosigned"]["checkpoint"].count("\u2014 witness.example/") >= 1
    assert log["cosigned"]["path"]


def test_a_file_that_differs_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(wire_vectors, "FOLDER", tmp_path)
    monkeypatch.setattr(wire_vectors, "files", lambda: iter([("a", "1\n"), ("b", "2\n")]))
    (tmp_path / "a").write_text("1\n", encoding="utf-8")
    (tmp_path / "c").write_text("", encoding="utf-8")
    assert wire_vectors.differing() == ["b", "c"]
