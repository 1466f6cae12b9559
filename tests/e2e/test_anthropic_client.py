"""Anthropic's official package, unchanged, before the real suite: its base URL and its key are all that is told."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.e2e.processes import command, environment, start
from tests.fakes.scripted_chat import ScriptedChat
from tests.patience import patient
from tools.real_servers import anthropic_client

pytestmark = [pytest.mark.needs_anthropic, pytest.mark.timeout(300)]

PROGRAM = Path(__file__).with_name("anthropic_program.py")
FEE = "The fee for late reports is 5 euros."
WRONG = "The fee for late reports is 6 euros."


def answer(messages):
    return f"{FEE} {WRONG}" if "wrongly" in json.dumps(messages) else FEE


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Yield what the program saw."""
    interpreter = os.environ.get(anthropic_client.VARIABLE, "")
    if not interpreter:
        pytest.skip(f"set {anthropic_client.VARIABLE} to a Python that has the package, as make test-real does")
    folder = tmp_path_factory.mktemp("anthropic")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with ScriptedChat(answer).running() as base:
        env = environment(folder / "data", GROUNDTRAIL_HTTP__PORT=str(port), GROUNDTRAIL_ANTHROPIC__BASE_URL=base)
        made = command(folder, "keys", "create", "--label", "claude", "--role", "writer", "--json", env=env)
        assert made.returncode == 0, made.stdout + made.stderr
        server = start(folder, "suite", env=env)
        try:
            given = [interpreter, str(PROGRAM), f"http://127.0.0.1:{port}", json.loads(made.stdout)["api_key"]]
            done = subprocess.run(given, capture_output=True, text=True, timeout=patient(120), check=False)
        finally:
            server.stop()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_true_answer_arrives_with_object_and_headers(seen):
    assert seen["plain"] == [FEE, "end_turn", "check"]
    header, level = seen["header"]
    assert header == level


def test_a_stream_arrives_whole(seen):
    assert seen["stream"] == [f"{FEE} ", "end_turn"]


def test_a_stream_ends_before_what_is_wrong(seen):
    text, reason = seen["halted"]
    assert (text.strip(), reason) == (FEE, "refusal")


def test_refusals_are_the_packages_own_errors_with_our_reason(seen):
    assert seen["withheld"] == ["APIStatusError", 451, "ANSWER_WITHHELD"]
    assert seen["nobody"] == ["AuthenticationError", 401, "CREDENTIAL_INVALID"]
    assert seen["refused"] == ["BadRequestError", 400, "INVALID_FIELD"]


def test_the_deployments_own_answer_has_its_form(seen):
    assert seen["ground"] == ["message", "ground"]
