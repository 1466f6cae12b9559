"""Envelopes over a growing knowledge base against the bare index search, and its ingestion, up to 100,000 facts.

One server process over SQLite grows from size to size. At each size builds in its process alternate with the bare index
search for the same query; at the largest, clients in this process build over gRPC, alone and many at once. The corpus
and its embedder are stand-ins (``bench.envelope_corpus``), so that a build's time is the service's own; what the real
embedder takes for one query, and real models for an ingestion, is measured apart, in processes of their own.

    python -m bench envelope          (or: python -m bench.envelope [--sizes N,…] [--clients N,…] [--rounds N]
                                       [--seconds S] [--real-facts N] [--write FILE] [--markdown FILE]
                                       [--picture FILE])

It ends by itself: what the time did not suffice for is left out and said. Beside what passed on the clock stands what
the processor worked for it: on a machine that does other things as well only that one holds.
"""

import argparse
import asyncio
import itertools
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import grpc
from crp.ckf.v1 import knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.envelope.v1 import envelope_service_pb2, envelope_service_pb2_grpc

from bench.curve import growth_curve
from bench.envelope_corpus import question
from bench.envelope_real import RealIngestion, measure_real
from bench.envelope_server import BUDGET, MODEL, serve
from bench.report import Row, machine, show

SIZES: Final = (1_000, 3_000, 10_000, 30_000, 100_000)
CLIENTS: Final = (1, 8, 32)
ROUNDS: Final = 40
WARM_CLIENTS: Final = 8
"""Clients, and questions, that are asked again and again."""
CLIENT_S: Final = 6.0
REAL_FACTS: Final = 2_000
BUDGET_S: Final = 470.0
"""Seconds for everything: the next size, or what follows the sizes, is begun only while enough of them are left."""
ABOVE_TARGET_MS: Final = 10.0
RANK_TARGET_MS: Final = 5.0
MEMORY_TARGET_MIB: Final = 2_048.0
MILLION: Final = 1_000_000

Spent = dict[str, list[float]]


@dataclass
class Findings:
    """Everything that one run found, as it is written to a file."""

    machine: str
    sizes: dict[int, dict[str, float]] = field(default_factory=dict)
    clients: dict[int, dict[str, float]] = field(default_factory=dict)
    repeated: dict[str, float] = field(default_factory=dict)
    rank: dict[str, float] = field(default_factory=dict)
    rank_processor: dict[str, float] = field(default_factory=dict)
    recluster: dict[str, float] = field(default_factory=dict)
    ten_more: dict[str, float] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    refusals_mib: float = 0.0
    real: dict[str, float] = field(default_factory=dict)
    peak_mib: float = 0.0
    left_out: list[str] = field(default_factory=list)


class _Server:
    """The measured process and the pipe that commands it."""

    def __init__(self, directory: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe: Connection
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(directory, theirs), daemon=True)
        self._process.start()
        self.address: str = self._pipe.recv()

    def do(self, command: str, value: float = 0) -> Any:
        self._pipe.send((command, value))
        return self._pipe.recv()

    def stop(self) -> None:
        self._pipe.send(None)
        self._process.join(30)
        if self._process.is_alive():
            self._process.kill()


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _at_size(server: _Server, size: int, rounds: int) -> dict[str, float]:
    grown: dict[str, float] = server.do("grow", size)
    server.do("app", 10)  # the first builds read what the later ones keep
    spent: Spent = server.do("app", rounds)
    bare = statistics.median(spent["embed"]) + statistics.median(spent["search"])
    return {
        "facts_s": grown["facts"] / grown["ingest_s"],
        "settle_s": grown["settle_s"],
        "peak_mib": grown["mib"],
        "bare_ms": bare,
        "p50_ms": statistics.median(spent["build"]),
        "p95_ms": percentile(spent["build"], 0.95),
        "above_ms": statistics.median(spent["build"]) - bare,
        "after_write_ms": statistics.median(spent["after_write"]),
        "processor_ms": statistics.median(spent["cpu"]),
    }


