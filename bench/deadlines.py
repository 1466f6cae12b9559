"""What a call with a deadline of one second leaves behind: processor time of the whole process tree after two.

A server with its real models is sent, one after the other, the largest input that each RPC takes and that takes long,
with a deadline of a second; some calls are given up by their client instead, one over HTTP by closing the connection.
For each: how it ended, the processor time that the server spent in the first two seconds, what it spent after them
until it was at rest again, and the longest time for which the event loop did not turn. What a worker process takes that
was started meanwhile and is there afterwards stands for itself: the call is not given to it any more, the next one is.

    python -m bench.deadlines [--only NAME…]
"""

import argparse
import contextlib
import functools
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
from crp.ckf.v1 import knowledge_service_pb2_grpc
from crp.dpe.v1 import (
    guard_service_pb2,
    guard_service_pb2_grpc,
    provenance_service_pb2,
    provenance_service_pb2_grpc,
)
from crp.envelope.v1 import envelope_service_pb2, envelope_service_pb2_grpc
from crp.gateway.v1 import dispatch_service_pb2_grpc
from ercp.v1 import ercp_service_pb2, ercp_service_pb2_grpc
from google.rpc import error_details_pb2, status_pb2
from rich.console import Console
from rich.table import Table

from bench.deadlines_requests import (
    MODEL,
    analyze,
    build,
    check,
    claims,
    coherence,
    dispatch,
    extract,
    ingest,
    prose,
    run,
    verify,
)
from bench.report import machine

DEADLINE_S: Final = 1.0
AFTER_S: Final = 2.0
"""When the work has to have ended, counted from the call."""
TARGET_S: Final = 0.1
"""Processor time after that which still counts as rest, beside what the server takes at rest."""
REST_RATE: Final = 0.05
"""Processors that the server may take, beyond what it took before anything was asked, to count as at rest."""
LONGEST_S: Final = 120.0
START_S: Final = 600.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass
class Server:
    """The process, and what it listens on."""

    process: "subprocess.Popen[bytes]"
    address: str
    telemetry_port: int
    http_port: int
    rest_rate: float = 0.0

    def processor_s(self) -> float:
        """Return what it and all that it started have spent, those that ended included."""
        return sum(_spent_s(pid) for pid in _tree(self.process.pid))

    def workers(self) -> frozenset[int]:
        """Return the ids of its worker processes."""
        return frozenset(_tree(self.process.pid)) - {self.process.pid}

    def lags(self) -> dict[str, float]:
        """Return how often the event loop was at most so late, by the bound."""
        connection = http.client.HTTPConnection("127.0.0.1", self.telemetry_port, timeout=LONGEST_S)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        prefix = "groundtrail_event_loop_lag_seconds_bucket{"
        lines = (line for line in text.splitlines() if line.startswith(prefix))
        return {line.split('"')[1]: float(line.split()[-1]) for line in lines}


