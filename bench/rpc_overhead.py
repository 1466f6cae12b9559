"""What the runtime costs a call: calls per second of a trivial unary RPC, part by part, against an empty echo server.

    python -m bench.rpc_overhead [--seconds 0.5] [--rounds 7]

The server and the client run in processes of their own. Each measurement of a variant stands between two of the empty
grpc.aio echo, and its ratio is taken against their mean, so that drift of the machine hits both alike; the table shows
medians over rounds. Calls are kept in flight by 16 concurrent tasks over one channel. Next to the rates stands the
processor time that the server spent per call, which says what a part costs even on a busy machine.
"""

import argparse
import asyncio
import logging
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final, cast

import grpc
from crp.envelope.v1 import envelope_service_pb2 as pb
from google.protobuf.wrappers_pb2 import StringValue
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from prometheus_client import CollectorRegistry

from bench.report import Row, machine, show
from services.common.adapters.memory.credentials import MemoryCredentialStore
from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.adapters.tokens.counter import open_token_counter
from services.common.api_key_format import hash_of, prefix_of
from services.common.clock import SystemClock
from services.common.context import Role
from services.common.ports.credentials import ApiKeyRecord
from services.common.rpc.authentication import LocalAuthenticator, open_authenticator
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.handlers import wrap
from services.common.rpc.methods import HandlerTable, MethodTable, build_method
from services.common.rpc.pipeline import Pipeline
from services.common.settings import (
    AuthSettings,
    EnvelopeSettings,
    InferenceSettings,
    ServerSettings,
    Settings,
    TelemetrySettings,
)
from services.common.telemetry import RpcMetrics, Telemetry, configure_logs
from services.envelope.compose import EnvelopeParts, assemble_services
from services.envelope.version_writer import TextModels

SERVICE: Final = "groundtrail.bench.v1.EchoService"
METHOD: Final = f"/{SERVICE}/Echo"
KEY: Final = "crp_gw_bench_" + "k" * 32
MODEL: Final = "gpt-4o"
IN_FLIGHT: Final = 16
TEXT: Final = "How many days does a policyholder have to report a claim?"


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts of the runtime a variant turns on; all variants but the echo have ids, limits and the error table."""

    authentication: bool = False
    metrics: bool = False
    access_log: bool = False
    traces: bool = False
    count_tokens: bool = False  # EnvelopeService.CountTokens instead of an echo


BASELINE: Final = "empty grpc.aio echo"
VARIANTS: Final[dict[str, Parts | None]] = {
    BASELINE: None,
    "ids, deadline, limits, error table": Parts(),
    "… and authentication": Parts(authentication=True),
    "… and metrics": Parts(metrics=True),
    "… and access log": Parts(access_log=True),
    "… and traces (every call sampled)": Parts(traces=True),
    "authentication and metrics": Parts(authentication=True, metrics=True),
    "all by default (no traces)": Parts(authentication=True, metrics=True, access_log=True),
    "all and traces": Parts(authentication=True, metrics=True, access_log=True, traces=True),
    "CountTokens, authentication and metrics": Parts(authentication=True, metrics=True, count_tokens=True),
    "CountTokens, all by default": Parts(authentication=True, metrics=True, access_log=True, count_tokens=True),
}
TARGETS: Final = {"all by default (no traces)": 0.6, "CountTokens, all by default": 0.6}


@dataclass(frozen=True, slots=True)
class _Sample:
    rate: float
    server_us: float


@dataclass(frozen=True, slots=True)
class _Server:
    process: Any
    pipe: Connection
    port: int
    count_tokens: bool

    def callable(self, channel: grpc.aio.Channel) -> Callable[..., Any]:
        """Return the RPC with its short text filled in."""
        if self.count_tokens:
            count = channel.unary_unary(
                METHOD, pb.CountTokensRequest.SerializeToString, pb.CountTokensResponse.FromString
            )
            return partial(count, pb.CountTokensRequest(model=MODEL, texts=[TEXT]))
        echo = channel.unary_unary(METHOD, StringValue.SerializeToString, StringValue.FromString)
        return partial(echo, StringValue(value=TEXT))

    def processor_s(self) -> float:
        self.pipe.send("time")
        return float(self.pipe.recv())

    def stop(self) -> None:
        self.pipe.send(None)
        self.process.join(5)


class _Discard(SpanExporter):
    """Takes spans and keeps none."""

    def export(self, spans: Any) -> SpanExportResult:  # noqa: ARG002 - the interface
        return SpanExportResult.SUCCESS


async def _echo(request: StringValue, context: Any) -> StringValue:  # noqa: ARG001 - gRPC's signature
    return request


def _handlers() -> dict[str, Any]:
    handler = grpc.unary_unary_rpc_method_handler(_echo, StringValue.FromString, StringValue.SerializeToString)
    return {"Echo": handler}


async def _count_tokens() -> Any:
    """Return the real CountTokens handler, over memory stores and the real tokenizers."""
    parts = EnvelopeParts(
        MemoryFactStore(8),
        MemoryKnowledgeGraph(),
        TextModels(MemoryEmbeddingModel(8), MemoryEntityRecognizer(), await open_token_counter(InferenceSettings())),
        EnvelopeSettings(),
        SystemClock(),
    )
    table = MethodTable()
    for service in await assemble_services(parts):
        service.register(cast("grpc.aio.Server", table))
    return table.handlers["crp.envelope.v1.EnvelopeService"]["CountTokens"]


async def _wrapped(parts: Parts) -> Any:
    registry = CollectorRegistry()
    metrics = RpcMetrics(registry)
    telemetry = Telemetry(registry, metrics, provider=_provider() if parts.traces else None)
    authenticator = await _authenticator() if parts.authentication else LocalAuthenticator()
    gate = CredentialGate(authenticator, Settings())
    pipeline = Pipeline(gate, telemetry, ServerSettings(), log_calls=parts.access_log)
    method = build_method(
        SERVICE,
        "Echo",
        await _count_tokens() if parts.count_tokens else _handlers()["Echo"],
        role=Role.READER,
        max_bytes=1 << 20,
        metrics=metrics if parts.metrics else None,
    )
    return wrap(pipeline, method)


def _provider() -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(_Discard()))
    return provider


async def _authenticator() -> Any:
    store = MemoryCredentialStore()
    clock = SystemClock()
    prefix = prefix_of(KEY) or ""
    await store.put_key(ApiKeyRecord("tenant", "key", prefix, hash_of(KEY), "bench", ("writer",), clock.now()))
    return open_authenticator(AuthSettings(), store, clock)


def _serve(parts: Parts | None, pipe: Connection) -> None:
    """Run one server until the pipe closes; the child process's whole work."""
    logging.disable()
    with open(os.devnull, "w", encoding="utf-8") as sink:  # noqa: PTH123 - a device, not a path
        configure_logs(TelemetrySettings(), sink)
        asyncio.run(_serve_until_told(parts, pipe))


