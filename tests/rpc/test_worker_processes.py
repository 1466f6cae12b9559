"""What one caller's text does to the others: nothing. A real server, the delivered recogniser, real processes."""

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.dpe.v1 import provenance_service_pb2, provenance_service_pb2_grpc
from google.rpc import error_details_pb2, status_pb2

from services.allinone.embedded import embedded
from services.common.composition import Adapters
from services.common.settings import Settings, StoreSettings, WorkerSettings
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.office_files import rewritten, slides, word, workbook
from tests.fakes.pdf import raw_file
from tests.patience import patient
from tests.rpc.test_gateway_suite import MemoryAdapters

pytestmark = pytest.mark.timeout(240)
"""Processes that load models start slowly on a busy machine."""
HONEST = b"# Claims\n\nA claim must be reported within 7 days. Otherwise Keller AG pays 5 percent less.\n"
LARGE = b"- a\n" * 150_000
"""Some seconds and some 700 MiB of a Markdown parser, though its work grows with the length alone."""


class DocumentAdapters(MemoryAdapters):
    """Everything in memory but tokenizers and what reads documents, which are the delivered ones."""

    async def documents(self):
        return await Adapters.documents(self)


class ReadingAdapters(DocumentAdapters):
    """The delivered recogniser as well."""

    async def entity_recognizer(self):
        return await Adapters.entity_recognizer(self)


class Caller:
    def __init__(self, adapters, channel, key):
        self.adapters = adapters
        self._metadata = (("authorization", f"Bearer {key}"),)
        self._knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(channel)
        self._provenance = provenance_service_pb2_grpc.ProvenanceServiceStub(channel)

    def counts(self, pool):
        return self.adapters.worker_counts.of_pool(pool)

    def ingest(self, content, uri="a.md", timeout=200):
        request = knowledge_service_pb2.IngestSourceRequest(
            request_id=fresh_uuid(), uri=uri, source_type=ckf_pb2.SOURCE_TYPE_INTERNAL, content=content
        )
        return self._knowledge.IngestSource(request, metadata=self._metadata, timeout=timeout)

    def claims(self, text, timeout=200):
        request = provenance_service_pb2.SegmentClaimsRequest(text=text)
        return self._provenance.SegmentClaims(request, metadata=self._metadata, timeout=timeout)

    def state(self):
        request = knowledge_service_pb2.GetStateRequest()
        return self._knowledge.GetState(request, metadata=self._metadata, timeout=patient(30))

    async def slowest_read(self, work):
        """Return the longest that a small read takes while ``work`` goes on."""
        slowest = 0.0
        while not work.done():
            began = time.monotonic()
            await self.state()
            slowest = max(slowest, time.monotonic() - began)
            await asyncio.sleep(0.05)
        return slowest


@contextlib.asynccontextmanager
async def suite(tmp_path, kind=DocumentAdapters, **workers):
    settings = Settings(store=StoreSettings(data_dir=tmp_path), workers=WorkerSettings(**workers))
    async with kind(settings) as adapters:
        async with embedded(settings, adapters=adapters) as system:
            key = await system.first_key()
            async with grpc.aio.insecure_channel(system.address) as channel:
                yield Caller(adapters, channel, key)
        pids = children()
    assert all(processor_s(pid) is None for pid in pids)


