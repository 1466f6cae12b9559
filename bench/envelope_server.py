"""The process that ``bench.envelope`` measures: the service over SQLite on a free port, told what to do by a pipe.

In a process of its own, so that its peak memory is its own and clients do not share its interpreter.
"""

import asyncio
import contextlib
import logging
import os
import re
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.envelope_corpus import DIMENSION, FACTS_PER_SOURCE, StandInEmbedding, question, sentence, source
from bench.report import peak_memory_mib
from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.adapters.sqlite import SqliteFactStore
from services.common.adapters.sqlite.graph import SqliteKnowledgeGraph
from services.common.adapters.tokens.counter import open_token_counter
from services.common.blas import limit_blas_threads
from services.common.clock import SystemClock
from services.common.collector import freeze_collector
from services.common.envelope_request import EnvelopeRequest
from services.common.rpc.authentication import LOCAL_CALLER, LocalAuthenticator
from services.common.rpc.server import RpcServer
from services.common.settings import InferenceSettings, ServerSettings, Settings, TelemetrySettings
from services.common.settings.stores import StoreSettings
from services.common.telemetry import configure_logs, open_telemetry
from services.envelope.compose import EnvelopeApps, EnvelopeParts, assemble_services, open_apps
from services.envelope.domain.assembly import PackingTerms, assemble
from services.envelope.domain.candidates import Candidate
from services.envelope.domain.ranking import RankingTerms
from services.envelope.domain.weights import RankWeights
from services.envelope.requests import WriteTicket
from services.envelope.version_writer import TextModels

TENANT: Final = LOCAL_CALLER.tenant_id
MODEL: Final = "gpt-4o"
BUDGET: Final = 4_000
CANDIDATES: Final = 500
_NOW: Final = datetime(2026, 5, 24, tzinfo=UTC)
_POLL_S: Final = 0.1
_PEAK: Final = re.compile(r"VmHWM:\s+(\d+) kB")


