"""Streams under oversight: the kernel in the process, and OverseeStream over gRPC beside an empty bidirectional echo.

    python -m bench.guard_streams [--rounds 5] [--tokens 20000] [--streams 500]

Every score is the same, so that what is measured is the stream and no model. In the process: tokens a second of
processor time, the best round, for the halt rules alone and for all that a stream does (sentences, what may be
delivered, halt rules), at two lengths: flat means that a token costs the same however long the stream is. Over gRPC:
server and client in processes of their own, a round of the echo and one of the oversight by turns, all tokens sent
without waiting. Then so many streams open at once, each with a sentence judged.
"""

import argparse
import asyncio
import multiprocessing
import statistics
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final, cast

import grpc
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1.guard_service_pb2_grpc import GuardServiceStub, add_GuardServiceServicer_to_server

from bench.report import Row, machine, peak_memory_mib, show
from services.common.rpc.authentication import LocalAuthenticator
from services.common.rpc.server import RpcServer, ServedService
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.streaming.halting import HaltingKernel
from services.common.streaming.oversight import Oversight
from services.common.streaming.rules import HaltRules
from services.common.telemetry import configure_logs, open_telemetry
from services.dpe.app import ProvenanceApp
from services.dpe.domain.guard.coherence_grounds import GroundText
from services.dpe.domain.guard.sentence_scores import SentenceScore, SentenceToScore
from services.dpe.guard.compose import GUARD_ROLES, GUARD_SERVICE, WORK, overseeing
from services.dpe.guard.servicer import GuardApps, GuardServicer

LENGTHS: Final = (2_000, 20_000)
TEXT: Final = "The warranty covers all moving parts of the pump for three years from the date of purchase."
SENTENCE: Final = TEXT.split(" ")
COHERENCE: Final = 0.95
ECHO: Final = "/groundtrail.bench.v1.EchoService/Echo"
KERNEL_TARGET: Final = 200_000
ECHO_TARGET: Final = 0.5
FLAT_TARGET: Final = 0.8
OPEN_TARGET: Final = 500


class ConstantScoring:
    """``Scoring`` that gives every sentence the same score."""

    async def open(self, prompt: str, facts: Sequence[GroundText]) -> "ConstantScoring":
        """Return the scorer of any stream."""
        del prompt, facts
        return self

    def fingerprints(self) -> tuple[tuple[str, str], ...]:
        """Return nothing: no model takes part."""
        return ()

    async def score(self, asked: SentenceToScore) -> SentenceScore:
        """Return the constant."""
        del asked
        return SentenceScore(COHERENCE)

    async def check(self) -> None:
        """Be ready."""


def words(count: int) -> list[str]:
    """Return so many tokens: words with the blank before them, sixteen to a sentence."""
    return [f" {SENTENCE[at % len(SENTENCE)]}" for at in range(count)]


def rules_alone(tokens: Sequence[str]) -> None:
    """Ask the halt rules about every token."""
    kernel = HaltingKernel(HaltRules())
    for _ in tokens:
        kernel.observe(COHERENCE)


def whole(tokens: Sequence[str]) -> None:
    """Do all that a stream does but send and score."""
    oversight = Oversight(HaltRules())
    for token in tokens:
        taken = oversight.take(token)
        oversight.conclude(taken, (COHERENCE,) * len(taken.units))


def in_process(rounds: int) -> list[Row]:
    """Return tokens a second of processor time at both lengths."""
    rows: list[Row] = []
    for name, work in (("halt rules alone", rules_alone), ("sentences, release and halt rules", whole)):
        rates = [_rate(work, words(length), rounds) for length in LENGTHS]
        for length, rate in zip(LENGTHS, rates, strict=True):
            rows.append(
                Row(f"{name}, {length:,} tokens", rate, "tokens/s", f"{KERNEL_TARGET:,}", rate / KERNEL_TARGET, 1.0)
            )
        rows.append(Row(f"{name}, long against short", rates[1], "tokens/s", "short", rates[1] / rates[0], FLAT_TARGET))
    return rows


def _rate(work: Callable[[Sequence[str]], None], tokens: Sequence[str], rounds: int) -> float:
    """Return the best of some rounds; short streams are repeated till they can be measured."""
    times = max(1, 40_000 // len(tokens))
    found: list[float] = []
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(times):
            work(tokens)
        found.append(times * len(tokens) / (time.process_time() - begin))
    return max(found)


def serve(pipe: Connection, streams: int) -> None:
    """Serve the oversight and an echo until told to end; answers any message with the peak of memory."""
    asyncio.run(_serve(pipe, streams))


async def _serve(pipe: Connection, streams: int) -> None:
    telemetry_settings = TelemetrySettings(http_port=None, log_level="warning")
    configure_logs(telemetry_settings)
    settings = Settings(server=ServerSettings(port=0, reflection=False), telemetry=telemetry_settings)
    limits = settings.guard.oversight.model_copy(update={"max_streams": streams, "max_streams_per_tenant": streams})
    settings = settings.model_copy(update={"guard": settings.guard.model_copy(update={"oversight": limits})})
    telemetry = open_telemetry(settings.telemetry, "guard-bench", "0")
    scoring = ConstantScoring()
    oversight = overseeing(settings, cast("ProvenanceApp", scoring), scoring)
    servicer = GuardServicer(GuardApps(cast("Any", None), oversight, cast("Any", None), cast("Any", None)), settings)
    register = partial(add_GuardServiceServicer_to_server, servicer)
    service = ServedService(GUARD_SERVICE, register, GUARD_ROLES, scoring.check, work=WORK)
    server = RpcServer([service], settings, LocalAuthenticator(), telemetry)
    await server.start()
    echo = grpc.aio.server()
    handler: Any = grpc.stream_stream_rpc_method_handler(_echo)
    echo.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(ECHO.split("/")[1], {"Echo": handler}),))
    port = echo.add_insecure_port("127.0.0.1:0")
    await echo.start()
    pipe.send((server.address, f"127.0.0.1:{port}"))
    while await asyncio.to_thread(pipe.recv):
        pipe.send(peak_memory_mib())
    await echo.stop(None)
    await server.drain()
    telemetry.close()