def children():
    """Return the process ids of this process's worker processes."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(stat[1]) == os.getpid() and b"_process" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def processor_s(pid):
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None


def reason(error):
    wire = status_pb2.Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
    info = error_details_pb2.ErrorInfo()
    assert any(detail.Unpack(info) for detail in wire.details)
    return info


async def test_runs_of_marks_freeze_nobody(tmp_path):
    async with suite(tmp_path, ReadingAdapters) as caller:
        before = (await caller.claims("Keller AG in Bern pays 5 percent.")).claims
        hostile = asyncio.gather(
            caller.claims("%" * 16_000),
            caller.claims("a" + "=(" * 8_000),
            caller.ingest(b"A rule of five words. " + b"=" * 16_000, "b.txt"),
        )
        slowest = await caller.slowest_read(hostile)
        await hostile
        after = (await caller.claims("Keller AG in Bern pays 5 percent.")).claims
        assert [claim.text for claim in after] == [claim.text for claim in before]
        assert caller.counts("text").ended == {}
    assert slowest < 3.0  # it was 5 to 16 s for a quarter of this


async def test_a_document_over_its_time_is_refused_and_the_others_are_read(tmp_path):
    async with suite(tmp_path, document_limit_s=1.0, document_processes=1) as caller:
        bad = asyncio.ensure_future(caller.ingest(LARGE, "bad.md"))
        good = asyncio.ensure_future(caller.ingest(HONEST, "good.md"))
        slowest = await caller.slowest_read(asyncio.gather(bad, good, return_exceptions=True))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await bad
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        told = reason(refused.value)
        assert (told.reason, told.metadata["limit"]) == ("DOCUMENT_TOO_COMPLEX", "time")
        assert told.metadata["setting"] == "GROUNDTRAIL_WORKERS__DOCUMENT_LIMIT_S"
        assert (await good).facts_created > 0
        assert (await caller.state()).active_fact_count == (await good).facts_created  # nothing of the other's
        assert caller.counts("documents").ended == {"time": 1}
    assert slowest < 3.0


@pytest.mark.whole
async def test_a_pdf_that_draws_itself_without_end_is_refused(tmp_path):
    form = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>/Length 11>>"
    loop = raw_file(b"/X Do /X Do", resources=b"/XObject<</X 6 0 R>>", more=[form + b"stream\n/X Do /X Do\nendstream"])
    async with suite(tmp_path, document_limit_s=2.0, document_processes=1) as caller:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await caller.ingest(loop, "bad.pdf")
        told = reason(refused.value)
        assert (told.reason, told.metadata["limit"]) == ("DOCUMENT_TOO_COMPLEX", "time")
        honest = await caller.ingest(HONEST)
        assert (await caller.state()).active_fact_count == honest.facts_created


@pytest.mark.whole
async def test_a_document_over_its_memory_is_refused(tmp_path):
    async with suite(tmp_path, document_memory_mib=512) as caller:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await caller.ingest(LARGE, "bad.md")
        told = reason(refused.value)
        assert (told.reason, told.metadata["limit"]) == ("DOCUMENT_TOO_COMPLEX", "memory")
        assert (await caller.ingest(HONEST)).facts_created > 0
        assert caller.counts("documents").ended == {"memory": 1}


@pytest.mark.whole
async def test_a_pdf_that_unfolds_beyond_its_memory_is_refused(tmp_path):
    async with suite(tmp_path, document_memory_mib=512, document_processes=1) as caller:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await caller.ingest(raw_file(b" " * 400_000_000 + b"BT /F 12 Tf 60 700 Td (A rule.) Tj ET"), "bad.pdf")
        told = reason(refused.value)
        assert (told.reason, told.metadata["limit"]) == ("DOCUMENT_TOO_COMPLEX", "process")
        assert (await caller.ingest(HONEST)).facts_created > 0
        assert (await caller.state()).active_fact_count > 0


async def test_what_is_over_its_deadline_ends(tmp_path):
    async with suite(tmp_path, document_processes=1) as caller:
        await caller.ingest(HONEST)
        (pid,) = children()
        with pytest.raises(grpc.aio.AioRpcError) as over:
            await caller.ingest(LARGE, "slow.md", timeout=1.0)
        assert over.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        while processor_s(pid) is not None:  # noqa: ASYNC110 - a process has no event to wait for
            await asyncio.sleep(0.05)
        assert caller.counts("documents").ended == {"cancelled": 1}
        assert (await caller.ingest(HONEST, "c.md")).facts_created > 0


@pytest.mark.whole
async def test_killed_processes_are_replaced_and_their_work_is_done(tmp_path):
    async with suite(tmp_path, ReadingAdapters) as caller:
        texts = [" ".join(f"Keller AG pays {first + at} francs." for at in range(300)) for first in (1000, 2000, 3000)]
        await caller.claims(texts[0])
        calls = [asyncio.ensure_future(caller.claims(text)) for text in texts[1:]]
        while not caller.counts("text").busy:  # noqa: ASYNC110 - a process has no event to wait for
            await asyncio.sleep(0.005)
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        assert [len(found.claims) for found in await asyncio.gather(*calls)] == [300, 300]
        assert caller.counts("text").ended == {"lost": 1}


async def test_readiness_starts_no_process(tmp_path):
    settings = Settings(store=StoreSettings(data_dir=tmp_path))
    async with ReadingAdapters(settings) as adapters, embedded(settings, adapters=adapters):
        await asyncio.sleep(0.2)
        assert children() == []


@pytest.mark.tenth
@pytest.mark.parametrize(
    ("make", "name"), [(word, "a.docx"), (slides, "a.pptx"), (workbook, "a.xlsx")], ids=["word", "slides", "workbook"]
)
async def test_office_files_are_read_in_their_process_and_hostile_ones_leave_nothing(tmp_path, make, name):
    async with suite(tmp_path, document_processes=1) as caller:
        assert (await caller.ingest(make(), f"file:{name}")).facts_created > 0
        before = await caller.state()
        for content in (make()[:-200], rewritten(make(), {"word/more.xml": b" " * (600 << 20)}), b"just text"):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await caller.ingest(content, f"file:bad/{name}")
            assert reason(refused.value).reason in {"UNSUPPORTED_MEDIA", "MESSAGE_TOO_LARGE"}
        after = await caller.state()
        assert after.active_fact_count == before.active_fact_count
        assert caller.counts("documents").ended == {}