@dataclass
class Stubs:
    """One channel and what is asked over it."""

    channel: grpc.Channel
    dpe: Any = field(init=False)
    knowledge: Any = field(init=False)
    envelope: Any = field(init=False)
    gateway: Any = field(init=False)
    ercp: Any = field(init=False)
    guard: Any = field(init=False)

    def __post_init__(self) -> None:
        self.dpe = provenance_service_pb2_grpc.ProvenanceServiceStub(self.channel)  # type: ignore[no-untyped-call]
        self.knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(self.channel)  # type: ignore[no-untyped-call]
        self.envelope = envelope_service_pb2_grpc.EnvelopeServiceStub(self.channel)  # type: ignore[no-untyped-call]
        self.gateway = dispatch_service_pb2_grpc.DispatchServiceStub(self.channel)  # type: ignore[no-untyped-call]
        self.guard = guard_service_pb2_grpc.GuardServiceStub(self.channel)  # type: ignore[no-untyped-call]
        self.ercp = ercp_service_pb2_grpc.ErcpServiceStub(self.channel)  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class Case:
    """One call. ``cancel``: its client gives it up instead of setting a deadline."""

    name: str
    rpc: Callable[[Stubs], Any]
    request: Callable[[], Any]
    cancel: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What was measured of one call."""

    name: str
    end: str
    spent_s: float
    after_s: float
    start_s: float
    rest_s: float
    lag: str


CASES: Final = (
    Case("Analyze", lambda s: s.dpe.Analyze, lambda: analyze(100_000)),
    Case("Analyze, given up", lambda s: s.dpe.Analyze, lambda: analyze(100_000), cancel=True),
    Case("Analyze, 500,000", lambda s: s.dpe.Analyze, lambda: analyze(400_000)),
    Case(
        "AnalyzeStream",
        lambda s: s.dpe.AnalyzeStream,
        lambda: provenance_service_pb2.AnalyzeStreamRequest(analysis=analyze(100_000)),
    ),
    Case(
        "SegmentClaims",
        lambda s: s.dpe.SegmentClaims,
        lambda: provenance_service_pb2.SegmentClaimsRequest(text=prose(400_000)),
    ),
    Case(
        "VerifySummary",
        lambda s: s.dpe.VerifySummary,
        lambda: provenance_service_pb2.VerifySummaryRequest(summary=prose(50_000, 3), original=prose(400_000)),
    ),
    Case("Check", lambda s: s.dpe.Check, lambda: check(100_000)),
    Case("Guard ScoreCoherence", lambda s: s.guard.ScoreCoherence, lambda: coherence(100_000)),
    Case("Guard VerifyClaims", lambda s: s.guard.VerifyClaims, lambda: claims(100_000)),
    Case("Guard VerifyClaims, given up", lambda s: s.guard.VerifyClaims, lambda: claims(100_000), cancel=True),
    Case(
        "Guard DetectInjection",
        lambda s: s.guard.DetectInjection,
        lambda: guard_service_pb2.DetectInjectionRequest(input=prose(100_000), intent=prose(2_000, 1), response="No."),
    ),
    Case("IngestSource, Markdown", lambda s: s.knowledge.IngestSource, lambda: ingest(1_000_000, "text/markdown")),
    Case("IngestSource, HTML", lambda s: s.knowledge.IngestSource, lambda: ingest(1_000_000, "text/html")),
    Case("IngestSource", lambda s: s.knowledge.IngestSource, lambda: ingest(1_000_000)),
    Case("IngestSource, given up", lambda s: s.knowledge.IngestSource, lambda: ingest(1_000_000), cancel=True),
    Case("BuildEnvelope", lambda s: s.envelope.BuildEnvelope, build),
    Case(
        "PreviewEnvelope",
        lambda s: s.envelope.PreviewEnvelope,
        lambda: envelope_service_pb2.PreviewEnvelopeRequest(query=prose(30_000), model=MODEL),
    ),
    Case(
        "CountTokens",
        lambda s: s.envelope.CountTokens,
        lambda: envelope_service_pb2.CountTokensRequest(model=MODEL, texts=[prose(100_000)] * 100),
    ),
    Case("Dispatch", lambda s: s.gateway.Dispatch, dispatch),
    Case("Dispatch, given up", lambda s: s.gateway.Dispatch, dispatch, cancel=True),
    Case("ERCP Run", lambda s: s.ercp.Run, run),
    Case("ERCP RunStream", lambda s: s.ercp.RunStream, run),
    Case("ERCP Verify", lambda s: s.ercp.Verify, lambda: verify(100_000)),
    Case("ERCP Verify, given up", lambda s: s.ercp.Verify, lambda: verify(100_000), cancel=True),
    Case("ERCP ExtractConstraints", lambda s: s.ercp.ExtractConstraints, lambda: extract(100_000)),
    Case(
        "ERCP Stabilize",
        lambda s: s.ercp.Stabilize,
        lambda: ercp_service_pb2.StabilizeRequest(
            request_id=str(uuid.uuid4()), reasoning_prev=prose(100_000), reasoning_curr=prose(100_000, 1)
        ),
    ),
)
HTTP_CASE: Final = "HTTP /ercp/v1/verify, connection closed"


def main() -> int:
    """Measure all, or those that are named; 1 when one left more behind than it may."""
    parser = argparse.ArgumentParser(prog="python -m bench.deadlines", description=__doc__)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="cases whose name begins so")
    only = tuple(parser.parse_args().only or ("",))
    sys.stdout.write(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as folder, _serving(Path(folder)) as server:
        found = list(_all(server, only))
    _show(found)
    return int(any(each.after_s > TARGET_S for each in found))


def _all(server: Server, only: tuple[str, ...]) -> Iterator[Found]:
    with grpc.insecure_channel(server.address, options=[("grpc.max_send_message_length", -1)]) as channel:
        stubs = Stubs(channel)
        _fill(stubs)
        server.rest_rate = _rest_rate(server)
        calls = {each.name: functools.partial(_called, stubs, each) for each in CASES}
        calls[HTTP_CASE] = functools.partial(_closed, server)
        for name, call in calls.items():
            if name.startswith(only):
                measured = _measured(server, name, call)
                sys.stdout.write(f"{measured}\n")
                sys.stdout.flush()
                yield measured


def _called(stubs: Stubs, each: Case) -> str:
    rpc, request = each.rpc(stubs), each.request()
    began = time.monotonic()
    if each.cancel:
        call = rpc.future(request, timeout=60)
        time.sleep(DEADLINE_S)
        call.cancel()
        return "given up" if call.cancelled() else "OK"
    try:
        answer = rpc(request, timeout=DEADLINE_S)
        if hasattr(answer, "__next__"):
            for _ in answer:
                pass
    except grpc.RpcError as error:
        return _told(error)
    return f"OK after {time.monotonic() - began:.2f} s"


def _told(error: Any) -> str:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    done, stage = info.metadata.get("done", "-"), info.metadata.get("stage", "-")
                    return f"{error.code().name} done={done} stage={stage}"
    return f"{error.code().name} (not told by the server)"


def _closed(server: Server) -> str:
    from google.protobuf.json_format import MessageToDict

    body = MessageToDict(verify(100_000), preserving_proto_field_name=True)
    body.pop("request_id")
    connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)
    connection.request("POST", "/ercp/v1/verify", json.dumps(body), {"Content-Type": "application/json"})
    time.sleep(DEADLINE_S)
    connection.close()
    return "connection closed"


def _measured(server: Server, name: str, call: Callable[[], str]) -> Found:
    workers, before_lags, before = server.workers(), server.lags(), server.processor_s()
    began = time.monotonic()
    end = call()
    time.sleep(max(0.0, began + AFTER_S - time.monotonic()))
    at_mark, mark = server.processor_s(), time.monotonic()
    fresh = {pid: _spent_s(pid) for pid in server.workers() - workers}
    last, last_at = at_mark, mark
    while time.monotonic() < mark + LONGEST_S:
        time.sleep(0.5)
        now, now_at = server.processor_s(), time.monotonic()
        if (now - last) / (now_at - last_at) <= server.rest_rate + REST_RATE:
            break
        last, last_at = now, now_at
    start = sum(_spent_s(pid) - fresh.get(pid, 0.0) for pid in server.workers() - workers)
    after = max(0.0, last - at_mark - start - server.rest_rate * (last_at - mark))
    return Found(name, end, at_mark - before, after, start, last_at - began, _longest(before_lags, server.lags()))


def _longest(before: dict[str, float], after: dict[str, float]) -> str:
    """Return the bound of the longest lag that came in between."""
    if not after:
        return "?"  # an older server does not tell
    bounds = list(after)
    total = after["+Inf"] - before["+Inf"]
    return next((bound for bound in bounds if after[bound] - before[bound] >= total), "+Inf")


def _rest_rate(server: Server) -> float:
    time.sleep(2.0)
    before = server.processor_s()
    time.sleep(4.0)
    return (server.processor_s() - before) / 4.0


def _fill(stubs: Stubs) -> None:
    """Give the server something to find, and have it load every model."""
    for seed in range(3):
        stubs.knowledge.IngestSource(ingest(20_000 + seed), timeout=300)
    stubs.dpe.Analyze(analyze(2_000), timeout=300)
    stubs.ercp.Verify(verify(2_000), timeout=300)


@contextlib.contextmanager
def _serving(folder: Path) -> Iterator[Server]:
    ready, log = folder / "ready.json", folder / "server.log"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GROUNDTRAIL_")}
    http_port = _free_port()
    settings = {
        "GROUNDTRAIL_STORE__DATA_DIR": str(folder / "data"),
        "GROUNDTRAIL_HTTP__PORT": str(http_port),
        "GROUNDTRAIL_SERVER__INSECURE_LOCAL": "true",
    }
    command = [
        sys.executable,
        "-m",
        "services.allinone",
        "--port",
        "0",
        "--telemetry-port",
        "0",
        "--ready-file",
        str(ready),
    ]
    with log.open("wb") as sink:
        process = subprocess.Popen(command, env=kept | settings, stdout=sink, stderr=sink)
    try:
        until = time.monotonic() + START_S
        while not ready.exists():
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"the server did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.1)
        listening = json.loads(ready.read_text())
        yield Server(process, listening["address"], listening["telemetry_port"], http_port)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit() and (found := _stat(int(each.name))):
            children.setdefault(int(found[1]), []).append(int(each.name))
    tree, open_ = [], [root]
    while open_:
        tree.append(pid := open_.pop())
        open_ += children.get(pid, [])
    return tree


def _spent_s(pid: int) -> float:
    found = _stat(pid)
    return sum(int(found[at]) for at in (11, 12, 13, 14)) / _TICKS if found else 0.0


def _stat(pid: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` behind the name; none when the process has gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _show(found: list[Found]) -> None:
    table = Table(title=f"A deadline of {DEADLINE_S:g} s, and what is left after {AFTER_S:g} s", title_justify="left")
    after = (f"after {AFTER_S:g} s", "next worker")
    for column in ("call", "its end", "processor s", *after, "at rest after", "loop at most late"):
        table.add_column(column, justify="left" if column in {"call", "its end"} else "right")
    for each in found:
        mark = "" if each.after_s <= TARGET_S else " !"
        table.add_row(
            each.name,
            each.end,
            f"{each.spent_s:.2f}",
            f"{each.after_s:.2f}{mark}",
            f"{each.start_s:.2f}",
            f"{each.rest_s:.1f} s",
            f"{each.lag} s",
        )
    Console(width=150).print(table)


if __name__ == "__main__":
    sys.exit(main())
