"""Parts of the suite that a command starts alone: they ask the dag service, and nothing else has to be there."""

import uuid
from contextlib import asynccontextmanager

import grpc
import pytest
from crp.ckf.v1 import knowledge_service_pb2 as pb
from crp.ckf.v1.knowledge_service_pb2_grpc import KnowledgeServiceStub

from services.allinone.embedded import embedded
from services.allinone.parts import Part
from services.common.ports.graph import SourceRecord, SourceStatus
from services.common.settings import Settings, StoreSettings
from tests.rpc.test_gateway_suite import MemoryAdapters


@pytest.mark.parametrize(
    "parts",
    [(Part.SESSIONS, Part.REVIEWS), (Part.SESSIONS, Part.FEEDBACK), (Part.SESSIONS, Part.ADMIN)],
    ids=["reviews", "feedback", "policy"],
)
async def test_a_part_starts_with_what_it_asks(tmp_path, parts):
    settings = Settings(store=StoreSettings(data_dir=tmp_path))
    async with MemoryAdapters(settings) as adapters, embedded(settings, adapters=adapters, parts=parts) as system:
        assert await system.first_key()


class Counting(MemoryAdapters):
    """Counts how often the store of facts is asked for."""

    opened = 0

    async def fact_store(self):
        self.opened += 1
        return await super().fact_store()


@asynccontextmanager
async def knowledge_of(adapters, parts):
    """Serve the parts over the adapters; yields the stub of KnowledgeService and a caller's metadata."""
    async with embedded(adapters.settings, adapters=adapters, parts=parts) as system:
        key = (("authorization", f"Bearer {await system.issue_key('test')}"),)
        async with grpc.aio.insecure_channel(system.address) as channel:
            yield KnowledgeServiceStub(channel), key


async def test_stored_knowledge_tells_what_the_whole_service_tells_and_opens_facts_when_they_are_asked_for(tmp_path):
    async with Counting(Settings(store=StoreSettings(data_dir=tmp_path))) as adapters:
        async with knowledge_of(adapters, (Part.KNOWLEDGE,)) as (whole, key):
            fact = pb.FactInput(content="Locks open at 7.", source_location="Hours")
            request = pb.IngestFactsRequest(
                request_id=str(uuid.uuid4()),
                uri="notes",
                title="Notes",
                source_type="SOURCE_TYPE_INTERNAL",
                facts=[fact],
            )
            source_id = (await whole.IngestFacts(request, metadata=key)).source.source_id
            expected = await told(whole, key, source_id)
        adapters.opened = 0
        async with knowledge_of(adapters, (Part.STORED_KNOWLEDGE,)) as (stored, key):
            assert len((await stored.ListSources(pb.ListSourcesRequest(), metadata=key)).sources) == 1
            assert adapters.opened == 0
            assert await told(stored, key, source_id) == expected
            assert adapters.opened > 0
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stored.GetState(pb.GetStateRequest(), metadata=key)
            assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def told(stub, key, source_id):
    """Return all that a reader is told of a source and of its one fact."""
    listed = await stub.ListFacts(pb.ListFactsRequest(source_ids=[source_id]), metadata=key)
    (fact,) = listed.facts
    return (
        listed,
        await stub.GetFact(pb.GetFactRequest(fact_id=fact.fact_id), metadata=key),
        await stub.GetSource(pb.GetSourceRequest(source_id=source_id), metadata=key),
        await stub.ListSources(pb.ListSourcesRequest(), metadata=key),
    )


async def test_where_a_write_is_unfinished_the_whole_service_settles_it_first(tmp_path):
    async with Counting(Settings(store=StoreSettings(data_dir=tmp_path))) as adapters:
        graph = await adapters.knowledge_graph()
        begun = SourceRecord(
            "default", str(uuid.uuid4()), "Notes", "notes", "INTERNAL", "text/plain", "0" * 64, adapters.clock.now(), 1,
            SourceStatus.ERASING,
        )  # fmt: skip
        await graph.put_source(begun)
        async with knowledge_of(adapters, (Part.STORED_KNOWLEDGE,)) as (stored, key):
            assert await graph.unfinished_sources() == []
            await stored.GetState(pb.GetStateRequest(), metadata=key)
