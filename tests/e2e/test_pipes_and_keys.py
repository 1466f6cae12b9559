"""A reader that goes away, and a server that asks for no key: the command line as scripts use it."""

import json
import os
import subprocess
import sys

import pytest

from tests.e2e.processes import command, environment, start
from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def unread(folder, *arguments, env):
    """Run a command whose output, and with ``2>&1`` whose errors, nobody reads."""
    read, write = os.pipe()
    os.close(read)
    try:
        return subprocess.run(
            [sys.executable, "-m", "services.cli", *arguments],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=patient(120),
            check=False,
        )
    finally:
        os.close(write)


@pytest.mark.tenth
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["keys", "revoke", "no-uuid"], 2),
        (["keys", "revoke", "00000000-0000-4000-8000-000000000000", "--json"], 4),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_a_reader_that_goes_away_changes_no_exit_code_and_nothing_is_complained_of(tmp_path, arguments, code):
    done = unread(tmp_path, *arguments, env=environment(tmp_path / "data"))
    told = done.stderr.decode()
    assert done.returncode == code, told
    assert "Broken pipe" not in told
    assert "Traceback" not in told


def test_the_work_is_done_although_nobody_reads(tmp_path):
    env = environment(tmp_path / "data")
    assert unread(tmp_path, "keys", "create", "--label", "unread", env=env).returncode == 0
    listed = json.loads(command(tmp_path, "keys", "list", "--json", env=env).stdout)["keys"]
    assert [key["label"] for key in listed] == ["unread"]


def test_what_a_reader_takes_before_it_goes_is_whole(tmp_path):
    line = subprocess.run(
        f"set -o pipefail; {sys.executable} -m services.cli --help | head -2",
        shell=True,
        executable="/bin/bash",
        cwd=tmp_path,
        env=environment(tmp_path / "data"),
        capture_output=True,
        text=True,
        timeout=patient(120),
        check=False,
    )
    assert (line.returncode, line.stderr) == (0, "")
    assert "Usage" in line.stdout


def test_a_server_without_credentials_is_asked_without_a_key(tmp_path):
    server = start(tmp_path, "dag", "dag", "--insecure-local", env=environment(tmp_path / "data"))
    try:
        env = environment(tmp_path / "unused", GROUNDTRAIL_CLIENT__SERVER=server.address)
        done = command(tmp_path, "sessions", "--json", env=env)
        assert (done.returncode, json.loads(done.stdout)) == (0, {"sessions": [], "more": False})
    finally:
        assert server.stop() == 0


def test_a_server_without_credentials_shows_what_the_commands_without_a_server_took_in(tmp_path):
    env = environment(tmp_path / "data")
    (tmp_path / "terms.md").write_text("# Terms\n\nThe deductible for water damage is 240 euros.\n", encoding="utf-8")
    assert command(tmp_path, "ingest", "terms.md", env=env).returncode == 0
    local = command(tmp_path, "keys", "create", "--label", "kept", "--tenant", "local", "--json", env=env)
    server = start(tmp_path, "open", "--insecure-local", env=env)
    try:
        asking = env | {"GROUNDTRAIL_CLIENT__SERVER": server.address}
        listed = json.loads(command(tmp_path, "sources", "--json", env=asking).stdout)["sources"]
        assert [each["uri"] for each in listed] == ["file:terms.md"]
        made = command(tmp_path, "keys", "create", "--label", "lasting", "--json", env=asking)
        refused = json.loads(made.stdout)["error"]
        assert (made.returncode, refused["reason"]) == (5, "CREDENTIAL_MISSING")
    finally:
        server.stop()
    kept = json.loads(command(tmp_path, "keys", "list", "--json", env=env).stdout)["keys"]
    assert sorted(key["label"] for key in kept) == ["groundtrail command line", "kept"]
    assert json.loads(local.stdout)["key"]["tenant_id"] == "local"


def test_one_that_wants_a_key_says_so_and_who_has_the_directory_is_told_to_a_second_server(tmp_path):
    data = environment(tmp_path / "data")
    server = start(tmp_path, "dag", "dag", env=data)
    try:
        env = environment(tmp_path / "unused", GROUNDTRAIL_CLIENT__SERVER=server.address)
        done = command(tmp_path, "sessions", "--json", env=env)
        error = json.loads(done.stdout)["error"]
        assert (done.returncode, error["reason"]) == (5, "CREDENTIAL_MISSING")
        assert "GROUNDTRAIL_CLIENT__API_KEY" in error["hint"]
        second = command(tmp_path, "serve", "dag", "--port", "0", env=data)
        assert second.returncode == 1
        assert (
            f"dag: cannot start: STORE_UNAVAILABLE: sessions.db: a server (process {server.process.pid} on"
            in second.stderr
        )
        assert f"listening on {server.address}" in second.stderr
        assert "Traceback" not in second.stderr
        server.kill()
        after = start(tmp_path, "after", "dag", env=data)
        assert after.stop() == 0
    finally:
        server.kill()
