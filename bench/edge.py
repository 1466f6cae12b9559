"""What strangers cost those who have a credential: rapid resets, calls and bodies without one, half-open connections.

    python -m bench.edge [--streams 20000] [--connections 12]

A server in a process of its own serves an echo over gRPC and the ERCP routes over HTTP. While strangers do their worst
from 127.0.0.2, a caller with a key calls over and over; the table shows the longest it waited, the server's memory and
its processor time. "gRPC's defaults" is the same server without the bounds of ``wire_options``, in the same run.
"""

import argparse
import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, cast

import grpc
import structlog
from google.protobuf.wrappers_pb2 import StringValue

from bench import http2_frames as h2
from bench.report import Row, machine, show
from services.common.adapters.memory.credentials import MemoryCredentialStore
from services.common.api_key_format import hash_of, prefix_of
from services.common.clock import SystemClock
from services.common.context import Role
from services.common.ports.credentials import ApiKeyRecord
from services.common.rpc import server as rpc_server
from services.common.rpc.authentication import open_authenticator
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.http import HttpSettings
from services.common.telemetry import open_telemetry
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.server import HttpServer

SERVICE: Final = "groundtrail.bench.v1.EchoService"
METHOD: Final = f"/{SERVICE}/Echo"
KEY: Final = "crp_gw_test_" + "K" * 32
STRANGER: Final = "127.0.0.2"
BATCH: Final = 40
HALF_OPEN: Final = 1_200
BODY: Final = b'{"x": [' + b"1," * 4_000_000 + b"1]}"
_MIB: Final = 1024
_WIRE_DEFAULTS: Final = ("grpc.max_receive_message_length", "grpc.max_metadata_size", "grpc.so_reuseport")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an attack did.

    Attributes:
        longest_ms: the longest call of the caller with a key.
        failed: calls of that caller that were not answered well.
        cpu_s: processor time of the server.
        before_mib: its memory before.
        after_mib: its memory afterwards.
        note: what came of the attack.
    """

    longest_ms: float
    failed: int
    cpu_s: float
    before_mib: float
    after_mib: float
    note: str


async def _echo(request: StringValue, _: Any) -> StringValue:
    return request


def _register(server: grpc.aio.Server) -> None:
    handler = grpc.unary_unary_rpc_method_handler(_echo, StringValue.FromString, StringValue.SerializeToString)
    server.add_registered_method_handlers(SERVICE, {"Echo": handler})


async def _always() -> None:
    return


async def _serve(pipe: Connection, *, bounded: bool) -> None:
    if not bounded:
        options = rpc_server.server_options
        rpc_server.server_options = lambda given: [one for one in options(given) if one[0] in _WIRE_DEFAULTS]
    settings = Settings(server=ServerSettings(port=0), telemetry=TelemetrySettings())
    store = MemoryCredentialStore()
    prefix = cast("str", prefix_of(KEY))
    made = datetime.now(UTC)
    await store.put_key(ApiKeyRecord("bench", "0" * 36, prefix, hash_of(KEY), "bench", ("writer",), made))
    gate = CredentialGate(open_authenticator(settings.auth, store, SystemClock()), settings)
    served = rpc_server.ServedService(SERVICE, _register, {"Echo": Role.WRITER}, _always)
    server = rpc_server.RpcServer([served], settings, gate, open_telemetry(settings.telemetry, "bench", "0"))
    await server.start()
    http = HttpSettings(port=0)
    app = create_app(cast("Any", None), gate, http, SystemClock(), version("groundtrail"))
    port = (await HttpServer.open(app, http)).port
    pipe.send((server.port, port))
    await asyncio.Event().wait()


def _process(pipe: Connection, bounded: bool) -> None:
    logging.disable()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve(pipe, bounded=bounded))


async def rapid_reset(port: int, streams: int, connections: int) -> str:
    """Open and reset streams, a few at a time, on each of some connections at once."""
    block = h2.call(METHOD)

    async def one() -> int:
        _, writer = await _stranger(port)
        writer.write(h2.PREFACE + h2.settings())
        await asyncio.sleep(0.3)
        writer.write(h2.acknowledged())
        sent = 0
        with contextlib.suppress(ConnectionError):
            for first in range(1, 2 * streams, 2 * BATCH):
                ids = range(first, first + 2 * BATCH, 2)
                writer.write(b"".join(h2.headers(stream, block) + h2.reset(stream) for stream in ids))
                await writer.drain()
                sent += BATCH
                await asyncio.sleep(0.002)
        writer.close()
        return sent

    sent = await asyncio.gather(*(one() for _ in range(connections)))
    return f"{sum(sent):,} streams over {connections} connections"


async def calls_without_key(port: int, streams: int, connections: int) -> str:
    """Call without a credential as fast as answers come, 100 at a time on each connection."""
    ends = time.monotonic() + 5
    counts: dict[str, int] = {}

    async def one() -> None:
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
            ask = channel.unary_unary(METHOD, StringValue.SerializeToString, StringValue.FromString)

            async def caller() -> None:
                while time.monotonic() < ends:
                    try:
                        await ask(StringValue(value="x"), timeout=30)
                    except grpc.aio.AioRpcError as error:
                        counts[error.code().name] = counts.get(error.code().name, 0) + 1

            await asyncio.gather(*(caller() for _ in range(100)))

    await asyncio.gather(*(one() for _ in range(min(connections, streams))))
    return ", ".join(f"{count:,} {code}" for code, count in sorted(counts.items()))


async def bodies(port: int, _: int, connections: int) -> str:
    """Post 7.6 MiB of numbers without a credential."""
    head = f"POST /ercp/v1/stabilize HTTP/1.1\r\nHost: x\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
    statuses: list[str] = []
    for _ in range(connections):
        reader, writer = await _stranger(port)
        writer.write(head + BODY)
        statuses.append((await reader.readline()).split()[1].decode())
        writer.close()
    return f"{len(statuses)} bodies: {', '.join(sorted(set(statuses)))}"


async def half_open(port: int, _: int, __: int) -> str:
    """Open connections and send nothing, while another address asks whether the process lives."""
    held, alive, asked = [], 0, 0
    for number in range(HALF_OPEN):
        with contextlib.suppress(ConnectionError):
            held.append(await _stranger(port))
        if number % 60 == 0:
            asked += 1
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                alive += (await reader.readline()).startswith(b"HTTP/1.1 200")
            writer.close()
    for _, writer in held:
        writer.close()
    return f"/healthz of another address: {alive} of {asked}"


async def _stranger(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(STRANGER, 0))


async def _measured(
    attack: Callable[[int, int, int], Awaitable[str]], ports: tuple[int, int], pid: int, sizes: tuple[int, int]
) -> Outcome:
    waits: list[float] = []
    failures: list[grpc.StatusCode] = []
    over = asyncio.Event()

    async def caller() -> None:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{ports[0]}") as channel:
            ask = channel.unary_unary(METHOD, StringValue.SerializeToString, StringValue.FromString)
            while not over.is_set():
                began = time.perf_counter()
                try:
                    await ask(StringValue(value="x"), timeout=60, metadata=(("authorization", f"Bearer {KEY}"),))
                except grpc.aio.AioRpcError as error:
                    failures.append(error.code())
                waits.append(time.perf_counter() - began)
                await asyncio.sleep(0.02)

    calling = asyncio.ensure_future(caller())
    await asyncio.sleep(1)
    before_mib, cpu_s = _memory_mib(pid), _cpu_s(pid)
    waits.clear()
    grpc_attack = attack in {rapid_reset, calls_without_key}
    note = await attack(ports[0 if grpc_attack else 1], *sizes)
    while True:  # until the server is at rest again
        spent = _cpu_s(pid)
        await asyncio.sleep(1)
        if _cpu_s(pid) - spent < 0.3:
            break
    over.set()
    await calling
    return Outcome(max(waits) * 1000, len(failures), _cpu_s(pid) - cpu_s, before_mib, _memory_mib(pid), note)


def _memory_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / _MIB


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _run(attack: Callable[[int, int, int], Awaitable[str]], sizes: tuple[int, int], *, bounded: bool) -> Outcome:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_process, args=(theirs, bounded), daemon=True)
    process.start()
    try:
        return asyncio.run(_measured(attack, ours.recv(), cast("int", process.pid), sizes))
    finally:
        process.kill()
        process.join()


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(prog="python -m bench.edge", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--streams", type=int, default=20_000, help="streams of each connection that resets")
    parser.add_argument("--connections", type=int, default=12, help="connections, or bodies, of the strangers")
    arguments = parser.parse_args()
    sizes = (arguments.streams, arguments.connections)
    rows = []
    for attack, bounded, name in (
        (rapid_reset, False, "rapid reset, gRPC's defaults"),
        (rapid_reset, True, "rapid reset"),
        (calls_without_key, True, "calls without a key, 5 s"),
        (bodies, True, "bodies of 7.6 MiB without a key"),
        (half_open, True, "half-open HTTP connections"),
    ):
        found = _run(attack, sizes, bounded=bounded)
        note = f"{found.before_mib:.0f} to {found.after_mib:.0f} MiB, {found.cpu_s:.1f} s CPU, {found.failed} failed"
        rows.append(Row(name, found.longest_ms, "ms", note=f"{note}; {found.note}"))
    show(f"The longest call of a caller with a key, meanwhile ({machine()})", rows)


if __name__ == "__main__":
    main()
