"""What ``bench.linear`` needs of the machine: servers in processes of their own, their processor time, a reader."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.wrappers_pb2 import StringValue

from bench.linear_server import ECHO

READ_EVERY_S: Final = 0.1
_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Server:
    """A server in a process of its own.

    Attributes:
        said: what it told on starting: address, keys.
    """

    process: subprocess.Popen[str]
    said: dict[str, Any] = field(default_factory=dict)

    def processor_s(self) -> float:
        """Return the processor seconds that it has taken, with its children, those that ended included."""
        return tree_processor_s(self.process.pid)


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[Server]:
    """Start ``bench.linear_server`` with arguments; it ends with the block.

    Raises:
        RuntimeError: it ended before it served.
    """
    command = [sys.executable, "-m", "bench.linear_server", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None  # it is a pipe
        line = next((line for line in process.stdout if line.startswith("{")), None)
        if line is None:
            raise RuntimeError("the server ended before it served")
        yield Server(process, json.loads(line))
    finally:
        assert process.stdin is not None  # as above
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def tree_processor_s(root: int) -> float:
    """Return the processor seconds of a process and its descendants, those that were waited for included."""
    spent: dict[int, float] = {}
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                parents[int(folder.name)] = int(fields[1])
                spent[int(folder.name)] = sum(map(int, fields[11:15])) * _TICK_S
    inside, waiting = 0.0, [root]
    while waiting:
        process = waiting.pop()
        inside += spent.get(process, 0.0)
        waiting.extend(child for child, parent in parents.items() if parent == process)
    return inside


@dataclass(slots=True)
class Reads:
    """Seconds that another tenant's reads took, and the empty echoes between them.

    Attributes:
        echoes: of a bare server in the suite's process, under the same load.
        elsewhere: of one in a process of its own, which has a core to itself.
    """

    reads: list[float] = field(default_factory=list)
    echoes: list[float] = field(default_factory=list)
    elsewhere: list[float] = field(default_factory=list)


def read_on(pipe: Connection, suite: str, key: str, echo: str, elsewhere: str) -> None:
    """Read as the other tenant and echo, in turns, until told to stop; then send the times. A process's main."""
    pipe.send(asyncio.run(_reading(pipe, suite, key, (echo, elsewhere))))


async def _reading(pipe: Connection, suite: str, key: str, echoes: tuple[str, str]) -> Reads:
    from crp.ckf.v1 import knowledge_service_pb2, knowledge_service_pb2_grpc

    found = Reads()
    async with contextlib.AsyncExitStack() as stack:
        channel, *empty = [await stack.enter_async_context(grpc.aio.insecure_channel(at)) for at in (suite, *echoes)]
        stub = knowledge_service_pb2_grpc.KnowledgeServiceStub(channel)  # type: ignore[no-untyped-call]
        answers = [
            each.unary_unary(
                ECHO, request_serializer=StringValue.SerializeToString, response_deserializer=StringValue.FromString
            )
            for each in empty
        ]
        metadata = (("authorization", f"Bearer {key}"),)
        request = knowledge_service_pb2.GetStateRequest()
        while not pipe.poll():
            for answer, times in zip(answers, (found.echoes, found.elsewhere), strict=True):
                async with _timed(times):
                    await answer(StringValue(value="echo"), timeout=300)
            async with _timed(found.reads):
                await stub.GetState(request, metadata=metadata, timeout=300)
            await asyncio.sleep(READ_EVERY_S)
    return found


@contextlib.asynccontextmanager
async def _timed(times: list[float]) -> AsyncIterator[None]:
    began = time.perf_counter()
    with contextlib.suppress(grpc.aio.AioRpcError):  # refused or too late counts as the time that it took
        yield
    times.append(time.perf_counter() - began)
