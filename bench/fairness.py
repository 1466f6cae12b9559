"""Fairness between tenants: a server of its own with the real models, flooded by one tenant while another works.

    python -m bench fairness            # about three minutes
    python -m bench.fairness --quick    # the same in small, under a minute on a quiet machine

Four statements are held against their bounds, and the exit status is 1 when one is broken:

* two tenants that both saturate the server get 40 to 60% of the work each, though one has three times the calls;
* beside 200 heavy calls of one tenant, each tried again when it was refused, another's read and its short analysis take
  at most three times what they take at rest, in the median;
* of the flooder's admitted calls at least 95% succeed;
* those that are refused are refused at once, each with RetryInfo.

Everything is measured in one run on one machine, so that the ratios hold on a busy one too, the seconds do not. The
other tenant calls from a process of its own, so that the flooder's client does not slow it down.
"""

import argparse
import asyncio
import itertools
import json
import multiprocessing
import os
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import grpc
import jwt
from crp.ckf.v1 import knowledge_service_pb2 as ckf
from crp.ckf.v1 import knowledge_service_pb2_grpc as ckf_grpc
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.dpe.v1 import provenance_service_pb2_grpc as dpe_grpc
from crp.envelope.v1 import envelope_pb2
from google.rpc import error_details_pb2, status_pb2
from rich.console import Console
from rich.table import Table

from bench.dpe_corpus import case

AUDIENCE: Final = "bench"
FRAMES: Final = (
    "According to the yearbook that the board approved in spring, ",
    "As the auditors wrote once they had read the files of all offices, ",
    "In the letter that went to every member of the association, it says: ",
    "What surprised nobody who has worked there for some time: ",
)
START_S: Final = 120.0
SETTLE_S: Final = 2.0
"""Between two parts of the run, so that what was cancelled has ended."""
READ_PAUSE_S: Final = 0.05
AT_ONCE_S: Final = 2.0
"""A refusal that comes later than this counts as admitted and failed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How large the run is."""

    heavy_chars: int = 3000
    flood: int = 200
    flood_s: float = 45.0
    deadline_s: float = 40.0
    saturated_chars: int = 600
    saturated_calls: int = 30
    saturated_s: float = 60.0
    many: int = 18
    few: int = 6
    rest_reads: int = 60
    rest_analyses: int = 6


QUICK: Final = Plan(
    heavy_chars=1200,
    flood=100,
    flood_s=15.0,
    deadline_s=20.0,
    saturated_chars=200,
    saturated_calls=24,
    saturated_s=60.0,
    rest_reads=40,
    rest_analyses=4,
)
SHORT_CHARS: Final = 200


@dataclass(slots=True)
class Outcome:
    """How one call of the flood ended."""

    code: str
    reason: str
    seconds: float
    retry_s: float


@dataclass(slots=True)
class Other:
    """What the other tenant measured, in seconds."""

    reads: list[float] = field(default_factory=list)
    analyses: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Server:
    """A running suite."""

    address: str
    secret: str

    def metadata(self, tenant: str) -> tuple[tuple[str, str], ...]:
        """Return the credential of a tenant."""
        claims = {"sub": tenant, "tenant": tenant, "roles": ["writer"], "aud": AUDIENCE, "exp": time.time() + 3600}
        return (("authorization", f"Bearer {jwt.encode(claims, self.secret, algorithm='HS256')}"),)


