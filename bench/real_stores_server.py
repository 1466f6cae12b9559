"""The process that ``bench.real_stores`` measures: the envelope service over Milvus and Neo4j, told what to do.

In a process of its own, so that its peak memory is its own, clients do not share its interpreter, and it can be
started again over what is there.
"""

import asyncio
import contextlib
import logging
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np
from pydantic import SecretStr
from pymilvus import MilvusClient

from bench.envelope_corpus import (
    DIMENSION,
    FACTS_PER_SOURCE,
    StandInEmbedding,
    question,
    sentence,
    source,
)
from bench.report import peak_memory_mib
from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.adapters.milvus import MilvusFactStore
from services.common.adapters.milvus.fact_rows import digest
from services.common.adapters.milvus.schema import facts_collection
from services.common.adapters.neo4j import Neo4jKnowledgeGraph
from services.common.adapters.tokens.counter import open_token_counter
from services.common.blas import limit_blas_threads
from services.common.clock import SystemClock
from services.common.encoding import sha256_hex
from services.common.envelope_request import EnvelopeRequest
from services.common.questions.decomposition import decompose
from services.common.rpc.authentication import LOCAL_CALLER, LocalAuthenticator
from services.common.rpc.server import RpcServer
from services.common.settings import InferenceSettings, ServerSettings, Settings, TelemetrySettings
from services.common.settings.milvus import MilvusSettings
from services.common.settings.neo4j import Neo4jSettings
from services.common.telemetry import configure_logs, open_telemetry
from services.envelope.compose import EnvelopeApps, EnvelopeParts, open_apps, served
from services.envelope.requests import FactEntries, FactEntry, WriteTicket
from services.envelope.version_writer import TextModels

TENANT: Final = LOCAL_CALLER.tenant_id
MODEL: Final = "gpt-4o"
BUDGET: Final = 4_000
LIMIT: Final = 50
NOTES: Final = 20
"""Facts of the source that is erased after a hundred thousand others: what a page of a handbook has."""
_LOADED_S: Final = 3.0
"""How long Milvus takes at most to use a graph that it says is built."""
_INDEX_S: Final = 600.0
_ADOPTED: Final = 50
_SUB_QUERIES: Final = 8
_WIDER: Final = (512, 1_024)
"""Wider searches of the graph, to see what they would find."""
_EXACT_BLOCK: Final = 10_000

Spent = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Target:
    """Where the two servers are, and under which names this run writes."""

    milvus_uri: str
    prefix: str
    neo4j_uri: str
    neo4j_password: str

    @property
    def milvus(self) -> MilvusSettings:
        """Settings of the store of facts; patient, since the machine may be busy."""
        return MilvusSettings(
            uri=self.milvus_uri, collection_prefix=self.prefix, timeout_s=120.0, start_timeout_s=300.0
        )

    @property
    def neo4j(self) -> Neo4jSettings:
        """Settings of the knowledge graph."""
        return Neo4jSettings(uri=self.neo4j_uri, password=SecretStr(self.neo4j_password), timeout_s=60.0)


@dataclass
class Asked:
    """What Milvus was asked since it was last looked at."""

    requests: int = 0
    rows: int = 0

    def watch(self, store: MilvusFactStore) -> None:
        """Count every request of a store from now on, and the rows of the answers."""
        database = store._database  # noqa: SLF001 - what is asked of Milvus is what is measured
        call = database.call

        async def counted(request: Callable[[MilvusClient, float], Any], **options: Any) -> Any:
            answer = await call(request, **options)
            self.requests += 1
            if isinstance(answer, list):
                self.rows += sum(len(one) if isinstance(one, list) else 1 for one in answer)
            return answer

        database.call = counted  # type: ignore[method-assign]

    def taken(self) -> tuple[int, int]:
        """Return requests and rows, and begin anew."""
        taken = (self.requests, self.rows)
        self.requests = self.rows = 0
        return taken


