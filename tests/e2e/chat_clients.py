"""Clients of others' making before the real suite: a program uses them, and what it saw comes back."""

import json
import os
import socket
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

from tests.e2e.processes import ROOT, command, environment, start
from tests.fakes.scripted_chat import ScriptedChat
from tests.patience import patient

FEE = "The fee for late reports is 5 euros."
WRONG = "The fee for late reports is 6 euros."
OURS = os.pathsep.join(map(str, (ROOT / "clients/python/src", ROOT / "gen")))
"""Where a program finds the package ``groundtrail``."""


def answer(messages):
    """Return what the scripted provider says: a false sentence behind a true one where it is asked to."""
    return f"{FEE} {WRONG}" if "wrongly" in json.dumps(messages) else FEE


def seen_by(folder: Path, *program: str, forms: Collection[str], cwd: Path | None = None) -> dict:
    """Return what a program saw: its JSON.

    Args:
        folder: of the suite's data.
        program: a command; the suite's HTTP address, a key, the provider's address and the suite's gRPC address follow.
        forms: in which the suite has the provider behind it: LLM, OpenAI's, or ANTHROPIC.
        cwd: where it runs.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with ScriptedChat(answer).running() as base:
        providers = {f"GROUNDTRAIL_{form}__BASE_URL": base for form in forms}
        model = {"GROUNDTRAIL_LLM__MODEL": "gpt-4o-mini"} if "LLM" in forms else {}
        # Within a short deadline a busy machine leaves stages out, and an answer that was not read is withheld.
        patience = {"GROUNDTRAIL_HTTP__CALL_TIMEOUT_S": str(patient(60))}
        env = environment(folder / "data", GROUNDTRAIL_HTTP__PORT=str(port), **providers, **model, **patience)
        made = command(folder, "keys", "create", "--label", "client", "--role", "writer", "--json", env=env)
        assert made.returncode == 0, made.stdout + made.stderr
        server = start(folder, "suite", env=env)
        try:
            key = json.loads(made.stdout)["api_key"]
            told = (f"http://127.0.0.1:{port}", key, base, server.address)
            done = _run([*program, *told], cwd)
        finally:
            server.stop()
    assert done.returncode == 0, done.stderr
    seen: dict = json.loads(done.stdout)
    return seen


def _run(given: Sequence[str], cwd: Path | None) -> subprocess.CompletedProcess:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDTRAIL_", "PYTHON"))}
    env |= {"PYTHONPATH": OURS, "NO_PROXY": "127.0.0.1"}
    return subprocess.run(given, cwd=cwd, env=env, capture_output=True, text=True, timeout=patient(120), check=False)