def answer(chars: int, seed: int) -> str:
    """Return an answer of about so many characters in long sentences, another one for each seed."""
    said = case(max(1, chars // 60), 20, seed).answer.split(". ")
    text = ""
    for number, sentence in enumerate(said):
        text += f"{FRAMES[(number + seed) % len(FRAMES)]}{sentence.rstrip('.')}. "
        if len(text) >= chars:
            break
    return text[:chars]


def analysis(chars: int, seed: int) -> dpe.AnalyzeRequest:
    """Return a request over ten facts."""
    facts = case(1, 10, seed).facts
    envelope = envelope_pb2.ContextEnvelope(
        facts=[
            envelope_pb2.EnvelopeFact(fact_id=f"00000000-0000-4000-8000-{number:012d}", content=text)
            for number, text in enumerate(facts)
        ]
    )
    return dpe.AnalyzeRequest(
        session_id="bench",
        window_id=f"window-{seed}",
        window_number=1,
        query="What should be known about the offices?",
        response_text=answer(chars, seed),
        envelope=envelope,
    )


@contextmanager
def serving() -> Iterator[Server]:
    """Start the whole suite on free ports and a fresh directory; end it by its process id."""
    secret = secrets.token_hex(32)
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready.json"
        environment = os.environ | {
            "GROUNDTRAIL_STORE__DATA_DIR": folder,
            "GROUNDTRAIL_AUTH__JWT__SECRET": secret,
            "GROUNDTRAIL_AUTH__JWT__AUDIENCE": AUDIENCE,
            "GROUNDTRAIL_TELEMETRY__HTTP_PORT": "0",
        }
        command = [sys.executable, "-m", "services.allinone", "--port", "0", "--ready-file", str(ready)]
        with (Path(folder) / "log").open("w") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            try:
                yield Server(_address(process, ready, Path(folder) / "log"), secret)
            finally:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _address(process: "subprocess.Popen[bytes]", ready: Path, log: Path) -> str:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        if ready.exists():
            return str(json.loads(ready.read_text())["address"])
        time.sleep(0.1)
    raise SystemExit(f"the server did not start:\n{log.read_text()[-2000:]}")


class OtherTenant:
    """The tenant that suffers or does not, in a process of its own: it measures until it is told to stop."""

    def __init__(self, server: Server) -> None:
        self._pipe, theirs = multiprocessing.get_context("spawn").Pipe()
        arguments = (server.address, server.metadata("other"), theirs)
        self._process = multiprocessing.get_context("spawn").Process(target=_other_tenant, args=arguments)
        self._process.start()

    def measure(self, reads: int, analyses: int) -> Other:
        """Measure so often, and return what was measured."""
        self._pipe.send((reads, analyses))
        return self.result()

    def begin(self) -> None:
        """Begin to measure until ``result`` is asked for."""
        self._pipe.send((None, None))

    def result(self, *, stop: bool = False) -> Other:
        """Return what was measured."""
        if stop:
            self._pipe.send("stop")
        found: Other = self._pipe.recv()
        return found

    def close(self) -> None:
        """End its process."""
        self._pipe.send(None)
        self._process.join(30)


def _other_tenant(address: str, metadata: Any, pipe: Connection) -> None:
    with grpc.insecure_channel(address) as channel, ThreadPoolExecutor(2) as threads:
        knowledge = ckf_grpc.KnowledgeServiceStub(channel)  # type: ignore[no-untyped-call]
        provenance = dpe_grpc.ProvenanceServiceStub(channel)  # type: ignore[no-untyped-call]
        seeds = itertools.count(500_000)

        def read() -> None:
            knowledge.GetState(ckf.GetStateRequest(), 60, metadata)

        def analyse() -> None:
            provenance.Analyze(analysis(SHORT_CHARS, next(seeds)), 60, metadata)

        while (told := pipe.recv()) is not None:
            reads, analyses = told
            found, stop = Other(), threading.Event()
            both = [
                threads.submit(_keep, read, found.reads, found, reads, stop, READ_PAUSE_S),
                threads.submit(_keep, analyse, found.analyses, found, analyses, stop, 0.0),
            ]
            if reads is None:
                pipe.recv()
                stop.set()
            for one in both:
                one.result()
            pipe.send(found)


def _keep(
    call: Callable[[], None], into: list[float], found: Other, count: int | None, stop: threading.Event, pause_s: float
) -> None:
    """Call again and again: so often, or until told to stop."""
    while len(into) < count if count is not None else not stop.is_set():
        _timed(into, found, call)
        stop.wait(pause_s)


def _timed(into: list[float], found: Other, call: Any) -> None:
    began = time.perf_counter()
    try:
        call()
    except grpc.RpcError as error:
        found.failed[error.code().name] += 1
    into.append(time.perf_counter() - began)


class Load:
    """Calls of tenants that ask for more than there is."""

    def __init__(self, server: Server, channel: grpc.aio.Channel) -> None:
        self._server = server
        self._stub: Any = dpe_grpc.ProvenanceServiceStub(channel)  # type: ignore[no-untyped-call]
        self._seed = 0
        self.in_flight = 0

    async def call(self, tenant: str, chars: int, deadline_s: float) -> Outcome:
        """Analyse one more answer."""
        self._seed += 1
        request = analysis(chars, self._seed)
        began = time.perf_counter()
        self.in_flight += 1
        try:
            await self._stub.Analyze(request, timeout=deadline_s, metadata=self._server.metadata(tenant))
        except grpc.aio.AioRpcError as error:
            reason, retry_s = _details(error)
            return Outcome(error.code().name, reason, time.perf_counter() - began, retry_s)
        finally:
            self.in_flight -= 1
        return Outcome("OK", "", time.perf_counter() - began, 0.0)

    async def saturate(self, plan: Plan) -> Counter[str]:
        """Let one tenant keep many calls in flight and another few; return what each was served, in characters.

        It ends when so many calls have succeeded, or when the time is over.
        """
        served: Counter[str] = Counter()
        enough = asyncio.Event()

        async def keep_calling(tenant: str) -> None:
            while not enough.is_set():
                outcome = await self.call(tenant, plan.saturated_chars, 600)
                if outcome.code == "OK" and not enough.is_set():
                    served[tenant] += plan.saturated_chars
                if served.total() >= plan.saturated_calls * plan.saturated_chars:
                    enough.set()

        callers = [*["many"] * plan.many, *["few"] * plan.few]
        tasks = [asyncio.create_task(keep_calling(tenant)) for tenant in callers]
        with suppress(TimeoutError):
            async with asyncio.timeout(plan.saturated_s):
                await enough.wait()
        enough.set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(SETTLE_S)
        return served

    async def flood(self, plan: Plan) -> list[Outcome]:
        """Keep so many heavy calls going, refused ones again when they were told to; return how each ended."""
        outcomes: list[Outcome] = []
        end = asyncio.get_running_loop().time() + plan.flood_s

        async def keep_trying() -> None:
            while asyncio.get_running_loop().time() < end:
                outcome = await self.call("flooder", plan.heavy_chars, plan.deadline_s)
                outcomes.append(outcome)
                await asyncio.sleep(outcome.retry_s)

        tasks = [asyncio.create_task(keep_trying()) for _ in range(plan.flood)]
        await asyncio.sleep(plan.flood_s)
        return await self._last(outcomes, tasks)

    async def _last(self, outcomes: list[Outcome], tasks: list["asyncio.Task[None]"]) -> list[Outcome]:
        """Wait for the calls that are in flight, not for those that only wait to try again."""
        while self.in_flight:  # noqa: ASYNC110 - calls end by themselves, a tenth of a second does not matter
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return outcomes


def _details(error: grpc.aio.AioRpcError) -> tuple[str, float]:
    """Return the reason of a refusal, and after how many seconds to try again; 0 when it does not say."""
    found = next((value for key, value in error.trailing_metadata() or () if key == "grpc-status-details-bin"), None)
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    if isinstance(found, bytes):
        for detail in status_pb2.Status.FromString(found).details:
            detail.Unpack(info)
            detail.Unpack(retry)
    return info.reason, retry.retry_delay.ToMicroseconds() / 1e6


@dataclass(frozen=True, slots=True)
class Statement:
    """One measured thing and its bound."""

    name: str
    measured: str
    bound: str
    holds: bool


def judge(served: Counter[str], rest: Other, beside: Other, flood: list[Outcome]) -> list[Statement]:
    """Hold what was measured against the bounds."""
    least = min(served["many"], served["few"]) / max(served.total(), 1)
    exhausted = [one for one in flood if one.code == "RESOURCE_EXHAUSTED"]
    at_once = sum(one.seconds <= AT_ONCE_S for one in exhausted)
    admitted = len(flood) - at_once
    good = sum(one.code == "OK" for one in flood)
    told = sum(one.retry_s > 0 for one in exhausted)
    waits = sorted(one.seconds for one in exhausted) or [0.0]
    return [
        Statement("least share of two saturating tenants", f"{least:.0%}", ">= 40%", least >= 0.4),
        _times("read beside the flood", rest.reads, beside.reads),
        _times("short analysis beside the flood", rest.analyses, beside.analyses),
        Statement("calls of the other that failed", str(beside.failed.total()), "0", not beside.failed),
        Statement(
            "flooder's admitted calls that succeed", f"{good} of {admitted}", ">= 95%", good >= 0.95 * admitted > 0
        ),
        Statement("refused with RetryInfo", f"{told} of {len(exhausted)}", "all", told == len(exhausted)),
        Statement(
            f"refused within {AT_ONCE_S:.0f} s",
            f"{at_once} of {len(exhausted)}, median {statistics.median(waits):.2f} s, slowest {waits[-1]:.2f} s",
            "all",
            at_once == len(exhausted),
        ),
    ]


def _times(name: str, rest: list[float], beside: list[float]) -> Statement:
    if not beside:
        return Statement(name, "none ended", "<= 3 times", holds=False)
    before, after = statistics.median(rest), statistics.median(beside)
    text = f"{after / before:.1f} times ({before * 1e3:.0f} ms to {after * 1e3:.0f} ms, {len(beside)} calls)"
    return Statement(name, text, "<= 3 times", after <= 3 * before)


async def measure(plan: Plan) -> list[Statement]:
    """Run everything against one server."""
    with serving() as server:
        other = OtherTenant(server)
        try:
            async with grpc.aio.insecure_channel(server.address) as channel:
                load = Load(server, channel)
                await load.call("warm-up", plan.heavy_chars, 120)
                await asyncio.to_thread(other.measure, 5, 1)
                rest = await asyncio.to_thread(other.measure, plan.rest_reads, plan.rest_analyses)
                served = await load.saturate(plan)
                other.begin()
                flood = await load.flood(plan)
                beside = await asyncio.to_thread(other.result, stop=True)
        finally:
            other.close()
    ended = Counter(f"{one.code} {one.reason}".strip() for one in flood)
    Console(width=140).print(f"served in characters: {dict(served)}; the flood: {dict(ended)}")
    return judge(served, rest, beside, flood)


def show(statements: list[Statement]) -> None:
    """Print the table."""
    table = Table(title="Fairness between tenants", title_justify="left")
    for column in ("measured", "value", "bound", "holds"):
        table.add_column(column)
    for one in statements:
        table.add_row(one.name, one.measured, one.bound, "yes" if one.holds else "NO")
    Console(width=140).print(table)


def main() -> None:
    """Measure, print, and say by the exit status whether all bounds hold."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server is ended with the benchmark
    parser = argparse.ArgumentParser(prog="python -m bench.fairness", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="in small")
    statements = asyncio.run(measure(QUICK if parser.parse_args().quick else Plan()))
    show(statements)
    sys.exit(0 if all(one.holds for one in statements) else 1)


if __name__ == "__main__":
    main()
