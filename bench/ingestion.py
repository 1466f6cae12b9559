"""Ingestion with the real embedder, entity recogniser and SQLite stores, against embedding the same facts alone.

The corpus is generated: Markdown documents of headings, paragraphs, lists and a table, all different. Measured in a
process of its own, so that the peak memory is this benchmark's. The first build over the corpus is timed as well.

    python -m bench.ingestion [DOCUMENTS]
"""

import asyncio
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.report import Row, peak_memory_mib, processor_seconds, show
from services.common.blas import limit_blas_threads
from services.common.composition import Adapters
from services.common.envelope_request import EnvelopeRequest
from services.common.ports.facts import FactFilter
from services.common.settings import Settings
from services.common.settings.stores import StoreSettings
from services.envelope.compose import open_apps, open_parts
from services.envelope.domain.importance import SourceType
from services.envelope.requests import IngestOutcome, SourceDocument, WriteTicket

TENANT: Final = "bench"
_ALL: Final = FactFilter()
DOCUMENTS: Final = 60
BATCH: Final = 64
BUILDS: Final = 20
_SUBJECTS: Final = "motor home travel health liability marine cargo legal pet cyber".split()  # noqa: SIM905 - a word list
_OBJECTS: Final = "deductible limit deadline premium discount refund report advance repair valuation".split()  # noqa: SIM905
_PARTIES: Final = "member broker handler hospital garage court physician neighbour carrier bank".split()  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run found."""

    documents: int
    facts: int
    mebibytes: float
    ingest_s: float
    ingest_cpu_s: float
    embed_s: float
    embed_cpu_s: float
    build_ms: float
    peak_mib: float
    start_mib: float


def document(number: int) -> str:
    """Return one Markdown document, about two pages; the same number gives the same text."""
    rng = random.Random(number)  # noqa: S311 - a corpus, not a secret

    def sentence() -> str:
        subject, thing, party = rng.choice(_SUBJECTS), rng.choice(_OBJECTS), rng.choice(_PARTIES)
        amount, days = rng.randint(50, 9_999), rng.randint(2, 365)
        return (
            f"For {subject} insurance in tariff {number}-{rng.randint(1, 999)} the {thing} that the {party} asks "
            f"for is EUR {amount} and is settled within {days} days of the request."
        )

    parts = [f"# Tariff book {number}"]
    for section in range(4):
        parts.append(f"## {rng.choice(_SUBJECTS).title()} rules {section}")
        parts.extend(" ".join(sentence() for _ in range(3)) for _ in range(2))
        parts.append("The following is excluded:\n\n" + "\n".join(f"- {sentence()}" for _ in range(3)))
    rows = "\n".join(f"| {rng.choice(_SUBJECTS)} {row} | EUR {rng.randint(1, 999)} |" for row in range(4))
    parts.append(f"| Product | Fee |\n|---|---|\n{rows}")
    return "\n\n".join(parts)


def _ticket() -> WriteTicket[IngestOutcome]:
    return WriteTicket("IngestSource", str(uuid.uuid4()), "0" * 64, lambda _: b"")


async def measure(directory: Path, count: int) -> Measured:
    """Ingest ``count`` documents one after the other, then embed the same facts bare, then build envelopes."""
    settings = Settings(store=StoreSettings(data_dir=directory))
    async with Adapters(settings) as adapters:
        parts = await open_parts(settings, adapters)
        apps = await open_apps(parts)
        await parts.models.embedding.embed(["warm up"])
        await parts.models.entities.recognize(["warm up"])
        start_mib = peak_memory_mib()
        texts = [document(number).encode() for number in range(count)]
        started, computed = time.perf_counter(), processor_seconds()
        for number, content in enumerate(texts):
            source = SourceDocument(f"tariff-{number}.md", "", "", SourceType.INTERNAL, content)
            await apps.ingestion.ingest_source(TENANT, source, _ticket())
        ingest_s, ingest_cpu_s = time.perf_counter() - started, processor_seconds() - computed
        contents = [fact.content for fact in await apps.knowledge.facts(TENANT, _ALL, "", 100_000)]
        started, computed = time.perf_counter(), processor_seconds()
        for first in range(0, len(contents), BATCH):
            await parts.models.embedding.embed(contents[first : first + BATCH])
        embed_s, embed_cpu_s = time.perf_counter() - started, processor_seconds() - computed
        spent = []
        for number in range(BUILDS):
            query = f"How high is the {_OBJECTS[number % 10]} in {_SUBJECTS[number // 2]} insurance?"
            began = time.perf_counter()
            await apps.envelopes.build(TENANT, EnvelopeRequest(query, "gpt-4o", max_envelope_tokens=2_000))
            spent.append((time.perf_counter() - began) * 1e3)
    size = sum(map(len, texts)) / 2**20
    build_ms = statistics.median(spent)
    spans = (ingest_s, ingest_cpu_s, embed_s, embed_cpu_s)
    return Measured(count, len(contents), size, *spans, build_ms, peak_memory_mib(), start_mib)


def _measure_alone(count: int) -> Measured:
    limit_blas_threads(1)  # as every process that serves does
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-ingestion-") as directory:
        return asyncio.run(measure(Path(directory), count))


def run(documents: int = DOCUMENTS) -> list[Row]:
    """Measure in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(_measure_alone, (documents,))
    baseline = "embedding the same facts, nothing else"
    note = f"{found.documents} documents, {found.facts} facts, {found.mebibytes:.2f} MiB, one after the other"
    facts_s, bare_s = found.facts / found.ingest_s, found.facts / found.embed_s
    return [
        Row(baseline, bare_s, "facts/s", note=f"batches of {BATCH}"),
        Row(
            "ingestion",
            facts_s,
            "facts/s",
            baseline,
            facts_s / bare_s,
            note="parse, entities, vectors, stores, clusters",
        ),
        Row("ingestion", found.documents / found.ingest_s, "documents/s", note=note),
        Row(
            "embedding alone, processor time",
            found.facts / found.embed_cpu_s,
            "facts/processor s",
            note="of all processes of the server",
        ),
        Row(
            "ingestion, processor time",
            found.facts / found.ingest_cpu_s,
            "facts/processor s",
            "embedding alone, processor time",
            found.embed_cpu_s / found.ingest_cpu_s,
            note="of all processes of the server, the start of those that read included",
        ),
        Row("peak memory", found.peak_mib, "MiB", note=f"{found.start_mib:.0f} MiB before the first document"),
        Row("BuildEnvelope over the corpus", found.build_ms, "ms", note=f"{BUILDS} queries, in process"),
    ]


if __name__ == "__main__":
    show("Ingestion", run(int(sys.argv[1])) if len(sys.argv) > 1 else run())