@dataclass
class _Bench:
    """What the commands work on."""

    target: Target
    store: MilvusFactStore
    apps: EnvelopeApps
    embedding: StandInEmbedding
    client: MilvusClient
    facts: int = 0
    turn: int = 0
    erased: bool = False
    asked: Asked = field(default_factory=Asked)

    async def grow(self, facts: float) -> dict[str, float]:
        """Ingest until there are ``facts``, then wait for what runs beside the calls; the time of each apart."""
        began, before, slowest = time.perf_counter(), self.facts, 0.0
        self.asked.taken()
        while self.facts < facts:
            started = time.perf_counter()
            await self.apps.ingestion.ingest_facts(TENANT, source(self.facts // FACTS_PER_SOURCE), _ticket())
            slowest = max(slowest, time.perf_counter() - started)
            self.facts += FACTS_PER_SOURCE
        ingested = time.perf_counter()
        requests, rows = self.asked.taken()
        await self.apps.communities.settled()
        settled = time.perf_counter()
        return {
            "facts_s": (self.facts - before) / (ingested - began),
            "slowest_call_s": slowest,
            "settle_s": settled - ingested,
            "requests": requests,
            "rows": rows,
            "mib": peak_memory_mib(),
        }

    async def index(self, _: float) -> dict[str, float]:
        """Have Milvus seal what was written; return when its graph is built and in use."""
        began = time.perf_counter()
        await asyncio.to_thread(_await_index, self.client, self._collection())
        return {"s": time.perf_counter() - began}

    async def known(self, facts: float) -> dict[str, float]:
        """Take note of what a former process has ingested."""
        self.facts = int(facts)
        return {}

    async def builds(self, rounds: float) -> Spent:
        """Build and search bare in turns; return the milliseconds of each, and what the builds asked for."""
        spent: Spent = {name: [] for name in ("embed", "search", "build", "after_write", "cpu", "requests", "rows")}
        for turn in range(int(rounds)):
            query = question(self._next())
            began = time.perf_counter()
            vectors = await self.embedding.embed([query])
            spent["embed"].append((time.perf_counter() - began) * 1e3)
            began = time.perf_counter()
            await asyncio.to_thread(self._bare, vectors)
            spent["search"].append((time.perf_counter() - began) * 1e3)
            if turn % 5 == 0:  # one build in five is the first one after a write
                await self._write_notes(1)
            self.asked.taken()
            began, processor = time.perf_counter(), time.process_time()
            await self._build(query)
            spent["build" if turn % 5 else "after_write"].append((time.perf_counter() - began) * 1e3)
            spent["cpu"].append((time.process_time() - processor) * 1e3)
            requests, rows = self.asked.taken()
            if turn % 5:
                spent["requests"].append(requests)
                spent["rows"].append(rows)
        return spent

    async def ten_more(self, _: float) -> dict[str, float]:
        """Ingest ten facts in one call beside all the others, and build once; what is read again?"""
        self.asked.taken()
        began = time.perf_counter()
        await self._write_notes(10)
        written = time.perf_counter()
        requests, rows = self.asked.taken()
        await self._build(question(self._next()))
        built = time.perf_counter()
        build_requests, build_rows = self.asked.taken()
        await self.apps.knowledge.state(TENANT, ())
        stated = time.perf_counter()
        state_requests, state_rows = self.asked.taken()
        return {
            "ms": (written - began) * 1e3,
            "requests": requests,
            "rows": rows,
            "build_ms": (built - written) * 1e3,
            "build_requests": build_requests,
            "build_rows": build_rows,
            "state_ms": (stated - built) * 1e3,
            "state_requests": state_requests,
            "state_rows": state_rows,
        }

    async def fifty_more(self, _: float) -> dict[str, float]:
        """Ingest as many facts as make new ones join communities, and wait for that."""
        await self.apps.communities.settled()
        self.asked.taken()
        began = time.perf_counter()
        await self._write_notes(_ADOPTED)
        written = time.perf_counter()
        await self.apps.communities.settled()
        requests, rows = self.asked.taken()
        settled = time.perf_counter()
        return {"ms": (written - began) * 1e3, "settle_s": settled - written, "requests": requests, "rows": rows}

    async def state(self, _: float) -> dict[str, float]:
        """Ask for the state hash over everything, the first time in this process and once more after a write."""
        found: dict[str, float] = {}
        for name in ("first", "after_write"):
            self.asked.taken()
            began = time.perf_counter()
            await self.apps.knowledge.state(TENANT, ())
            found[f"{name}_ms"] = (time.perf_counter() - began) * 1e3
            found[f"{name}_requests"], found[f"{name}_rows"] = self.asked.taken()
            await self._write_notes(1)
        return found

    async def erase(self, _: float) -> dict[str, float]:
        """Erase a page's facts, then the thousand of the second source."""
        notes = [f"{sentence(number)} To be erased {uuid.uuid4()}." for number in range(NOTES)]
        await self._write("erased", notes)
        found: dict[str, float] = {}
        for name, uri in (("page", "erased"), ("source", "cases/1")):
            self.asked.taken()
            source_id = await self._source_id(uri)
            began = time.perf_counter()
            await self.apps.knowledge.erase(TENANT, source_id, _ticket())
            found[f"{name}_ms"] = (time.perf_counter() - began) * 1e3
            found[f"{name}_requests"], found[f"{name}_rows"] = self.asked.taken()
        self.erased = True
        await self.apps.communities.settled()
        found["settled_s"] = (time.perf_counter() - began) - found["source_ms"] / 1e3
        return found

    async def _source_id(self, uri: str) -> str:
        after = ""
        while page := await self.apps.knowledge.sources(TENANT, after, LIMIT):
            for record in page:
                if record.uri == uri:
                    return record.source_id
            after = page[-1].source_id
        raise LookupError(uri)

    async def recall(self, queries: float) -> dict[str, float]:
        """Compare what is found with every vector that is there: for sub-queries, and for questions left whole.

        A question between two topics is the harder one for a graph; a build asks for its sub-queries.
        """
        questions = [question(50_000 + number) for number in range(int(queries))]
        parts = [part for one in questions for part in decompose(one, _SUB_QUERIES) if part not in questions]
        found: dict[str, float] = {}
        for name, texts in (("part", parts[: int(queries)]), ("whole", questions)):
            asked = self.embedding.vectors(texts)
            best = await asyncio.to_thread(self._exact, asked)
            for ef in (self.target.milvus.search_ef, *_WIDER):
                graph = await asyncio.to_thread(self._bare, asked, ef)
                found[f"{name}_graph_ef{ef}"] = _recall(graph, best)
            stored = await self.store.search(TENANT, asked, limit=LIMIT)
            found[f"{name}_store"] = _recall([[hit.fact.content for hit in hits] for hits in stored], best)
        return found

    async def recluster(self, _: float) -> dict[str, float]:
        """Compute all communities anew, as RebuildCommunities does."""
        self.asked.taken()
        began = time.perf_counter()
        outcome = await self.apps.communities.rebuild(TENANT)
        requests, rows = self.asked.taken()
        return {
            "s": time.perf_counter() - began,
            "communities": outcome.community_count,
            "requests": requests,
            "rows": rows,
        }

    async def memory(self, _: float) -> dict[str, float]:
        """Return the peak so far."""
        return {"mib": peak_memory_mib()}

    async def _build(self, query: str) -> None:
        await self.apps.envelopes.build(TENANT, EnvelopeRequest(query, MODEL, max_envelope_tokens=BUDGET))

    async def _write_notes(self, count: int) -> None:
        await self._write("notes", [f"{sentence(self.turn)} Noted {uuid.uuid4()}." for _ in range(count)])

    async def _write(self, uri: str, texts: Sequence[str]) -> None:
        entries = FactEntries(uri, "Notes", source(0).source_type, tuple(map(FactEntry, texts)))
        await self.apps.ingestion.ingest_facts(TENANT, entries, _ticket())

    def _next(self) -> int:
        self.turn += 1
        return self.turn

    def _collection(self) -> str:
        return facts_collection(self.target.milvus, self.embedding.fingerprint)

    def _bare(self, vectors: np.ndarray[Any, np.dtype[np.float32]], ef: int = 0) -> list[list[str]]:
        """Search the graph alone, one request, keys alone; what the service is held against."""
        found = self.client.search(
            self._collection(),
            data=list(vectors),
            anns_field="vector",
            filter=f'tenant == "{digest(TENANT)}" and status < 2',
            limit=LIMIT,
            output_fields=["content_hash"],
            search_params={"params": {"ef": ef or self.target.milvus.search_ef}},
            consistency_level="Bounded",
        )
        return [[hit["entity"]["content_hash"] for hit in hits] for hits in found]

    def _exact(self, queries: np.ndarray[Any, np.dtype[np.float32]]) -> list[set[str]]:
        texts = [sentence(number) for number in range(self.facts) if not self.erased or number // FACTS_PER_SOURCE != 1]
        blocks = [texts[first : first + _EXACT_BLOCK] for first in range(0, len(texts), _EXACT_BLOCK)]
        scores = [queries @ self.embedding.vectors(block).T for block in blocks]
        order = np.argsort(-np.concatenate(scores, axis=1), axis=1, kind="stable")[:, :LIMIT]
        return [{texts[place] for place in row} for row in order]


def _recall(found: Sequence[Sequence[str]], best: Sequence[set[str]]) -> float:
    shares = []
    for some, wanted in zip(found, best, strict=True):
        known = wanted | {sha256_hex(text) for text in wanted}
        shares.append(len({one for one in some if one in known}) / len(wanted))
    return sum(shares) / len(shares)


def _ticket() -> WriteTicket[Any]:
    return WriteTicket("IngestFacts", str(uuid.uuid4()), "0" * 64, lambda _: b"")


def _await_index(client: MilvusClient, name: str) -> None:
    client.flush(name, timeout=_INDEX_S)
    ends = time.monotonic() + _INDEX_S
    while client.describe_index(name, "vector").get("pending_index_rows", 0):
        if time.monotonic() > ends:
            raise TimeoutError(f"Milvus has not built its graph in {_INDEX_S:g} s")
        time.sleep(0.5)
    time.sleep(_LOADED_S)


def serve(target: Target, pipe: Connection) -> None:
    """Open the stores and serve until told to stop; the child process's whole work."""
    logging.disable()
    with open(os.devnull, "w", encoding="utf-8") as sink:  # noqa: PTH123 - a device, not a path
        configure_logs(TelemetrySettings(), sink)
        asyncio.run(_serve(target, pipe))


async def _serve(target: Target, pipe: Connection) -> None:
    limit_blas_threads(1)  # as the service does
    embedding = StandInEmbedding()
    store = await MilvusFactStore.open(target.milvus, embedding_model=embedding.fingerprint, dimension=DIMENSION)
    graph = await Neo4jKnowledgeGraph.open(target.neo4j)
    models = TextModels(embedding, MemoryEntityRecognizer(), await open_token_counter(InferenceSettings()))
    settings = Settings(server=ServerSettings(port=0), telemetry=TelemetrySettings(http_port=0))
    parts = EnvelopeParts(store, graph, models, settings.envelope, SystemClock())
    apps = await open_apps(parts)
    telemetry = open_telemetry(settings.telemetry, "envelope", "0")
    server = RpcServer(served(parts, apps), settings, LocalAuthenticator(), telemetry)
    await server.start()
    pipe.send(server.address)
    client = MilvusClient(target.milvus_uri, timeout=_INDEX_S)
    bench = _Bench(target, store, apps, embedding, client)
    bench.asked.watch(store)
    await _obey(bench, pipe)
    await asyncio.to_thread(client.close)
    await server.drain()
    await apps.communities.close()
    await store.close()
    await graph.close()
    telemetry.close()


async def _obey(bench: _Bench, pipe: Connection) -> None:
    commands: dict[str, Callable[[float], Awaitable[Any]]] = {
        "grow": bench.grow,
        "known": bench.known,
        "index": bench.index,
        "builds": bench.builds,
        "ten_more": bench.ten_more,
        "fifty_more": bench.fifty_more,
        "state": bench.state,
        "erase": bench.erase,
        "recall": bench.recall,
        "recluster": bench.recluster,
        "memory": bench.memory,
    }
    loop = asyncio.get_running_loop()
    with contextlib.suppress(EOFError):
        while (told := await loop.run_in_executor(None, pipe.recv)) is not None:
            name, value = told
            pipe.send(await commands[name](value))
