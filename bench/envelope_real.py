"""Facts ingested with the real embedder and recogniser, and the time of one query, in a fresh process."""

import asyncio
import multiprocessing
import statistics
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.envelope_corpus import question, sentence
from bench.report import peak_memory_mib
from services.common.composition import Adapters
from services.common.settings import Settings
from services.common.settings.stores import StoreSettings
from services.envelope.compose import open_apps, open_parts
from services.envelope.domain.importance import SourceType
from services.envelope.requests import FactEntries, FactEntry, WriteTicket

TENANT: Final = "bench"
_QUERIES: Final = 20
_CALL_FACTS: Final = 500


@dataclass(frozen=True, slots=True)
class RealIngestion:
    """What the run found; ``query_ms`` is the median of embedding one question."""

    facts: int
    facts_s: float
    query_ms: float
    peak_mib: float


def measure_real(facts: int) -> RealIngestion:
    """Ingest so many facts in a process of their own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure_alone, (facts,))


def _measure_alone(facts: int) -> RealIngestion:
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-envelope-") as directory:
        return asyncio.run(_measure(Path(directory), facts))


async def _measure(directory: Path, facts: int) -> RealIngestion:
    settings = Settings(store=StoreSettings(data_dir=directory))
    async with Adapters(settings) as adapters:
        parts = await open_parts(settings, adapters)
        apps = await open_apps(parts)
        await parts.models.embedding.embed(["warm up"])
        await parts.models.entities.recognize(["warm up"])
        spent = []
        for number in range(_QUERIES):
            began = time.perf_counter()
            await parts.models.embedding.embed([question(number)])
            spent.append((time.perf_counter() - began) * 1e3)
        began = time.perf_counter()
        for first in range(0, facts, _CALL_FACTS):
            entries = tuple(FactEntry(sentence(number)) for number in range(first, min(first + _CALL_FACTS, facts)))
            ticket: WriteTicket[Any] = WriteTicket("IngestFacts", str(uuid.uuid4()), "0" * 64, lambda _: b"")
            source = FactEntries(f"cases/{first}", "Cases", SourceType.INTERNAL, entries)
            await apps.ingestion.ingest_facts(TENANT, source, ticket)
        rate = facts / (time.perf_counter() - began)
        await apps.communities.close()
    return RealIngestion(facts, rate, statistics.median(spent), peak_memory_mib())
