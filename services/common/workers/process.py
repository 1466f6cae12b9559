"""One child process, as its parent sees it: started, asked, watched, ended."""

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from services.common.settings.environment import environment_of_children
from services.common.workers.child import EXIT_OUT_OF_MEMORY
from services.common.workers.errors import JobFailedError, WorkerStartError
from services.common.workers.failures import from_data
from services.common.workers.frames import HEADER, Json, frame, lengths

_START_S: Final = 300.0
"""A child that is not ready by then never will be."""
_SLICE_BYTES: Final = 1 << 20
_SINGLE_THREADED: Final = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
"""A child computes one job; more threads would only wait for one another and take address space."""
_CRASHES: Final = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL})
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


class ChildLostError(Exception):
    """The child has ended; ``status`` as ``subprocess`` tells it."""

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status

    @property
    def by_itself(self) -> bool:
        """Whether it crashed, which it will do again: often a library that got no memory."""
        return self.status is not None and -self.status in _CRASHES

    @property
    def out_of_memory(self) -> bool:
        """Whether it said that its memory did not suffice."""
        return self.status == EXIT_OUT_OF_MEMORY


class ChildProcess:
    """A child that is ready; one job at a time. Belongs to one event loop."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._input = process.stdin
        self._output = process.stdout

    @classmethod
    async def start(cls, module: str, setting: Json) -> Self:
        """Start ``python -m module`` and return it ready.

        Raises:
            WorkerStartError: it cannot be started, or said why it cannot work.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                module,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=environment_of_children() | _SINGLE_THREADED,
                limit=_SLICE_BYTES,
                start_new_session=True,  # what a terminal sends to its group is for the parent
            )
        except OSError as error:
            raise WorkerStartError(f"{module} cannot be started: {error.strerror or error}") from error
        child = cls(process)
        try:
            await child._begin(module, {**setting, "parent": os.getpid()})
        except BaseException:
            await child.kill()
            raise
        return child

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def processor_s(self) -> float | None:
        """Return the processor time that it has used, in seconds; ``None`` where that cannot be told."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except (OSError, UnicodeDecodeError):
            return None
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S

    async def ask(self, name: str, arguments: Json, blob: bytes) -> list[Json]:
        """Give it a job and return the parts of its answer.

        Raises:
            CrpError: what the job raised for the caller.
            JobFailedError: the job raised something else.
            ChildLostError: it has ended, or makes no sense; it is to be killed.
        """
        parts: list[Json] = []
        try:
            await self._send(frame([name, arguments], blob), blob)
            while True:
                kind, *rest = await self._receive()
                if kind == "part":
                    parts.append(rest[0])
                    continue
                break
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            raise ChildLostError(await self._ended()) from error
        if kind == "refused":
            raise from_data(rest[0])
        if kind == "failed":
            raise JobFailedError(str(rest[0]))
        return parts

    async def kill(self) -> None:
        """End it at once and take its status."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        self._input.close()

    async def _begin(self, module: str, setting: Json) -> None:
        started = time.monotonic()
        try:
            async with asyncio.timeout(_START_S):
                await self._send(frame(setting), b"")
                kind, *rest = await self._receive()
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            status, seconds = await self._ended(), time.monotonic() - started
            raise WorkerStartError(f"{module} ended with status {status} after {seconds:.1f} s") from error
        if kind != "ready":
            raise WorkerStartError(f"{module}: {rest[0]}: {rest[1]}")

    async def _ended(self) -> int | None:
        """Return the status of a child that has closed its output, or will not make sense any more."""
        try:
            async with asyncio.timeout(1.0):
                return await self._process.wait()
        except TimeoutError:
            await self.kill()
            return self._process.returncode

    async def _send(self, head: bytes, blob: bytes) -> None:
        self._input.write(head)
        await self._input.drain()
        for at in range(0, len(blob), _SLICE_BYTES):
            self._input.write(blob[at : at + _SLICE_BYTES])
            await self._input.drain()

    async def _receive(self) -> Any:
        body, _ = lengths(await self._output.readexactly(HEADER.size))
        return json.loads(await self._output.readexactly(body))
