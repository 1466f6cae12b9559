"""``groundtrail mcp``: what is said where it cannot serve."""

import importlib.util

import pytest
from typer.testing import CliRunner

from services.cli.app import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_STORE__DATA_DIR", str(tmp_path))
    return lambda *arguments: CliRunner().invoke(app, ["mcp", *arguments])


def test_without_the_library_one_sentence_names_the_extra(run, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr("services.cli.commands.mcp.find_spec", lambda name: None if name == "mcp" else find(name))
    done = run()
    assert done.exit_code == 1
    said = " ".join(done.stderr.split())
    assert 'pip install "groundtrail-server[mcp]"' in said
    assert 'in a checkout pip install -e ".[mcp]"' in said
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(("arguments", "words"), [(["--json"], "--http"), (["--http", "70000"], "65535")])
def test_wrong_options_are_told(run, arguments, words):
    done = run(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr
