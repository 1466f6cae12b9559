"""The guard beside director-ai on the same texts in the same run: reviews a second, and facts that are looked for.

Both run over gRPC on loopback, each in a process of its own, asked by one client: the other one by its last release
with servers, as it installs, without its optional entailment models. Ours without its encoders that judge, and with
them: then also against bare ONNX Runtime over the very items that the run sent to its encoders. Every answer is new,
and nothing is remembered. Facts: the other one's store without models against the embedded store over as many, with and
without the time that the query's vector takes; stored vectors lie in clusters, as those of documents do.

    python -m bench.guard [--reviews N] [--rounds N] [--minutes M] [--no-peer]

Each aim is told as kept or broken. Behind ``--minutes`` (5) each part that is left makes one round alone. The streaming
kernel and the streams are measured by bench.guard_streams, where this build has them.
"""

import argparse
import asyncio
import base64
import importlib.util
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import grpc
from crp.dpe.v1 import guard_pb2, guard_service_pb2
from crp.dpe.v1.guard_service_pb2_grpc import GuardServiceStub

from bench.dpe_corpus import QUESTION, case
from bench.guard_server import GuardServer, serving
from bench.report import Row, machine, show
from bench.stores import DIMENSION, NOW, TENANT, clustered, indexed
from evaluation.guard.peers import NAME, SERVING, Peer, PeerError, running
from services.common.adapters.encoders.embedding import open_embedding
from services.common.adapters.sqlite import SqliteFactStore
from services.common.model_repository import open_repository
from services.common.ports.facts import FactRecord, FactStatus
from services.common.settings.inference import InferenceSettings
from services.common.settings.stores import StoreSettings

CLAIMS: Final = 3
FACTS: Final = 10
REVIEWS: Final = 64
ROUNDS: Final = 3
MINUTES: Final = 5.0
_OF_REVIEWS: Final = 0.7
"""Of that time, for the reviews; facts and streams take the rest."""
IN_FLIGHT: Final = 16
CALL_S: Final = 300.0
KNOWN: Final = 10_000
NEAREST: Final = 3
QUERIES: Final = 30
PEER: Final = f"{NAME} {SERVING}"
WITHOUT_TARGET: Final = 3.0
BARE_TARGET: Final = 0.9
VECTOR_TARGET: Final = 5.0


def reviews(count: int, first: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return so many prompts, answers and facts, other figures in each."""
    cases = [case(CLAIMS, FACTS, seed=first + number) for number in range(count)]
    return [(QUESTION, one.answer, one.facts) for one in cases]


def requests_of(rows: Sequence[tuple[str, str, tuple[str, ...]]]) -> list[guard_service_pb2.ScoreCoherenceRequest]:
    """Return our requests for the same; the facts stand in them."""
    return [
        guard_service_pb2.ScoreCoherenceRequest(
            prompt=prompt,
            response=response,
            facts=[guard_pb2.GroundingText(id=f"f{place}", content=text) for place, text in enumerate(facts)],
            bypass_cache=True,
        )
        for prompt, response, facts in rows
    ]


async def timed(calls: Sequence[Callable[[], Awaitable[Any]]]) -> float:
    """Make the calls, so many in flight, and return the seconds that they took."""
    turns = asyncio.Semaphore(IN_FLIGHT)

    async def one(call: Callable[[], Awaitable[Any]]) -> None:
        async with turns:
            await call()

    started = time.perf_counter()
    await asyncio.gather(*map(one, calls))
    return time.perf_counter() - started


class PeerReviews:
    """The peer's server and its requests for the rows of a round."""

    def __init__(self, peer: Peer, facts: Sequence[str]) -> None:
        self._peer = peer
        self._port = peer.ask("serve", facts=list(facts))

    async def rates(self, rows: Sequence[tuple[str, str, tuple[str, ...]]]) -> tuple[float, float]:
        """Return reviews a second, each a call, and all as one batch."""
        plain = [[prompt, response] for prompt, response, _ in rows]
        *each, batch = (base64.b64decode(one) for one in self._peer.ask("requests", rows=plain))
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self._port}") as channel:
            review: Any = channel.unary_unary("/director.DirectorService/Review")
            reviewed: Any = channel.unary_unary("/director.DirectorService/ReviewBatch")
            single = await timed([lambda one=one: review(one, timeout=CALL_S) for one in each])  # type: ignore[misc]
            together = await timed([lambda: reviewed(batch, timeout=CALL_S)])
        return len(rows) / single, len(rows) / together


async def own_seconds(server: GuardServer, rows: Sequence[tuple[str, str, tuple[str, ...]]]) -> float:
    """Return the seconds that our reviews of the rows take, so many in flight."""
    requests = requests_of(rows)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub: Any = GuardServiceStub(channel)  # type: ignore[no-untyped-call]
        return await timed([lambda one=one: stub.ScoreCoherence(one, timeout=CALL_S) for one in requests])  # type: ignore[misc]


def served(port: int) -> bool:
    """Say whether this build serves reviews."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub: Any = GuardServiceStub(channel)  # type: ignore[no-untyped-call]
        try:
            stub.ScoreCoherence(requests_of(reviews(1, 0))[0], timeout=CALL_S)
        except grpc.RpcError as error:
            return bool(error.code() is not grpc.StatusCode.UNIMPLEMENTED)
    return True


def measure_reviews(peer: Peer | None, count: int, rounds: int, until: float) -> list[Row]:
    """Measure both, in turns; behind ``until`` (monotonic seconds) no further round is begun."""
    with ExitStack() as stack:
        other = None if peer is None else PeerReviews(peer, reviews(1, 0)[0][2])
        without = stack.enter_context(serving(judges=False))
        if not served(without.port):
            return [*_peer_rows(other, count, rounds), Row("reviews by the guard", 0.0, "reviews/s", note="not served")]
        singles, batches, own, ratios = [], [], [], []
        for number in _rounds(rounds, until - (until - time.monotonic()) / 2):
            rows = reviews(count, number * count)
            if other is not None:
                single, batch = asyncio.run(other.rates(rows))
                singles.append(single)
                batches.append(batch)
            rate = count / asyncio.run(own_seconds(without, rows))
            own.append(rate)
            ratios += [rate / max(singles[-1], batches[-1])] if singles else []
    texts = f"{CLAIMS} claims, {FACTS} facts, {IN_FLIGHT} in flight, {len(own)} rounds of {count}"
    found = _rows_of_peer(singles, batches, texts)
    ratio = statistics.median(ratios) if ratios else None
    target = WITHOUT_TARGET if ratios else None
    baseline = f"{PEER}, the faster of both" if ratios else ""
    name = "guard, without entailment"
    found.append(Row(name, statistics.median(own), "reviews/s", baseline, ratio, target, texts))
    return found + measure_bare(count, rounds, until)


def _rounds(most: int, until: float) -> Iterator[int]:
    """Yield the numbers of the rounds, one at least."""
    for number in range(1, most + 1):
        if number > 1 and time.monotonic() > until:
            return
        yield number


def measure_bare(count: int, rounds: int, until: float) -> list[Row]:
    """Measure reviews with all encoders against bare ONNX Runtime over the same items."""
    rates, ratios, whole, items = [], [], [], 0
    with serving(judges=True) as server:
        served(server.port)
        for number in _rounds(rounds, until):
            rows = reviews(count, 100_000 + number * count)
            server.begin()
            took = asyncio.run(own_seconds(server, rows))
            bare = server.bared()
            rates.append(count / took)
            ratios.append(bare.onnx_s / took)
            whole.append((bare.onnx_s + bare.recognizer_s) / took)
            items = bare.items
    alone = statistics.median(whole)
    note = f"{len(rates)} rounds; {items} items in the last; {alone:.2f} with the recogniser alone counted as bare"
    ratio, baseline = statistics.median(ratios), "bare ONNX Runtime, same items"
    name = "guard, with entailment and grounding"
    return [Row(name, statistics.median(rates), "reviews/s", baseline, ratio, BARE_TARGET, note)]


def _peer_rows(other: PeerReviews | None, count: int, rounds: int) -> list[Row]:
    if other is None:
        return []
    rates = [asyncio.run(other.rates(reviews(count, number * count))) for number in range(1, rounds + 1)]
    return _rows_of_peer([one for one, _ in rates], [batch for _, batch in rates], f"{rounds} rounds of {count}")


def _rows_of_peer(singles: Sequence[float], batches: Sequence[float], note: str) -> list[Row]:
    if not singles:
        return []
    return [
        Row(f"{PEER}, Review", statistics.median(singles), "reviews/s", note=note),
        Row(f"{PEER}, ReviewBatch", statistics.median(batches), "reviews/s", note=f"one call of each round's {note}"),
    ]


async def measure_vectors(peer: Peer | None) -> list[Row]:
    """Measure how long it takes to find the nearest of many facts, one query after the other."""
    facts = [f"Fact {n}: the deductible of tariff {n % 997} is {n % 89} euros in zone {n % 31}." for n in range(KNOWN)]
    queries = [f"What is the deductible of tariff {n * 31 % 997} in zone {n % 31}?" for n in range(QUERIES)]
    theirs = None
    if peer is not None:
        theirs = statistics.median(peer.ask("vector_rate", facts=facts, queries=queries, limit=NEAREST))
    settings = InferenceSettings()
    model = await open_embedding(settings, open_repository(settings))
    try:
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-guard-") as directory:
            store = await SqliteFactStore.open(Path(directory) / "facts.db", StoreSettings(), dimension=DIMENSION)
            try:
                vectors = clustered(KNOWN, 1)
                records = [_record(number, text, vectors[number]) for number, text in enumerate(facts)]
                for first in range(0, KNOWN, 5_000):
                    await store.upsert(records[first : first + 5_000])
                await indexed(store, vectors[:1])
                await model.embed(queries[:1])
                searched, whole = [], []
                for query in queries:
                    began = time.perf_counter()
                    vector = await model.embed([query])
                    embedded = time.perf_counter()
                    await store.search(TENANT, vector, limit=NEAREST)
                    ended = time.perf_counter()
                    searched.append((ended - embedded) * 1e3)
                    whole.append((ended - began) * 1e3)
            finally:
                await store.close()
    finally:
        await model.close()
    return _vector_rows(theirs, statistics.median(searched), statistics.median(whole))


def _vector_rows(theirs: float | None, searched: float, whole: float) -> list[Row]:
    found = [] if theirs is None else [Row(f"{PEER}, in process", theirs, "ms", note="its store without models")]
    for name, value in (("embedded store, vector given", searched), ("embedded store, query embedded as well", whole)):
        ratio = None if theirs is None else theirs / value
        found.append(Row(name, value, "ms", PEER if theirs else "", ratio, VECTOR_TARGET if theirs else None))
    return found


def _record(number: int, text: str, vector: Any) -> FactRecord:
    return FactRecord(
        tenant_id=TENANT,
        fact_id=f"{number:08}",
        content=text,
        content_hash=f"{number:064x}",
        source_id=f"source-{number % 50}",
        source_location="p. 1",
        importance_weight=0.5,
        ingested_at=NOW,
        modified_at=NOW,
        status=FactStatus.ACTIVE,
        embedding=vector,
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.guard", description=__doc__.partition("\n")[0])
    parser.add_argument("--reviews", type=int, default=REVIEWS, help="of each round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="behind which no further round is begun")
    parser.add_argument("--no-peer", action="store_true", help="ours alone")
    options = parser.parse_args()
    until = time.monotonic() + 60.0 * options.minutes * _OF_REVIEWS
    with ExitStack() as stack:
        peer = None
        try:
            peer = None if options.no_peer else stack.enter_context(running(SERVING))
        except PeerError as error:
            print(f"{PEER} is left out: {error}")
        show(f"Reviews over gRPC ({machine()})", measure_reviews(peer, options.reviews, options.rounds, until))
        title = f"The {NEAREST} nearest of {KNOWN:,} facts, one query after the other"
        show(title, asyncio.run(measure_vectors(peer)))
    if importlib.util.find_spec("bench.guard_streams") is not None:
        subprocess.run([sys.executable, "-m", "bench.guard_streams"], check=True)


if __name__ == "__main__":
    main()