async def _clients(address: str, count: int, seconds: float, questions: Iterator[int]) -> dict[str, float]:
    """Let ``count`` clients build for ``seconds``, each one call after the other, all from one row of questions.

    So none is asked that another client asked a moment ago: its retrieval would be warm, and the builds a second would
    tell how the clients follow each other.
    """
    began, spent = time.perf_counter(), list[float]()

    async def one(stub: Any) -> None:
        while time.perf_counter() < began + seconds:
            query = question(next(questions))
            request = envelope_service_pb2.BuildEnvelopeRequest(query=query, model=MODEL, max_envelope_tokens=BUDGET)
            sent = time.perf_counter()
            await stub.BuildEnvelope(request, timeout=60)
            spent.append((time.perf_counter() - sent) * 1e3)

    async with grpc.aio.insecure_channel(address) as channel:
        stub = envelope_service_pb2_grpc.EnvelopeServiceStub(channel)  # type: ignore[no-untyped-call]
        await asyncio.gather(*(one(stub) for _ in range(count)))
    return {
        "builds_s": len(spent) / (time.perf_counter() - began),
        "p50_ms": statistics.median(spent),
        "p95_ms": percentile(spent, 0.95),
        "builds": len(spent),
    }


def _asked(server: _Server, count: int, questions: Iterator[int]) -> dict[str, float]:
    """Let ``count`` clients build, and see what the server's processor worked for each build."""
    before: dict[str, float] = server.do("processor")
    found = asyncio.run(_clients(server.address, count, CLIENT_S, questions))
    worked = server.do("processor")["ms"] - before["ms"]
    return found | {"processor_ms": worked / found["builds"]}


async def _refusals(address: str) -> dict[str, str]:
    """Ask for a million candidates in every way that there is; return what came of it."""
    ids = [str(number) for number in range(MILLION)]  # short, so that their number is refused and not their size
    found: dict[str, str] = {}
    async with grpc.aio.insecure_channel(address, options=[("grpc.max_send_message_length", -1)]) as channel:
        builds = envelope_service_pb2_grpc.EnvelopeServiceStub(channel)  # type: ignore[no-untyped-call]
        knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(channel)  # type: ignore[no-untyped-call]
        search = knowledge_service_pb2.SearchFactsRequest(query=question(1), limit=MILLION)
        calls: dict[str, tuple[Any, Any]] = {"SearchFacts.limit": (knowledge.SearchFacts, search)}
        for name in ("facts_seen", "deferred_fact_ids", "transferred_fact_ids"):
            build = envelope_service_pb2.BuildEnvelopeRequest(query=question(1), model=MODEL)
            getattr(build, name).extend(ids)
            calls[f"BuildEnvelope.{name}"] = (builds.BuildEnvelope, build)
        for name, (call, request) in calls.items():
            try:
                await call(request, timeout=60)
                found[name] = "OK"
            except grpc.aio.AioRpcError as error:
                found[name] = f"{error.code().name}: {(error.details() or '')[:120]}"
    return found


def measure(options: argparse.Namespace, directory: str) -> Findings:
    """Measure everything for which the seconds suffice."""
    began, findings, took = time.monotonic(), Findings(machine()), 0.0
    server = _Server(directory)
    try:
        for size in options.sizes:
            left = options.seconds - (time.monotonic() - began)
            if findings.sizes and left < 4 * took:  # a size takes about three times what the one before has taken
                findings.left_out.append(f"{size:,} facts and more")
                break
            started = time.monotonic()
            findings.sizes[size] = _at_size(server, size, options.rounds)
            took = time.monotonic() - started
        fresh = itertools.count(10_000)
        for clients in options.clients:
            findings.clients[clients] = _asked(server, clients, fresh)
        findings.repeated = _asked(server, WARM_CLIENTS, itertools.cycle(range(WARM_CLIENTS)))
        ranked: dict[str, Spent] = server.do("rank", 30)
        findings.rank = {name: statistics.median(spent["ms"]) for name, spent in ranked.items()}
        findings.rank_processor = {name: statistics.median(spent["processor_ms"]) for name, spent in ranked.items()}
        findings.ten_more = server.do("ten_more")
        findings.peak_mib = server.do("memory")["mib"]
        findings.refusals = asyncio.run(_refusals(server.address))
        findings.refusals_mib = server.do("memory")["mib"] - findings.peak_mib
        if options.seconds - (time.monotonic() - began) > 120:
            findings.recluster = server.do("recluster")
        else:
            findings.left_out.append("communities computed once more")
    finally:
        server.stop()
    left = options.seconds - (time.monotonic() - began)
    facts = min(options.real_facts, int(left * 30))
    if facts >= 100:
        real: RealIngestion = measure_real(facts)
        findings.real = {name: getattr(real, name) for name in real.__dataclass_fields__}
    else:
        findings.left_out.append("the real models")
    return findings


