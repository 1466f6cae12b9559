"""What ``groundtrail witness`` and keys on the command line say of a mistyped name and of a plain port."""

import json

import pytest
from typer.testing import CliRunner

from services.cli.app import app
from services.common.cosignature import Cosigner
from services.common.signed_note import NoteSigner

LOG = str(NoteSigner("log.example/a", bytes(32)).key)
NAME = "witness.example/w1"


@pytest.fixture
def refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        given = ["witness", "serve", "--name", NAME, "--key-file", "own.key", "--state", "heads", *arguments, "--json"]
        done = CliRunner().invoke(app, given)
        assert done.exit_code == 2, done.output
        assert not (tmp_path / "own.key").exists()  # nothing that is refused makes a key
        (field,) = json.loads(done.stdout)["error"]["fields"]
        return field["field"], field["description"]

    return run


def test_a_key_that_is_made_is_told_with_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = ["witness", "key", "--name", NAME, "--key-file", "own.key"]
    first, again = [CliRunner().invoke(app, given) for _ in range(2)]
    assert f"made a new key in {tmp_path / 'own.key'}" in first.stderr
    assert (again.stderr, again.stdout) == ("", first.stdout)
    told = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert told["made"] is False
    assert json.loads(CliRunner().invoke(app, [*given[:-1], "other.key", "--json"]).stdout)["made"] is True


def test_a_file_that_is_not_there_is_told_from_a_wrong_key(refused, tmp_path):
    (tmp_path / "logs").mkdir()
    for given, said in (
        ("nofile.txt", "there is no file nofile.txt"),
        ("logs", "is a folder"),
        (LOG[:-4] + "AAAA", "cut or mixed up"),
    ):
        field, text = refused("--log", given)
        assert field == "--log"
        assert said in text
        assert ("no file" in text) is (given == "nofile.txt")


def test_a_plain_port_beyond_this_machine_is_refused_in_the_words_of_the_command(refused):
    for host in ("0.0.0.0", "192.0.2.1"):
        field, text = refused("--log", LOG, "--host", host)
        assert field == "--host"
        assert "--tls-cert-file and --tls-key-file" in text
        assert "pydantic" not in text
        assert "behind_proxy" not in text
    assert refused("--log", LOG, "--tls-cert-file", "x.pem")[0] == "--tls-key-file"
    assert refused("--log", LOG, "--tls-key-file", "x.pem")[0] == "--tls-cert-file"


@pytest.mark.parametrize("option", ["--public-key", "--witness"])
def test_verify_says_that_the_file_of_a_key_is_missing(tmp_path, option):
    export = tmp_path / "export.ndjson"
    export.write_text("{}\n", encoding="utf-8")
    keys = {"--public-key": LOG, "--witness": str(Cosigner(NAME, bytes(32)).key)} | {option: "nofile.pub"}
    given = [part for pair in keys.items() for part in pair]
    done = CliRunner().invoke(app, ["verify", "--offline", str(export), *given, "--json"])
    assert done.exit_code == 2
    (field,) = json.loads(done.stdout)["error"]["fields"]
    assert field["field"] == option
    assert "there is no file nofile.pub" in field["description"]
