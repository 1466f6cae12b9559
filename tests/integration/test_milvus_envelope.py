"""The whole envelope service over Milvus answers as it does over the embedded store, call by call."""

import asyncio
from itertools import count
from uuid import UUID

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from services.common import composition
from services.common.adapters.milvus import MilvusFactStore
from services.common.adapters.sqlite import SqliteFactStore
from services.common.settings import Settings
from services.common.settings.stores import StoreSettings
from services.envelope import ingestion_app
from tests.fakes.envelope_world import World, refused
from tests.integration.milvus_target import empty_milvus, milvus_settings
from tests.patience import patient
from tools.real_servers.milvus import new_home, start

pytestmark = [pytest.mark.needs_milvus, pytest.mark.slow, pytest.mark.timeout(300)]

DIMENSION = 384
HANDBOOK = """# Claims

The deadline for a motor accident is seven days from the event.

A hail deductible of 250 euros applies to every claim under the plus plan.

A replacement car is paid for up to fourteen days under the plus plan.
"""
SECOND = HANDBOOK.replace("seven days", "ten days")
OTHER = "Health invoices must be handed in within twelve months after the treatment."


async def milvus_facts(settings, world: World) -> MilvusFactStore:
    return await MilvusFactStore.open(settings, embedding_model=world.embedding.fingerprint, dimension=DIMENSION)


async def sqlite_facts(folder, _world: World) -> SqliteFactStore:
    return await SqliteFactStore.open(folder / "knowledge.db", StoreSettings(disk_reserve_bytes=0), dimension=DIMENSION)


def plain(message, *unequal: str):
    """Return a message without the fields that differ from run to run (times taken, ids made up)."""
    copy = type(message)()
    copy.CopyFrom(message)
    for name in unequal:
        if name in copy.DESCRIPTOR.fields_by_name:
            copy.ClearField(name)
    return copy


def told(response):
    return "BuildEnvelope", response.envelope


async def story(world: World) -> list:
    """Ingest, search, build, supersede, quarantine, restore, erase; return all that was answered."""
    said: list = []

    async def call(client, rpc, **fields):
        answer = await client.call(rpc, **fields)
        said.append((rpc, plain(answer, "duration_ms")))
        return answer

    async with world.serving() as clients:
        alice, mallory = clients(), clients("mallory")
        internal = {"source_type": ckf_pb2.SOURCE_TYPE_INTERNAL}
        first = await call(alice, "IngestSource", uri="handbook.md", content=HANDBOOK.encode(), **internal)
        other = await call(alice, "IngestSource", uri="health.txt", content=OTHER.encode(), **internal)
        await call(mallory, "IngestSource", uri="handbook.md", content=b"Nothing is insured.", **internal)
        for query in ("deadline for a motor accident", "hail deductible euros", "nothing insured"):
            for mode in (knowledge_service_pb2.SEARCH_MODE_DENSE, knowledge_service_pb2.SEARCH_MODE_TEXT):
                await call(alice, "SearchFacts", query=query, mode=mode, limit=5)
        said.append(told(await alice.build("How long is the deadline for a motor accident?")))
        await call(alice, "IngestSource", uri="handbook.md", content=SECOND.encode(), **internal)
        listed = await call(alice, "ListFacts", page_size=2)
        await call(alice, "ListFacts", page_size=2, page_token=listed.next_page_token)
        fact_id = listed.facts[0].fact_id
        await call(alice, "QuarantineFact", fact_id=fact_id)
        said.append(told(await alice.build("Is hail covered under the plus plan?")))
        await call(alice, "RestoreFact", fact_id=fact_id)
        await call(alice, "EraseSource", source_id=other.source.source_id)
        await call(alice, "SearchFacts", query="health invoices", mode=knowledge_service_pb2.SEARCH_MODE_TEXT, limit=5)
        said.append(told(await alice.build("When must health invoices be handed in?")))
        await call(alice, "GetState")
        await call(alice, "ListSources", page_size=10)
        await call(alice, "RebuildCommunities")
        await call(alice, "ListFacts", page_size=100)
        await call(alice, "EraseSource", source_id=first.source.source_id)
        await call(alice, "ListFacts", page_size=100)
        await call(alice, "GetState")
        async with refused(grpc.StatusCode.NOT_FOUND, "FACT_NOT_FOUND"):
            await mallory.call("GetFact", fact_id=fact_id)
    return said


async def test_every_answer_is_the_embedded_stores(tmp_path, monkeypatch):
    settings = milvus_settings()
    await empty_milvus(settings)
    answers = []
    for where, opening in ((tmp_path, sqlite_facts), (settings, milvus_facts)):
        made = count(1)  # the same ids and keys in both stories
        monkeypatch.setattr(ingestion_app, "fresh_source_id", lambda made=made: str(UUID(int=next(made))))
        monkeypatch.setattr(ingestion_app, "fresh_source_key", lambda made=made: f"{next(made):064x}")
        world = World()
        world.facts = await opening(where, world)
        answers.append(await story(world))
        await world.facts.close()
    embedded, on_milvus = answers
    assert len(embedded) == len(on_milvus)
    for one, other in zip(embedded, on_milvus, strict=True):
        assert one == other


async def test_a_milvus_that_is_away_is_told_with_the_time_to_come_again_and_found_again(tmp_path):
    milvus_settings()
    home = await asyncio.to_thread(new_home, tmp_path / "milvus")
    process = await asyncio.to_thread(start, home)
    try:
        settings = milvus_settings(uri=home.uri, timeout_s=4.0, collection_prefix="groundtrail_away")
        world = World()
        world.facts = await milvus_facts(settings, world)
        async with world.serving() as clients:
            alice = clients()
            await alice.ingest(HANDBOOK)
            process.kill()
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await alice.call("SearchFacts", query="hail", mode=knowledge_service_pb2.SEARCH_MODE_TEXT, limit=5)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            details = rpc_status.from_call(caught.value).details
            info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
            assert [info.reason for detail in details if detail.Unpack(info)] == ["STORE_UNAVAILABLE"]
            assert [retry.retry_delay.ToTimedelta().total_seconds() for d in details if d.Unpack(retry)] == [1.0]
            process = await asyncio.to_thread(start, home)
            found = await found_again(alice)
            assert ["hail" in hit.fact.content for hit in found.hits] == [True]
        await world.facts.close()
    finally:
        process.kill()


async def found_again(client):
    """Search until Milvus has loaded its collections; until then each call is refused as it should be."""
    async with asyncio.timeout(patient(60)):
        while True:
            try:
                return await client.call(
                    "SearchFacts", query="hail", mode=knowledge_service_pb2.SEARCH_MODE_TEXT, limit=5
                )
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise


async def test_the_setting_puts_the_facts_there():
    settings = milvus_settings()
    chosen = Settings(store=StoreSettings(facts="milvus"), milvus=settings)
    async with composition.Adapters(chosen) as adapters:
        store = await adapters.fact_store()
        assert isinstance(store, MilvusFactStore)
        await store.check()
