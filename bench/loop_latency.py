"""How long an event loop waits for the interpreter beside threads that compute, by number and switch interval.

An empty ``grpc.aio`` echo in a process of its own, asked every few milliseconds: beside no thread, and beside some that
do nothing but compute, with Python's switch interval and with that of a process that serves (ADR 0087).

    python -m bench.loop_latency
"""

import asyncio
import multiprocessing
import statistics
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any, Final

import grpc
from rich.console import Console
from rich.table import Table

from bench.report import machine
from services.common.computing import SWITCH_INTERVAL_S

CALLS: Final = 200
PAUSE_S: Final = 0.003
PYTHONS_S: Final = 0.005
"""Python's own interval."""
CASES: Final = ((0, PYTHONS_S), *((threads, each) for threads in (1, 2, 4) for each in (PYTHONS_S, SWITCH_INTERVAL_S)))
_RPC: Final = "/bench.Echo/Echo"


def main() -> None:
    """Measure each case and print them beside the first."""
    found = [(*each, _measured(*each)) for each in CASES]
    rest = statistics.median(found[0][2])
    table = Table(title="An empty echo beside threads that compute", title_justify="left")
    for column in ("threads", "interval", "median", "p99", "median over rest"):
        table.add_column(column, justify="right")
    for threads, interval_s, taken in found:
        median, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
        figures = (f"{median * 1e3:.2f} ms", f"{p99 * 1e3:.1f} ms", f"{median / rest:.1f}")
        table.add_row(str(threads), f"{interval_s * 1e3:g} ms", *figures)
    sys.stdout.write(f"{machine()}\n")
    Console(width=100).print(table)


def _measured(threads: int, interval_s: float) -> list[float]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(threads, interval_s, there), daemon=True
    )
    process.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{here.recv()}") as channel:
            echo: Any = channel.unary_unary(_RPC)
            echo(b"x", wait_for_ready=True, timeout=60)
            return [_asked(echo) for _ in range(CALLS)]
    finally:
        process.kill()
        process.join()


def _asked(echo: Any) -> float:
    time.sleep(PAUSE_S)
    began = time.perf_counter()
    echo(b"x", timeout=60)
    return time.perf_counter() - began


def _serve(threads: int, interval_s: float, told: Connection) -> None:
    sys.setswitchinterval(interval_s)
    for _ in range(threads):
        threading.Thread(target=_compute, daemon=True).start()
    asyncio.run(_echo(told))


def _compute() -> None:
    while True:
        sum(number * number for number in range(1_000))


async def _echo(told: Connection) -> None:
    async def echo(request: bytes, context: Any) -> bytes:  # noqa: ARG001 - gRPC's signature
        return request

    service, _, name = _RPC.strip("/").partition("/")
    handlers: dict[str, Any] = {name: grpc.unary_unary_rpc_method_handler(echo)}
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    told.send(port)
    await server.wait_for_termination()


if __name__ == "__main__":
    main()
