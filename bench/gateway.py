"""What the door adds to a call of the provider: time at 1, 8 and 64 clients, and memory for each open stream.

    python -m bench.gateway [--calls 200] [--rounds 3] [--clients 1,8,64] [--streams 64] [--install-peer] [--whole]

A provider that answers at once, the whole suite, and the clients run in processes of their own. Each round calls the
provider directly, then through ``/v1/chat/completions`` in mode check: with nothing to check against (analysis off: the
whole way through the door, no judgement) and with facts in the system message (analysis on). What is added is the
difference of the medians, and of the 95th percentiles, of the same round; the table shows medians over rounds. What a
call takes of the suite's processor time, over all of its processes, hangs less on how busy the machine is.
Credentials are not asked for (``--insecure-local``): a known one costs microseconds. LiteLLM's proxy stands beside it
in the same rounds where it is installed, with no guardrail: it passes the same calls on to the same provider.
``--install-peer`` installs it, from the registry, in an environment of its own. ``--whole`` goes on with
``bench.gateway_streams`` (500 slow streams, two minutes) and ``bench.gateway_judge`` (200 falsified answers).
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import httpx

from bench.commands import Installation, cpu_s, pss_mib
from bench.report import Row, machine, show
from tools.real_servers import litellm
from tools.real_servers.provisioning import RealServerError

FACTS: Final = (
    "The fee for late reports is 5 euros. A motor accident must be reported within 7 days. A theft must be reported "
    "within 48 hours. Claims files are kept for 10 years. The deductible for glass damage is 150 euros."
)
ANSWER: Final = (
    "A motor accident must be reported within 7 days. A theft must be reported within 48 hours. The fee for late "
    "reports is 5 euros."
)
QUESTION: Final = "How long do I have to report an accident, and what is the fee?"
P50_TARGET_MS: Final = 3.0
"""At one client, with analysis off."""
PEER: Final = "litellm"
_WARM_CALLS: Final = 10
_CHUNK: Final = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}


def completion() -> bytes:
    """Return the provider's answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return json.dumps({**_CHUNK, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


def question(*, checked: bool, stream: bool = False) -> dict[str, Any]:
    """Return the body of a call; with facts to check against, or with none."""
    system = [{"role": "system", "content": FACTS}] if checked else []
    return {"model": "scripted", "messages": [*system, {"role": "user", "content": QUESTION}], "stream": stream}


async def _answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the calls of one connection at once; a stream gives its first sentence and then nothing."""
    body = completion()
    whole = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    choice = {"index": 0, "delta": {"content": f"{ANSWER} And"}, "finish_reason": None}
    first = f"data: {json.dumps({**_CHUNK, 'choices': [choice]})}\n\n".encode()
    streamed = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + first
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
            asked = await reader.readexactly(length)
            if b'"stream":true' in asked.replace(b" ", b""):
                writer.write(streamed)
                await writer.drain()
                await reader.read()  # until the client leaves
                return
            writer.write(whole)
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        writer.close()


def _provide(told: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.start_server(_answered, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        async with server:
            await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def provider() -> Iterator[str]:
    """Serve the scripted provider in a process of its own; yield the root of its API."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_provide, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def free_port() -> int:
    """Return a port that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def timed(call: Callable[[], Awaitable[Any]], clients: int, calls: int) -> list[float]:
    """Return the milliseconds of each call, made by so many clients at once."""
    left, found = iter(range(calls)), list[float]()

    async def one_client() -> None:
        for _ in left:
            began = time.perf_counter()
            await call()
            found.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(one_client() for _ in range(clients)))
    return found


def percentiles(found: list[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    ordered = sorted(found)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to the provider: what rows call it, where it begins, what it sends, and as whom."""

    name: str
    root: str
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


def ways(roots: dict[str, str]) -> list[Way]:
    """Return the ways that are measured: through the door, analysis off and on, and through the peer where it runs."""
    found = [Way(f"the door, analysis {word}", roots["door"], question(checked=word == "on")) for word in ("off", "on")]
    if PEER in roots:
        headers = {"Authorization": f"Bearer {litellm.MASTER_KEY}"}
        found.append(Way(litellm.NAME, roots[PEER], question(checked=False), headers))
    return found