def _table(findings: Findings) -> list[Row]:
    rows: list[Row] = []
    for size, found in findings.sizes.items():
        note = (
            f"bare search and stand-in embedding {found['bare_ms']:.1f} ms, p95 {found['p95_ms']:.1f} ms, first after "
            f"a write {found['after_write_ms']:.1f} ms, {found['processor_ms']:.1f} ms of processor"
        )
        rows.append(Row(f"build over {size:,} facts, above the bare search", found["above_ms"], "ms", note=note))
    for count, found in findings.clients.items():
        rows.append(Row(f"build over gRPC, {count} at once", found["p50_ms"], "ms", note=_built(found)))
    if found := findings.repeated:
        name = f"build over gRPC, {WARM_CLIENTS} at once, {WARM_CLIENTS} questions again and again"
        rows.append(Row(name, found["p50_ms"], "ms", note=_built(found)))
    for name, took in findings.rank.items():
        note = f"aim: {RANK_TARGET_MS:.0f} ms; {findings.rank_processor[name]:.1f} ms of processor"
        rows.append(Row(f"rank and pack 500 candidates, all {name}", took, "ms", note=note))
    rows.append(Row("ten facts more, one call each", findings.ten_more["ms"], "ms"))
    rows.extend(
        Row(f"ingestion up to {size:,}", found["facts_s"], "facts/s", note=_ingested(found))
        for size, found in findings.sizes.items()
    )
    note = f"aim: under {MEMORY_TARGET_MIB:,.0f} MiB"
    rows.append(Row("peak memory of the server", findings.peak_mib, "MiB", note=note))
    if found := findings.recluster:
        note = (
            f"{found['communities']:.0f} communities; neighbours kept; the process apart {found['child_mib']:,.0f} MiB"
        )
        rows.append(Row("communities computed once more", found["s"], "s", note=note))
    if found := findings.real:
        rows += [
            Row("the real embedder, one query", found["query_ms"], "ms"),
            Row("ingestion with the real models", found["facts_s"], "facts/s", note=f"{found['facts']:.0f} facts"),
            Row("… its peak memory", found["peak_mib"], "MiB"),
        ]
    return rows


def _built(found: dict[str, float]) -> str:
    """Say how many builds there were, how slow the slow ones, and what one costs the server."""
    return (
        f"p95 {found['p95_ms']:.0f} ms, {found['builds_s']:.0f} builds/s, {found['processor_ms']:.1f} ms of processor"
    )


def _ingested(found: dict[str, float]) -> str:
    return (
        f"stand-in embedder and recogniser; index and communities ready {found['settle_s']:.0f} s later; peak "
        f"{found['peak_mib']:,.0f} MiB"
    )