async def _echo(requests: AsyncIterator[bytes], _: Any) -> AsyncIterator[bytes]:
    async for request in requests:
        yield request


def messages(tokens: int) -> list[pb.OverseeStreamRequest]:
    """Return a whole stream."""
    start = guard_pb2.StartOversight(prompt="What is covered?")
    sent = [pb.OverseeStreamRequest(start=start)]
    for index, text in enumerate(words(tokens)):
        sent.append(pb.OverseeStreamRequest(token=guard_pb2.StreamToken(index=index, text=text)))
    sent.append(pb.OverseeStreamRequest(end=guard_pb2.EndOversight()))
    return sent


async def _timed(call: Any, sent: Sequence[pb.OverseeStreamRequest]) -> float:
    """Return the seconds that a stream takes, written and read at once."""
    begin = time.perf_counter()

    async def write() -> None:
        for message in sent:
            await call.write(message)
        await call.done_writing()

    writing = asyncio.create_task(write())
    count = 0
    while await call.read() is not grpc.aio.EOF:
        count += 1
    await writing
    if count < len(sent) - 2:
        raise RuntimeError(f"{count} answers to {len(sent)} messages")
    return time.perf_counter() - begin


async def over_grpc(address: str, echo_address: str, tokens: int, rounds: int) -> list[Row]:
    """Return tokens a second of both, by turns."""
    sent = messages(tokens)
    async with grpc.aio.insecure_channel(address) as channel, grpc.aio.insecure_channel(echo_address) as bare:
        stub = cast("Callable[[grpc.aio.Channel], Any]", GuardServiceStub)(channel)
        echo = bare.stream_stream(ECHO, pb.OverseeStreamRequest.SerializeToString, pb.OverseeStreamRequest.FromString)
        own: list[float] = []
        other: list[float] = []
        for _ in range(rounds):
            other.append(tokens / await _timed(echo(), sent))
            own.append(tokens / await _timed(stub.OverseeStream(), sent))
    ratio = statistics.median(a / b for a, b in zip(own, other, strict=True))
    name = f"{rounds} rounds of {tokens:,} tokens"
    return [
        Row("empty bidirectional echo", statistics.median(other), "tokens/s", note=name),
        Row("OverseeStream", statistics.median(own), "tokens/s", "echo", ratio, ECHO_TARGET, name),
    ]


async def open_at_once(address: str, streams: int) -> list[Row]:
    """Open so many streams, have a sentence judged in each, then one more token in those that answered; all stay open.

    A stream counts as open where a verdict with a score came back over it, while all the others were open.
    """
    sent = messages(2 * len(SENTENCE))
    async with grpc.aio.insecure_channel(address) as channel:
        stub = cast("Callable[[grpc.aio.Channel], Any]", GuardServiceStub)(channel)
        calls = [stub.OverseeStream() for _ in range(streams)]
        begin = time.perf_counter()
        judged = await asyncio.gather(*(_is_judged(call, sent[: len(SENTENCE) + 2]) for call in calls))
        opened = time.perf_counter() - begin
        going = [call for call, answered in zip(calls, judged, strict=True) if answered]
        more = sent[len(SENTENCE) + 2 : len(SENTENCE) + 3]
        begin = time.perf_counter()
        still = sum(await asyncio.gather(*(_is_judged(call, more) for call in going)))
        one = time.perf_counter() - begin
        for call in calls:
            call.cancel()
    return [
        Row(f"open at once, of {streams} streams", float(still), "streams", f"{OPEN_TARGET}", still / OPEN_TARGET, 1.0),
        Row(f"{len(going)} streams opened, a sentence judged in each", opened, "s"),
        Row(f"one token more in each of {len(going)} open streams", still / one, "tokens/s"),
    ]


async def _is_judged(call: Any, sent: Sequence[pb.OverseeStreamRequest]) -> bool:
    """Say whether a stream takes messages and answers each token, one at least with a score."""
    scored = False
    try:
        for message in sent:
            await call.write(message)
        for message in sent:
            if message.WhichOneof("message") == "token":
                answer = await call.read()
                if answer is grpc.aio.EOF:
                    return False
                scored = scored or answer.verdict.HasField("coherence")
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):  # refused, or at its end
        return False
    return scored


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.guard_streams", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=LENGTHS[-1])
    parser.add_argument("--streams", type=int, default=500)
    given = parser.parse_args()
    print(machine())
    show("Streaming kernel, in the process", in_process(given.rounds))
    context = multiprocessing.get_context("spawn")
    pipe, far = context.Pipe()
    process = context.Process(target=serve, args=(far, given.streams), daemon=True)
    process.start()
    try:
        if not pipe.poll(60):
            raise RuntimeError("the server does not start")
        address, echo_address = pipe.recv()
        show("OverseeStream over gRPC", asyncio.run(over_grpc(address, echo_address, given.tokens, given.rounds)))
        rows = asyncio.run(open_at_once(address, given.streams))
        pipe.send("memory")
        rows.append(Row("peak memory of the server", float(pipe.recv()), "MiB"))
        show("Open streams", rows)
        pipe.send("")
        process.join(10)
    finally:
        process.terminate()


if __name__ == "__main__":
    main()
