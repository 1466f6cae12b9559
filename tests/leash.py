"""Processes that tests start and that never outlive them.

Every process leads a group of its own, so that what it starts itself ends with it. The test ends it; what a test that
gave up left behind is ended by ``end_all``, which tests/conftest.py calls after every test. What a fixture of a module
or of the session starts is kept until that fixture ends it, or all ends. When pytest itself is killed, nothing of it
can act any more: the keeper, a small process that reads from a pipe which only this process holds open, sees the pipe
end and kills every group that is left.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final, Protocol

from tests.patience import patient


class Process(Protocol):
    """What is held: ``subprocess.Popen``, or what is forked for a test (tests/forked.py)."""

    pid: int
    stdin: IO[Any] | None
    stdout: IO[Any] | None
    stderr: IO[Any] | None

    def wait(self, timeout: float | None = None) -> int:
        """Return the status when it has ended."""


_KEEPER: Final = Path(__file__).with_name("leash_keeper.py")
_kept: set[int] = set()
_held: dict[int, Process] = {}
_keeper: "subprocess.Popen[str] | None" = None


def leashed(command: Sequence[str | os.PathLike[str]], **options: Any) -> "subprocess.Popen[Any]":
    """Start a process, as ``subprocess.Popen`` does, that ends when this one does."""
    process = subprocess.Popen(command, process_group=0, **options)
    hold(process)
    return process


def hold(process: Process) -> None:
    """Have a process that leads its group end when this one does."""
    _start_keeper()
    _held[process.pid] = process
    _tell(f"+{process.pid}\n")


def release(process: Process) -> None:
    """Kill what is left of the process and of all that it started, close its pipes and forget it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(patient(10))
    for pipe in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(BrokenPipeError):
            pipe and pipe.close()
    if _held.pop(process.pid, None):
        _kept.discard(process.pid)
        _tell(f"-{process.pid}\n")


@contextlib.contextmanager
def running(command: Sequence[str | os.PathLike[str]], **options: Any) -> "Iterator[subprocess.Popen[Any]]":
    """Start a process and kill it, and all that it started, when the block is left in whatever way."""
    process = leashed(command, **options)
    try:
        yield process
    finally:
        release(process)


@contextlib.contextmanager
def keeping(*, keep: bool) -> Iterator[None]:
    """Let what is started in the block outlive the test that happens to run, unless the block fails."""
    before = set(_held)
    yield
    if keep:
        _kept.update(set(_held) - before)


def end_all(*, also_kept: bool = False) -> None:
    """End what the test that is over has left, and at the end of everything what was kept as well."""
    for process in [process for pid, process in _held.items() if also_kept or pid not in _kept]:
        release(process)


def end_with_parent() -> None:
    """Let this process end within a second of the one that started it: a worker of a run whose head was killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()


def _start_keeper() -> None:
    global _keeper  # noqa: PLW0603 - one keeper for each process that runs tests
    if _keeper is not None and _keeper.poll() is None:
        return
    _keeper = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_KEEPER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        process_group=0,
    )
    for pid in _held:
        _tell(f"+{pid}\n")
    atexit.register(_end_keeper, _keeper)


def _tell(line: str) -> None:
    if _keeper is not None and _keeper.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            _keeper.stdin.write(line)
            _keeper.stdin.flush()


def _end_keeper(keeper: "subprocess.Popen[str]") -> None:
    end_all(also_kept=True)
    keeper.communicate()
