"""Envelopes over 100,000 facts on a real Milvus, sources and communities on a real Neo4j, against bare Milvus search.

Servers of our own are started for the run, as ``make test-real`` starts them but with Milvus's own ticks of 200 ms,
unless GROUNDTRAIL_TEST_MILVUS_URI or GROUNDTRAIL_TEST_NEO4J_URI (whose data are deleted) name others; where neither is
possible nothing is measured, and the reason is said. One process serves the envelope service over them; builds in it
alternate with the bare search of Milvus for one vector, keys alone. The corpus and its embedder are stand-ins
(``bench.envelope_corpus``).

    python -m bench real_stores       (or: python -m bench.real_stores [--facts N] [--clients N,…] [--rounds N]
                                       [--write FILE] [--markdown FILE])
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import re
import signal
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import grpc
from crp.envelope.v1 import envelope_service_pb2, envelope_service_pb2_grpc
from pymilvus import MilvusClient

from bench.envelope_corpus import question
from bench.real_stores_server import BUDGET, MODEL, Spent, Target, serve
from bench.report import machine
from tools.real_servers import milvus, neo4j
from tools.real_servers.processes import ServerProcess
from tools.real_servers.provisioning import supported

FACTS: Final = 100_000
CLIENTS: Final = (1, 8, 32)
ROUNDS: Final = 40
CLIENT_S: Final = 10.0
RECALL_QUERIES: Final = 50
_CALL_S: Final = 60.0
_STOP_S: Final = 60.0
_BACK_S: Final = 300.0
_CALLED: Final = {"builds just ingested": "just ingested", "builds": "graph of vectors built"}
_BUILD_TIMES: Final = ("bare_ms", "p50_ms", "p95_ms", "above_ms", "after_write_ms", "processor_ms")
_PEAK: Final = re.compile(r"VmHWM:\s+(\d+) kB")


@dataclass
class Findings:
    """Everything that one run found, as it is written to a file; names end in their units."""

    machine: str
    servers: str
    facts: int
    found: dict[str, dict[str, float]] = field(default_factory=dict)
    clients: dict[int, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Servers:
    target: Target
    says: str
    milvus_home: milvus.MilvusHome | None
    processes: dict[str, ServerProcess]

    def peaks_mib(self) -> dict[str, float]:
        """Return the peak memory of the servers that are ours, where /proc tells."""
        return {f"{name}_mib": _peak_mib(process.pid) for name, process in self.processes.items()}


class _Service:
    """The measured process and the pipe that commands it."""

    def __init__(self, target: Target) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe: Connection
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(target, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self.address: str = self._pipe.recv()

    def do(self, command: str, value: float = 0) -> Any:
        self._pipe.send((command, value))
        return self._pipe.recv()

    def stop(self) -> None:
        with contextlib.suppress(OSError):  # it has ended already
            self._pipe.send(None)
        self._process.join(_STOP_S)
        if self._process.is_alive():
            self._process.kill()


def missing() -> str | None:
    """Return why servers cannot be started here, or ``None`` when they can or others are named."""
    reasons = []
    if not os.environ.get(milvus.VARIABLE):
        reasons.append(supported())
    if not os.environ.get(neo4j.VARIABLE):
        reasons.append(neo4j.missing())
    return next((reason for reason in reasons if reason), None)


@contextmanager
def servers() -> Iterator[_Servers]:
    """Start what is not named by the environment; yields where both are."""
    with ExitStack() as stack:
        processes: dict[str, ServerProcess] = {}
        home, uri, says = None, os.environ.get(milvus.VARIABLE, ""), []
        if uri:
            says.append(f"the Milvus that {milvus.VARIABLE} names")
        else:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="groundtrail-milvus-", ignore_cleanup_errors=True)
            )
            home = milvus.new_home(Path(folder), impatient=False)
            processes["milvus"] = milvus.start(home)
            stack.callback(_kill_milvus, processes)
            uri = home.uri
            says.append(milvus.NAME)
        bolt, password = os.environ.get(neo4j.VARIABLE, ""), os.environ.get(neo4j.PASSWORD_VARIABLE, "")
        if bolt:
            says.append(f"the Neo4j that {neo4j.VARIABLE} names")
        else:
            graph, processes["neo4j"] = stack.enter_context(neo4j.running())
            bolt, password = graph.uri, graph.password
            says.append(neo4j.name())
        target = Target(uri, f"bench_{uuid.uuid4().hex[:8]}", bolt, password)
        if not home:
            stack.callback(_drop_collections, target)
        yield _Servers(target, " and ".join(says), home, processes)


def _drop_collections(target: Target) -> None:
    client = MilvusClient(target.milvus_uri, timeout=_CALL_S)
    for name in client.list_collections():
        if name.startswith(target.prefix):
            client.drop_collection(name)
    client.close()


def _kill_milvus(processes: dict[str, ServerProcess]) -> None:
    processes["milvus"].kill()  # whichever it is by then


def measure(options: argparse.Namespace, run: _Servers) -> Findings:
    """Measure everything, one step after the other."""
    findings = Findings(machine(), run.says, options.facts)

    def step(name: str, found: dict[str, float]) -> None:
        findings.found[name] = found
        print(f"{name}: " + ", ".join(f"{key} {value:,.2f}" for key, value in found.items()), flush=True)

    service = _Service(run.target)
    try:
        step("ingestion", service.do("grow", options.facts))
        step("builds just ingested", _builds(service.do("builds", options.rounds)))
        step("index", service.do("index"))
        step("builds", _builds(service.do("builds", options.rounds)))
        step("recall", service.do("recall", RECALL_QUERIES))
        step("ten more", service.do("ten_more"))
        step("fifty more", service.do("fifty_more"))
        step("state", service.do("state"))
        for clients in options.clients:
            findings.clients[clients] = asyncio.run(_clients(service.address, clients, CLIENT_S))
            print(f"{clients} clients: {findings.clients[clients]}", flush=True)
        step("memory", service.do("memory") | run.peaks_mib())
        service.stop()
        began = time.perf_counter()
        service = _Service(run.target)
        opened = time.perf_counter()
        asyncio.run(_answered(service.address))
        answered = time.perf_counter()
        step("restart", {"open_s": opened - began, "first_build_ms": (answered - opened) * 1e3})
        service.do("known", options.facts)
        step("restart, state", service.do("state"))
        step("ten more after a restart", service.do("ten_more"))
        if run.milvus_home:
            step("milvus killed", _killed(run, service))
        step("erasure", service.do("erase"))
        step("communities once more", service.do("recluster"))
        step("recall after that", service.do("recall", RECALL_QUERIES))
        step("memory at the end", service.do("memory") | run.peaks_mib())
    finally:
        service.stop()
    return findings


def markdown(findings: Findings) -> str:
    """Return the tables of docs/benchmarks.md."""
    lines = [
        f"| {findings.facts:,} facts | bare search | build, p50 | p95 | above | after a write | processor | asked |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in ("builds just ingested", "builds"):
        one = findings.found[name]
        times = [f"{one[key]:,.0f} ms" for key in _BUILD_TIMES]
        asked = f"{one['requests']:.0f} requests, {one['rows']:,.0f} rows"
        lines.append(f"| {_CALLED[name]} | {' | '.join(times)} | {asked} |")
    lines += ["", "| clients at once, over gRPC | p50 | p95 | builds/s |", "|---|---|---|---|"]
    lines += [
        f"| {count} | {one['p50_ms']:,.0f} ms | {one['p95_ms']:,.0f} ms | {one['builds_s']:.1f} |"
        for count, one in findings.clients.items()
    ]
    lines += ["", "| step | found |", "|---|---|"]
    lines += [
        f"| {name} | {', '.join(f'{key} {value:,.2f}' for key, value in one.items())} |"
        for name, one in findings.found.items()
        if name not in _CALLED
    ]
    return "\n".join([*lines, ""])


def _builds(spent: Spent) -> dict[str, float]:
    bare = statistics.median(spent["embed"]) + statistics.median(spent["search"])
    p50 = statistics.median(spent["build"])
    return {
        "bare_ms": bare,
        "p50_ms": p50,
        "p95_ms": percentile(spent["build"], 0.95),
        "above_ms": p50 - bare,
        "after_write_ms": statistics.median(spent["after_write"]),
        "processor_ms": statistics.median(spent["cpu"]),
        "requests": statistics.median(spent["requests"]),
        "rows": statistics.median(spent["rows"]),
    }


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def _clients(address: str, count: int, seconds: float) -> dict[str, float]:
    """Let ``count`` clients build for ``seconds``, each one call after the other."""
    until, spent = time.perf_counter() + seconds, list[float]()

    async def one(stub: Any, number: int) -> None:
        turn = 0
        while time.perf_counter() < until:
            began = time.perf_counter()
            await stub.BuildEnvelope(_request(10_000 + 997 * number + turn), timeout=_CALL_S)
            spent.append((time.perf_counter() - began) * 1e3)
            turn += 1

    began = time.perf_counter()
    async with grpc.aio.insecure_channel(address) as channel:
        stub = envelope_service_pb2_grpc.EnvelopeServiceStub(channel)  # type: ignore[no-untyped-call]
        await asyncio.gather(*(one(stub, number) for number in range(count)))
    return {
        "builds_s": len(spent) / (time.perf_counter() - began),
        "p50_ms": statistics.median(spent),
        "p95_ms": percentile(spent, 0.95),
        "builds": len(spent),
    }


async def _answered(address: str) -> int:
    """Build until it succeeds; return how often it was refused as it should be."""
    refused, ends = 0, time.monotonic() + _BACK_S
    async with grpc.aio.insecure_channel(address) as channel:
        stub = envelope_service_pb2_grpc.EnvelopeServiceStub(channel)  # type: ignore[no-untyped-call]
        while True:
            try:
                await stub.BuildEnvelope(_request(1), timeout=_CALL_S)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE or time.monotonic() > ends:
                    raise
                refused += 1
            else:
                return refused


def _killed(run: _Servers, service: _Service) -> dict[str, float]:
    """Kill Milvus and start it again; return when it says that it is ready, and when builds succeed."""
    assert run.milvus_home is not None
    run.processes["milvus"].kill()
    began = time.perf_counter()
    run.processes["milvus"] = milvus.start(run.milvus_home)
    healthy = time.perf_counter()
    refused = asyncio.run(_answered(service.address))
    return {"healthy_s": healthy - began, "answers_s": time.perf_counter() - began, "refused": refused}


def _request(number: int) -> envelope_service_pb2.BuildEnvelopeRequest:
    return envelope_service_pb2.BuildEnvelopeRequest(query=question(number), model=MODEL, max_envelope_tokens=BUDGET)


def _peak_mib(pid: int) -> float:
    try:
        return max((int(kib) / 1024 for kib in _PEAK.findall(Path(f"/proc/{pid}/status").read_text())), default=0.0)
    except OSError:
        return 0.0


def main(argv: list[str] | None = None) -> None:
    """Measure, print the table; write results where asked."""

    def numbers(text: str) -> list[int]:
        return sorted(int(part.replace("_", "")) for part in text.split(","))

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=FACTS, help="in thousands")
    parser.add_argument("--clients", type=numbers, default=list(CLIENTS), help="clients at once")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="builds in a row")
    parser.add_argument("--write", type=Path, help="where the results go as JSON")
    parser.add_argument("--markdown", type=Path, help="where the tables of docs/benchmarks.md go")
    options = parser.parse_args(argv)
    reason = missing()
    if reason:
        print(f"skipped, no Milvus and Neo4j here: {reason}", file=sys.stderr)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the servers are stopped with this process
    with servers() as run:
        findings = measure(options, run)
    if options.write:
        options.write.write_text(json.dumps(findings.__dict__, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(findings), encoding="utf-8")


if __name__ == "__main__":
    main()