@dataclass
class _Bench:
    """What the commands work on."""

    store: SqliteFactStore
    apps: EnvelopeApps
    embedding: StandInEmbedding
    facts: int = 0
    asked: int = 0

    async def grow(self, facts: int) -> dict[str, float]:
        """Ingest until there are ``facts``; then wait for what runs in the background, the time of each apart."""
        began, before = time.perf_counter(), self.facts
        while self.facts < facts:
            ticket: WriteTicket[Any] = WriteTicket("IngestFacts", str(uuid.uuid4()), "0" * 64, lambda _: b"")
            await self.apps.ingestion.ingest_facts(TENANT, source(self.facts // FACTS_PER_SOURCE), ticket)
            self.facts += FACTS_PER_SOURCE
        ingested = time.perf_counter()
        await self._settled()
        settled = time.perf_counter()
        peak = peak_memory_mib()
        return {"facts": self.facts - before, "ingest_s": ingested - began, "settle_s": settled - ingested, "mib": peak}

    async def recluster(self, _: float) -> dict[str, float]:
        """Compute all communities anew, as RebuildCommunities does, and watch the process that does it."""
        began, peaks = time.perf_counter(), [0.0]
        watching = asyncio.create_task(_watch_children(peaks))
        outcome = await self.apps.communities.rebuild(TENANT)
        watching.cancel()
        return {"s": time.perf_counter() - began, "communities": outcome.community_count, "child_mib": max(peaks)}

    async def app(self, rounds: float) -> dict[str, list[float]]:
        """Build and search bare in turns; return the milliseconds of each."""
        spent: dict[str, list[float]] = {"embed": [], "search": [], "build": [], "after_write": [], "cpu": []}
        for turn in range(int(rounds)):
            query = question(self._next())
            began = time.perf_counter()
            vectors = await self.embedding.embed([query])
            spent["embed"].append((time.perf_counter() - began) * 1e3)
            began = time.perf_counter()
            self._bare_search(vectors)
            spent["search"].append((time.perf_counter() - began) * 1e3)
            if turn % 5 == 0:  # one build in five is the first one after a write
                await self._write_one()
            name = "build" if turn % 5 else "after_write"
            began, processor = time.perf_counter(), time.process_time()
            await self.apps.envelopes.build(TENANT, EnvelopeRequest(query, MODEL, max_envelope_tokens=BUDGET))
            spent[name].append((time.perf_counter() - began) * 1e3)
            spent["cpu"].append((time.process_time() - processor) * 1e3)
        return spent

    async def ten_more(self, _: float) -> dict[str, float]:
        """Ingest ten facts beside all the others, and build once."""
        began = time.perf_counter()
        for _ in range(10):
            await self._write_one()
        written = time.perf_counter()
        query = EnvelopeRequest(question(self._next()), MODEL, max_envelope_tokens=BUDGET)
        await self.apps.envelopes.build(TENANT, query)
        return {"ms": (written - began) * 1e3, "build_ms": (time.perf_counter() - written) * 1e3}

    async def rank(self, rounds: float) -> dict[str, dict[str, list[float]]]:
        """Rank and pack 500 candidates, all different and all alike; return the milliseconds, and the processor's."""
        terms = PackingTerms(RankingTerms(RankWeights(), _NOW, 365.0), BUDGET)
        queries = self.embedding.vectors([question(0)])
        spent: dict[str, dict[str, list[float]]] = {}
        for name, candidates in (("different", self._candidates(alike=False)), ("alike", self._candidates(alike=True))):
            spent[name] = {"ms": [], "processor_ms": []}
            for _ in range(int(rounds)):
                began, processor = time.perf_counter(), time.thread_time()
                assemble(candidates, queries, terms)
                spent[name]["ms"].append((time.perf_counter() - began) * 1e3)
                spent[name]["processor_ms"].append((time.thread_time() - processor) * 1e3)
        return spent

    async def processor(self, _: float) -> dict[str, float]:
        """Return what the processor has worked for this process so far."""
        return {"ms": time.process_time() * 1e3}

    async def memory(self, _: float) -> dict[str, float]:
        """Return the peak so far."""
        return {"mib": peak_memory_mib()}

    def _next(self) -> int:
        self.asked += 1
        return self.asked

    async def _write_one(self) -> None:
        known = source(0)
        fact = known.facts[0].__class__(f"{sentence(self.asked)} Noted {uuid.uuid4()}.")
        entries = known.__class__("notes", "Notes", known.source_type, (fact,))
        ticket: WriteTicket[Any] = WriteTicket("IngestFacts", str(uuid.uuid4()), "0" * 64, lambda _: b"")
        await self.apps.ingestion.ingest_facts(TENANT, entries, ticket)

    def _bare_search(self, queries: np.ndarray[Any, np.dtype[np.float32]]) -> None:
        view = self.store._vectors._tenants[1].view  # noqa: SLF001 - the bare index is what the service is held against
        if view is None:
            return
        for block in view.tail:
            np.argpartition(-(block @ queries.T)[:, 0], min(50, len(block) - 1))
        if view.index is not None:
            view.index.search(queries, 50)

    async def _settled(self) -> None:
        query = self.embedding.vectors([question(0)])
        await self.store.search(TENANT, query, limit=1)
        await self.apps.communities.settled()
        await self.store.search(TENANT, query, limit=1)
        while any(one.building for one in self.store._vectors._tenants.values()):  # noqa: ASYNC110, SLF001 - a thread builds
            await asyncio.sleep(_POLL_S)

    def _candidates(self, *, alike: bool) -> list[Candidate]:
        rng = np.random.default_rng(3)
        texts = [sentence(number) for number in range(CANDIDATES)]
        vectors = self.embedding.vectors(texts)
        if alike:
            vectors = vectors[0] + 0.005 * rng.standard_normal((CANDIDATES, DIMENSION)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [
            Candidate(
                fact_id=str(uuid.UUID(int=number)),
                content=text,
                content_hash=f"{number * 7919 % 10_007:064x}",
                source_id=f"source-{number % 20}",
                token_count=40,
                importance_weight=0.5 + number % 5 / 10,
                ingested_at=_NOW - timedelta(days=number % 400),
                embedding=vectors[number],
                community=f"community-{number % 12}",
            )
            for number, text in enumerate(texts)
        ]


async def _watch_children(peaks: list[float]) -> None:
    while True:
        peaks.extend(await asyncio.to_thread(_children_mib))
        await asyncio.sleep(_POLL_S)


def _children_mib() -> list[float]:
    """Return the peak memory of each child of this process, where /proc tells."""
    found: list[float] = []
    for children in Path("/proc/self/task").glob("*/children"):
        for pid in children.read_text().split():
            with contextlib.suppress(OSError):
                found.extend(int(kib) / 1024 for kib in _PEAK.findall((Path("/proc") / pid / "status").read_text()))
    return found


def serve(directory: str, pipe: Connection) -> None:
    """Open the stores in ``directory`` and serve until told to stop; the child process's whole work."""
    logging.disable()
    with open(os.devnull, "w", encoding="utf-8") as sink:  # noqa: PTH123 - a device, not a path
        configure_logs(TelemetrySettings(), sink)
        asyncio.run(_serve(Path(directory), pipe))


async def _serve(directory: Path, pipe: Connection) -> None:
    limit_blas_threads(1)  # as the service does
    store = await SqliteFactStore.open(directory / "knowledge.db", StoreSettings(), dimension=DIMENSION)
    graph = await SqliteKnowledgeGraph.open(directory / "graph.db", StoreSettings())
    embedding = StandInEmbedding()
    models = TextModels(embedding, MemoryEntityRecognizer(), await open_token_counter(InferenceSettings()))
    settings = Settings(server=ServerSettings(port=0), telemetry=TelemetrySettings(http_port=0))
    parts = EnvelopeParts(store, graph, models, settings.envelope, SystemClock())
    telemetry = open_telemetry(settings.telemetry, "envelope", "0")
    server = RpcServer(await assemble_services(parts), settings, LocalAuthenticator(), telemetry)
    await server.start()
    apps = await open_apps(parts)
    freeze_collector()  # as the service does
    pipe.send(server.address)
    await _obey(_Bench(store, apps, embedding), pipe)
    await server.drain()
    await apps.communities.close()
    await store.close()
    await graph.close()
    telemetry.close()


async def _obey(bench: _Bench, pipe: Connection) -> None:
    commands: dict[str, Callable[[float], Awaitable[Any]]] = {
        "grow": lambda facts: bench.grow(int(facts)),
        "recluster": bench.recluster,
        "app": bench.app,
        "ten_more": bench.ten_more,
        "rank": bench.rank,
        "memory": bench.memory,
        "processor": bench.processor,
    }
    loop = asyncio.get_running_loop()
    while (told := await loop.run_in_executor(None, pipe.recv)) is not None:
        name, value = told
        pipe.send(await commands[name](value))
