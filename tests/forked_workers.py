"""Worker processes of a forked command, forked as well: what they import takes longer than what tests ask of them.

A command that reads documents or finds names starts ``python -m`` a module of its own for each worker (ADR 0085). A
command that was forked (tests/forked.py) has imported all of that already. Before it begins, while it has one thread,
it forks a process that does nothing but fork workers. A worker is what one is that was started by its name: a child of
the command, a session of its own, pipes as its streams, an environment that is given, and it bounds itself; only its
address space may be as much larger as the image is that it was forked from. The tests of worker processes themselves
start theirs by name (tests/rpc/test_worker_processes.py and the units of ``services.common.workers``).
"""

import asyncio
import ctypes
import json
import os
import resource
import runpy
import signal
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

MODULES: Final = ("services.common.adapters.text_process", "services.common.documents.document_process")
"""What is forked."""
IMPORTED: Final = (
    *MODULES,
    "services.common.adapters.presidio.engine",
    "services.common.documents.reading",
)
"""What these import when they begin."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LONGEST_ORDER_BYTES: Final = 1 << 16


def begin() -> None:
    """Have the workers of this process forked from now on; call it while it has one thread."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = os.getpid()
    if os.fork() == 0:
        mine.close()
        _serve(theirs, command)
    theirs.close()
    from services.common.workers import process

    setattr(process, "asyncio", _Forking(mine))  # noqa: B010 - its name for the library, in that module alone


class _Forking:
    """``asyncio`` with another way to start processes."""

    def __init__(self, door: socket.socket) -> None:
        self._door = door

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def create_subprocess_exec(self, program: str, *arguments: str, **given: Any) -> Any:
        """Start a worker; anything else as ``asyncio`` does."""
        if len(arguments) != 2 or arguments[1] not in MODULES:
            return await asyncio.create_subprocess_exec(program, *arguments, **given)
        (source, asks), (answers, target) = os.pipe(), os.pipe()
        order = json.dumps([arguments[1], dict(given["env"])]).encode()
        socket.send_fds(self._door, [order], [source, target])
        pid = int(self._door.recv(100))
        os.close(source)
        os.close(target)
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=given["limit"])
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(answers, "rb", 0))
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(asks, "wb", 0))
        return _Worker(pid, asyncio.StreamWriter(transport, protocol, None, loop), reader)


class _Worker:
    """As much of ``asyncio.subprocess.Process`` as is asked of a worker."""

    def __init__(self, pid: int, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None
        self._ended: asyncio.Future[int] | None = None

    def kill(self) -> None:
        """End it."""
        if self.returncode is not None:
            raise ProcessLookupError
        os.kill(self.pid, signal.SIGKILL)

    async def wait(self) -> int:
        """Return its status when it has ended."""
        if self._ended is None:
            self._ended = asyncio.ensure_future(asyncio.to_thread(self._reap))
        self.returncode = await asyncio.shield(self._ended)
        return self.returncode

    def _reap(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _serve(door: socket.socket, command: int) -> None:
    """Fork workers until the command has gone; never returns."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    while True:
        data, streams, _, _ = socket.recv_fds(door, _LONGEST_ORDER_BYTES, 2)
        if not data:
            os._exit(0)
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid == 0:
                door.close()
                module, environment = json.loads(data)
                _become(module, environment, streams, command)
            door.send(str(pid).encode())
            os._exit(0)  # so that the worker becomes a child of the command
        os.waitpid(between, 0)
        for one in streams:
            os.close(one)


def _become(module: str, environment: dict[str, str], streams: list[int], command: int) -> None:
    """Be what ``python -m module`` is; never returns."""
    status = 1
    try:
        while os.getppid() != command:
            time.sleep(0.001)
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [module]
        _raise_limits()
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    finally:
        os._exit(status)


def _raise_limits() -> None:
    """Let a bound of the address space be one of what comes on top of the image."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    image = pages * os.sysconf("SC_PAGE_SIZE")
    bound = resource.setrlimit

    def setrlimit(which: int, limits: tuple[int, int]) -> None:
        more = image if which == resource.RLIMIT_AS else 0
        bound(which, (limits[0] + more, limits[1] + more))

    from services.common.workers import child

    bounded = SimpleNamespace(setrlimit=setrlimit, RLIMIT_AS=resource.RLIMIT_AS, RLIMIT_CORE=resource.RLIMIT_CORE)
    setattr(child, "resource", bounded)  # noqa: B010 - its name for the library, in that module alone
