"""The peer beside which the guard is measured: ``director-ai`` from the package registry, each release for itself.

A release is installed from its lock file, hashes checked, into an environment of its own under ``.cache/peers``, and
asked through ``peer_process`` there, lines of JSON both ways. It runs as it installs, with its compiled kernel and its
gRPC extra, and without its optional entailment models: their weights are no part of the package. Where the registry is
out of reach its columns stay out, and the reason is said.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / ".cache" / "peers"
LOCKS: Final = Path(__file__).with_name("locks")
PROCESS: Final = Path(__file__).with_name("peer_process.py")
NAME: Final = "director-ai"
SERVING: Final = "3.15.3"
"""The last release that has servers."""
CURRENT: Final = "3.21.0"
RELEASES: Final = (SERVING, CURRENT)
WITHOUT: Final = "as its package installs, with its compiled kernel, without its optional entailment models"
INSTALL_S: Final = 600.0
BATCH: Final = 200


class PeerError(Exception):
    """A release cannot be had, or fails; the message says why."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A release that runs in a process of its own."""

    release: str
    process: subprocess.Popen[str]

    @property
    def name(self) -> str:
        """Package and release."""
        return f"{NAME} {self.release}"

    def ask(self, order: str, **given: Any) -> Any:
        """Return what an order gives.

        Raises:
            PeerError: the peer raised, or its process ended.
        """
        if self.process.stdin is None or self.process.stdout is None:
            raise PeerError(f"{self.name} has no pipes")
        try:
            self.process.stdin.write(json.dumps({"order": order, **given}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError as error:
            raise PeerError(f"{self.name} ended: {error}") from error
        if not line:
            raise PeerError(f"{self.name} ended in {order}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(f"{self.name}, {order}: {answer['error']}")
        return answer["result"]

    def ask_rows(self, order: str, name: str, rows: Sequence[Any]) -> list[Any]:
        """Return an answer for each row, some hundred at a time."""
        found: list[Any] = []
        for start in range(0, len(rows), BATCH):
            found += self.ask(order, **{name: list(rows[start : start + BATCH])})
        return found


def lock_of(release: str) -> Path:
    """Return the lock file of a release."""
    return LOCKS / f"{NAME}-{release}.lock"


def ensure(release: str, folder: Path = FOLDER) -> Path:
    """Install a release unless it is there already, and return its interpreter.

    Raises:
        PeerError: it cannot be installed; the installer's last line is the reason.
    """
    lock, place = lock_of(release), folder / release
    python, stamp = place / "bin" / "python", place / "installed.sha256"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if python.exists() and stamp.is_file() and stamp.read_text(encoding="ascii") == digest:
        return python
    _run("venv", "--quiet", "--clear", str(place), why=release)
    _run("pip", "install", "--quiet", "--python", str(python), "--require-hashes", "-r", str(lock), why=release)
    stamp.write_text(digest, encoding="ascii")
    return python


@contextmanager
def running(release: str, folder: Path = FOLDER) -> Iterator[Peer]:
    """Run a release until the block ends.

    Raises:
        PeerError: it cannot be installed or started.
    """
    python = ensure(release, folder)
    with subprocess.Popen(
        [str(python), "-I", str(PROCESS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            peer = Peer(release, process)
            found = peer.ask("version")
            if found["version"] != release:
                raise PeerError(f"{peer.name}: the environment holds {found['version']}")
            yield peer
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.terminate()


def _run(*arguments: str, why: str) -> None:
    command = [sys.executable, "-m", "uv", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerError(f"{NAME} {why} cannot be installed: {error}") from error
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise PeerError(f"{NAME} {why} cannot be installed: {lines[-1] if lines else 'no reason was given'}")