async def _serve_until_told(parts: Parts | None, pipe: Connection) -> None:
    server = grpc.aio.server()
    if parts is None:
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, _handlers()),))
    else:
        server.add_generic_rpc_handlers((HandlerTable({METHOD: await _wrapped(parts)}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    pipe.send(port)
    await asyncio.get_running_loop().run_in_executor(None, _tell_time, pipe)
    await server.stop(0)


def _tell_time(pipe: Connection) -> None:
    """Answer with the processor time used so far, until told to stop."""
    while pipe.recv() is not None:
        pipe.send(time.process_time())


async def _measure(server: _Server, seconds: float) -> _Sample:
    """Call for ``seconds``, after a warm-up of a quarter of that."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        call = partial(server.callable(channel), metadata=(("authorization", f"Bearer {KEY}"),), timeout=10.0)
        await _hammer(call, seconds / 4)
        started, processor_s = time.perf_counter(), server.processor_s()
        calls = await _hammer(call, seconds)
        elapsed = time.perf_counter() - started
        return _Sample(calls / elapsed, (server.processor_s() - processor_s) / calls * 1e6)


async def _hammer(call: Callable[[], Any], seconds: float) -> int:
    until = time.perf_counter() + seconds

    async def one() -> int:
        count = 0
        while time.perf_counter() < until:
            await call()
            count += 1
        return count

    return sum(await asyncio.gather(*(one() for _ in range(IN_FLIGHT))))


def run(seconds: float = 0.5, rounds: int = 7) -> list[Row]:
    """Measure every variant.

    Args:
        seconds: of each measurement.
        rounds: medians are taken over these.
    """
    servers: list[_Server] = []
    try:
        servers.extend(_start(parts) for parts in VARIANTS.values())
        echo, *others = servers
        samples: list[list[_Sample]] = [[] for _ in servers]
        ratios: list[list[float]] = [[] for _ in others]
        for _ in range(rounds):
            before = asyncio.run(_measure(echo, seconds))
            for index, server in enumerate(others):
                sample = asyncio.run(_measure(server, seconds))
                after = asyncio.run(_measure(echo, seconds))
                samples[index + 1].append(sample)
                samples[0].append(after)
                ratios[index].append(2 * sample.rate / (before.rate + after.rate))
                before = after
    finally:
        for server in servers:
            server.stop()
    return [_row(name, measured, ratio) for name, measured, ratio in zip(VARIANTS, samples, [[], *ratios], strict=True)]


def _row(name: str, measured: list[_Sample], ratios: list[float]) -> Row:
    server_us = statistics.median(sample.server_us for sample in measured)
    return Row(
        name,
        statistics.median(sample.rate for sample in measured),
        "calls/s",
        baseline=BASELINE if ratios else "",
        ratio=statistics.median(ratios) if ratios else None,
        target=TARGETS.get(name),
        note=f"{len(measured)} samples; {server_us:.0f} µs of the server's processor per call",
    )


def _start(parts: Parts | None) -> _Server:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(parts, theirs), daemon=True)
    process.start()
    return _Server(process, ours, ours.recv(), parts is not None and parts.count_tokens)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Cost of the runtime per call, part by part.")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args(argv)
    show(f"unary RPC, {IN_FLIGHT} in flight, {machine()}", run(arguments.seconds, arguments.rounds))


if __name__ == "__main__":
    main()
