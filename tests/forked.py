"""``groundtrail …`` as a process of its own that need not import everything anew.

To import the product and what it stands on takes one and a half seconds of processor, its tables of units half a second
more, and a run of the tests starts a hundred processes. One process in each that runs tests does it once and forks
(tests/fork_server.py). What is forked is a process like any other: its own memory, environment, folder, streams,
signals and end. Where it would not be the same as one that was started by its name, it is started by its name: when
its environment says more than our settings, because Python and libraries read theirs early, and on other systems than
Linux. The tests of light commands, of readers that go away and of the wheel always start theirs by name. The writers
that tests of faults kill are forked in the same way.
"""

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from tests import leash
from tests.patience import patient

_SERVER: Final = Path(__file__).with_name("fork_server.py")
COMMAND: Final = "services.cli"
_START_S: Final = 120.0
_FREE: Final = ("GROUNDTRAIL_", "COLUMNS", "PYTEST_")
"""What may differ from this process's environment: nobody reads it while modules are imported."""
_lock = threading.Lock()
_server: "tuple[subprocess.Popen[Any], socket.socket] | None" = None
spent_s = 0.0
"""Processor seconds of what was forked and has ended, and of the imports: none of them are children of this process."""


class ForkedProcess:
    """As much of ``subprocess.Popen`` as tests use."""

    stdin: IO[Any] | None = None
    stdout: IO[Any] | None = None
    stderr: IO[Any] | None = None

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self._told.settimeout(patient(_START_S))
        self.pid: int = json.loads(told.recv(100))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the status if it has ended."""
        return self._status(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return the status when it has ended.

        Raises:
            subprocess.TimeoutExpired: it has not.
        """
        status = self._status(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("groundtrail", timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def _status(self, timeout: float | None) -> int | None:
        global spent_s  # noqa: PLW0603 - one sum for each process that runs tests
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                told = self._told.recv(100)
            except (TimeoutError, BlockingIOError):
                return None
            self.returncode, cost = json.loads(told) if told else (-signal.SIGKILL, 0.0)
            spent_s += cost
            self._told.close()
        return self.returncode


def can_fork(environment: Mapping[str, str]) -> bool:
    """Say whether a forked process would see what one does that is started by its name."""
    names = set(environment) | set(os.environ)
    return sys.platform == "linux" and all(
        name.startswith(_FREE) or environment.get(name) == os.environ.get(name) for name in names
    )


def forked(
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    stdout: IO[Any],
    stderr: IO[Any],
    stdin: IO[Any] | None = None,
    module: str = COMMAND,
) -> ForkedProcess:
    """Start ``groundtrail``, or another module, with these arguments; on the leash, as all that tests start."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    order = {"module": module, "arguments": arguments, "folder": str(folder), "environment": dict(environment)}
    with theirs, open(os.devnull, "rb") as nothing, _lock:  # noqa: PTH123 - a descriptor
        streams = [(stdin or nothing).fileno(), stdout.fileno(), stderr.fileno(), theirs.fileno()]
        socket.send_fds(_running_server(), [json.dumps(order).encode()], streams)
    process = ForkedProcess(mine)
    leash.hold(process)
    return process


@contextlib.contextmanager
def running_module(module: str, *arguments: str, folder: Path) -> Iterator[Any]:
    """Run ``python -m module …`` with pipes of text as stdin and stdout, and kill it when the block is left."""
    if not can_fork(os.environ):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with leash.running([sys.executable, "-m", module, *arguments], cwd=folder, **pipes) as process:
            yield process
        return
    (read, told), (said, write) = os.pipe(), os.pipe()
    with os.fdopen(read, "rb") as stdin, os.fdopen(write, "wb") as stdout:
        started = forked(
            arguments, folder=folder, environment=os.environ, module=module, stdin=stdin, stdout=stdout,
            stderr=sys.__stderr__ or stdout,
        )  # fmt: skip
    started.stdin, started.stdout = os.fdopen(told, "w"), os.fdopen(said, "r")
    try:
        yield started
    finally:
        leash.release(started)


def _running_server() -> socket.socket:
    global _server, spent_s  # noqa: PLW0603 - one for each process that runs tests
    if _server is None or _server[0].poll() is not None:
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        with theirs, leash.keeping(keep=True):
            command = [sys.executable, str(_SERVER), str(theirs.fileno())]
            process = leash.leashed(command, pass_fds=[theirs.fileno()], **quiet)
        mine.settimeout(patient(_START_S))
        spent_s += json.loads(mine.recv(100))
        _server = process, mine
        atexit.register(mine.close)
    return _server[1]