async def measure(roots: dict[str, str], clients: int, calls: int, rounds: int, pid: int) -> list[Row]:
    """Return what each way adds at so many clients; ``pid`` is the suite's process."""
    measured = ways(roots)
    added: list[list[tuple[float, float]]] = [[] for _ in measured]
    bare: list[tuple[float, float]] = []
    spent: list[list[float]] = [[] for _ in measured]
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(limits=limits, timeout=600.0, trust_env=False) as http:

        async def ask(way: Way) -> None:
            response = await http.post(f"{way.root}/chat/completions", json=way.body, headers=way.headers)
            response.raise_for_status()

        directly = Way("directly", roots["provider"], question(checked=False))
        for number in range(rounds + 1):
            many = calls if number else min(calls, _WARM_CALLS * clients)
            direct = percentiles(await timed(partial(ask, directly), clients, many))
            for way, found, costs in zip(measured, added, spent, strict=True):
                before = cpu_s(pid)
                p50, p95 = percentiles(await timed(partial(ask, way), clients, many))
                if number:  # the first round warms
                    found.append((p50 - direct[0], p95 - direct[1]))
                    costs.append(1000.0 * (cpu_s(pid) - before) / many)
            if number:
                bare.append(direct)
    at = f"{clients} client{'s' if clients > 1 else ''}"
    rows = [Row(f"provider directly, {at}: p50", _median(bare, 0), "ms", note=f"{calls} calls, {rounds} rounds")]
    for place, (way, found) in enumerate(zip(measured, added, strict=True)):
        aim = f"aim: at most {P50_TARGET_MS:g} ms" if clients == 1 and place == 0 else ""
        rows += [
            Row(f"{way.name} adds, {at}: p50", _median(found, 0), "ms", note=aim),
            Row(f"{way.name} adds, {at}: p95", _median(found, 1), "ms"),
        ]
        if way.name != litellm.NAME:
            rows.append(Row(f"{way.name}, {at}: processor time a call", statistics.median(spent[place]), "ms"))
    return rows


@contextmanager
def peer(upstream: str, *, install: bool) -> Iterator[str | None]:
    """Run LiteLLM's proxy before the provider; yields the root of its API, ``None`` where it is not installed."""
    program = os.environ.get(litellm.VARIABLE, "")
    try:
        if install or not program:
            program = str(litellm.installed() if install else litellm.found())
    except RealServerError as error:
        print(f"{litellm.NAME} is not measured beside it: {error}")
        yield None
        return
    behind = {"model": "openai/scripted", "api_base": upstream, "api_key": "none"}
    with litellm.running(Path(program), {"model_list": [{"model_name": "scripted", "litellm_params": behind}]}) as url:
        yield f"{url}/v1"


async def measure_streams(root: str, pid: int, streams: int) -> Row:
    """Return the memory that each open stream takes, its first sentence judged and released."""
    before = pss_mib(pid)
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=streams + 1), timeout=120.0) as http:
        opened = asyncio.Semaphore(0)
        done = asyncio.Event()

        async def hold() -> None:
            body = question(checked=False, stream=True)
            async with http.stream("POST", f"{root}/chat/completions", json=body) as response:
                async for line in response.aiter_lines():
                    if ANSWER[:20] in line:
                        break
                opened.release()
                await done.wait()

        holding = [asyncio.ensure_future(hold()) for _ in range(streams)]
        for _ in range(streams):
            await opened.acquire()
        each = (pss_mib(pid) - before) * 1024 / streams
        done.set()
        await asyncio.gather(*holding)
    return Row("memory of an open stream", each, "KiB", note=f"{streams} streams, all processes of the suite")


def _median(found: list[tuple[float, float]], place: int) -> float:
    return statistics.median(one[place] for one in found)


def main(argv: list[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=200, help="calls of each kind in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", default="1,8,64", help="numbers of clients, separated by commas")
    parser.add_argument("--streams", type=int, default=64, help="open streams whose memory is measured; 0 = none")
    parser.add_argument("--install-peer", action="store_true", help="install LiteLLM's proxy for the comparison")
    parser.add_argument("--whole", action="store_true", help="500 slow streams and 200 falsified answers besides")
    asked = parser.parse_args(argv)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, provider() as upstream:
        port = free_port()
        given = {
            "GROUNDTRAIL_HTTP__PORT": str(port),
            "GROUNDTRAIL_LLM__BASE_URL": upstream,
            "GROUNDTRAIL_CHAT__MODE": "check",
            "GROUNDTRAIL_HTTP__CALL_TIMEOUT_S": "600",
            "GROUNDTRAIL_LLM__BETWEEN_TOKENS_S": "600",
        }
        with Installation(sys.executable, Path(folder)).serving(given=given) as (pid, _):
            roots = {"provider": upstream, "door": f"http://127.0.0.1:{port}/v1"}
            with peer(upstream, install=asked.install_peer) as root:
                roots |= {PEER: root} if root else {}
                for clients in map(int, asked.clients.split(",")):
                    rows += asyncio.run(measure(roots, clients, asked.calls, asked.rounds, pid))
            if asked.streams:
                rows.append(asyncio.run(measure_streams(roots["door"], pid, asked.streams)))
    print(machine())
    show("The door before a provider that answers at once", rows)
    if asked.whole:
        from bench import gateway_judge, gateway_streams

        gateway_streams.main([])
        gateway_judge.main([])


if __name__ == "__main__":
    main()
