"""Real server processes for tests: started by the command, found by their ready file, ended by pid with a deadline."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.forked import ForkedProcess, can_fork, forked
from tests.leash import leashed, release
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]
START_DEADLINE_S = patient(120.0)
STOP_DEADLINE_S = patient(30.0)


@dataclass
class Server:
    """One server process."""

    process: subprocess.Popen | ForkedProcess
    address: str
    log: Path
    http_port: int | None = None

    def stop(self) -> int:
        """End it with SIGTERM and return its exit status; kill it when it outlives the deadline."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"did not drain in {STOP_DEADLINE_S} s:\n{self.log.read_text()[-2000:]}") from None
        finally:
            release(self.process)

    def kill(self) -> None:
        """End it, and nothing that it started, with SIGKILL: nothing can be flushed."""
        self.process.kill()
        self.process.wait(patient(10))


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """Return an environment with these settings and no other setting of ours."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GROUNDTRAIL_")}
    return kept | {"GROUNDTRAIL_STORE__DATA_DIR": str(data_dir), **settings}


def start(folder: Path, name: str, *arguments: str, env: dict[str, str]) -> Server:
    """Start ``groundtrail serve …`` on a free port and wait until it serves."""
    given = ["serve", *arguments, "--port", "0", "--ready-file"]
    ready = folder / f"{name}-{time.monotonic_ns()}.ready"
    log = folder / f"{name}.log"
    with log.open("ab") as sink:
        process = run(folder, *given, str(ready), env=env, stdout=sink, stderr=sink)
    deadline = time.monotonic() + START_DEADLINE_S
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            release(process)
            raise AssertionError(f"{name} did not start:\n{log.read_text()[-4000:]}")
        time.sleep(0.05)
    listening = json.loads(ready.read_text())
    return Server(process, listening["address"], log, listening["http_port"])


def command(folder: Path, *arguments: str, env: dict[str, str], timeout_s: float = 120) -> subprocess.CompletedProcess:
    """Run one ``groundtrail`` command to its end."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        process = run(folder, *arguments, env=env, stdout=said, stderr=complained)
        try:
            status = process.wait(patient(timeout_s))
        finally:
            release(process)
        texts = [_text_of(stream) for stream in (said, complained)]
    return subprocess.CompletedProcess(["groundtrail", *arguments], status, *texts)


def run(
    folder: Path, *arguments: str, env: dict[str, str], stdout: IO[bytes], stderr: IO[bytes]
) -> subprocess.Popen | ForkedProcess:
    """Start ``groundtrail`` in a process of its own, forked where that is as good as started by its name."""
    if can_fork(env):
        return forked(arguments, folder=folder, environment=env, stdout=stdout, stderr=stderr)
    by_name = [sys.executable, "-m", "services.cli", *arguments]
    return leashed(by_name, cwd=folder, env=env, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL)


def _text_of(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()