def _verdicts(findings: Findings) -> list[str]:
    """Say of each aim whether this run reached it."""
    largest = max(findings.sizes)
    checks = [
        (
            f"p50 over {largest:,} facts above embedding and bare search",
            findings.sizes[largest]["above_ms"],
            ABOVE_TARGET_MS,
            "ms",
        ),
        ("rank and pack of 500 different candidates", findings.rank["different"], RANK_TARGET_MS, "ms"),
        ("… of the processor's time", findings.rank_processor["different"], RANK_TARGET_MS, "ms"),
        (
            "peak memory of the server, and of the process that finds communities",
            findings.peak_mib + findings.recluster.get("child_mib", 0.0),
            MEMORY_TARGET_MIB,
            "MiB",
        ),
    ]
    lines = [
        f"{'reached' if value <= aim else 'MISSED '}  {name}: {value:,.1f} {unit}, aim {aim:,.0f} {unit}"
        for name, value, aim, unit in checks
    ]
    lines += [f"a million asked for by {name}: {outcome}" for name, outcome in findings.refusals.items()]
    lines.append(f"reading and refusing these raised the server's peak memory by {findings.refusals_mib:,.0f} MiB")
    return lines + [f"left out, the time did not suffice: {what}" for what in findings.left_out]


def markdown(findings: Findings) -> str:
    """Return the tables of docs/benchmarks.md."""
    lines = [
        "| facts | bare index search | build, p50 | above the bare search | p95 | first after a write | processor |",
        "|---|---|---|---|---|---|---|",
    ]
    for size, found in findings.sizes.items():
        names = ("bare_ms", "p50_ms", "above_ms", "p95_ms", "after_write_ms", "processor_ms")
        lines.append(f"| {size:,} | " + " | ".join(f"{found[name]:.1f} ms" for name in names) + " |")
    lines += ["", "| clients at once, over gRPC | p50 | p95 | builds/s | processor a build |", "|---|---|---|---|---|"]
    for count, found in findings.clients.items():
        times = f"{found['p50_ms']:.0f} ms | {found['p95_ms']:.0f} ms | {found['builds_s']:.0f}"
        lines.append(f"| {count} | {times} | {found['processor_ms']:.1f} ms |")
    lines += ["", "| measured | | note |", "|---|---|---|"]
    lines += [
        f"| {row.name} | {row.value:,.1f} {row.unit} | {row.note} |" for row in _table(findings)[_head(findings) :]
    ]
    return "\n".join([*lines, "", *_verdicts(findings), ""])


def _head(findings: Findings) -> int:
    """Return how many rows of the table are those of sizes and clients."""
    return len(findings.sizes) + len(findings.clients)


def picture(findings: Findings) -> str:
    """Return the growth of a build as SVG."""
    curves = {
        "build, p50": [(size, found["p50_ms"]) for size, found in findings.sizes.items()],
        "build, p95": [(size, found["p95_ms"]) for size, found in findings.sizes.items()],
        "first build after a write": [(size, found["after_write_ms"]) for size, found in findings.sizes.items()],
        "bare index search": [(size, found["bare_ms"]) for size, found in findings.sizes.items()],
    }
    return growth_curve("BuildEnvelope as the knowledge grows", "facts of the tenant", "ms", curves)


def main(argv: list[str] | None = None) -> None:
    """Print the table; write results and picture where asked."""

    def numbers(text: str) -> list[int]:
        return sorted(int(part.replace("_", "")) for part in text.split(","))

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=numbers, default=list(SIZES), help="facts, in thousands, e.g. 1000,10000")
    parser.add_argument("--clients", type=numbers, default=list(CLIENTS), help="clients at once")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="builds at each size")
    parser.add_argument("--seconds", type=float, default=BUDGET_S, help="for everything")
    parser.add_argument("--real-facts", type=int, default=REAL_FACTS, help="ingested with the real models; 0 = none")
    parser.add_argument("--write", type=Path, help="where the results go as JSON")
    parser.add_argument("--markdown", type=Path, help="where the tables of docs/benchmarks.md go")
    parser.add_argument("--picture", type=Path, help="where the growth goes as SVG")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-envelope-") as directory:
        findings = measure(options, directory)
    show(f"Envelopes and ingestion ({findings.machine})", _table(findings))
    for line in _verdicts(findings):
        print(line)
    if options.write:
        options.write.write_text(json.dumps(findings.__dict__, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(findings), encoding="utf-8")
    if options.picture:
        options.picture.write_text(picture(findings), encoding="utf-8")


if __name__ == "__main__":
    main()
