"""An erasure from outside: afterwards no file of the data folder holds a word of the source (ADR 0112)."""

import json

import pytest

from tests.e2e.processes import command, environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def run(folder, env, *arguments):
    done = command(folder, *arguments, "--json", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def holding(data, words):
    return [str(file.relative_to(data)) for file in data.rglob("*") if file.is_file() and words in file.read_bytes()]


def test_no_file_quotes_a_source_that_was_erased(tmp_path):
    data = tmp_path / "data"
    env = environment(data)
    fees = {"fees": b"The late fee is 3 euros per day.", "other": b"The late fee is 5 euros per day."}
    for name, words in fees.items():
        (tmp_path / f"{name}.md").write_bytes(words)
        run(tmp_path, env, "ingest", f"{name}.md")
    assert "graph.db" in holding(data, fees["fees"])  # the other's answer tells of the disagreement
    run(tmp_path, env, "sources", "erase", "file:fees.md", "--yes")
    assert holding(data, b"3 euros") == []
    assert holding(data, fees["other"])
