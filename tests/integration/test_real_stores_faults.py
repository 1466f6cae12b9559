"""The envelope service over a Milvus and a Neo4j that go away, hang and come back, each in the middle of a call.

Every call fails with UNAVAILABLE, STORE_UNAVAILABLE and the time to come again, or at its own deadline; nothing is
half there meanwhile or afterwards; the service answers again without a restart.
"""

import asyncio
import os
import signal
import time
from contextlib import asynccontextmanager
from functools import partial

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from pydantic import SecretStr

from services.common.adapters.milvus import MilvusFactStore
from services.common.adapters.milvus.database import MilvusDatabase
from services.common.adapters.milvus.journal import DONE, OPEN
from services.common.adapters.milvus.tenants import Tenants
from services.common.adapters.neo4j import Neo4jKnowledgeGraph
from services.common.settings.neo4j import Neo4jSettings
from tests.fakes.envelope_world import World, fresh_id
from tests.integration.milvus_target import empty_milvus, milvus_settings
from tests.integration.neo4j_target import empty_neo4j, neo4j_settings
from tests.patience import patient
from tools.real_servers import milvus, neo4j

pytestmark = [pytest.mark.needs_milvus, pytest.mark.needs_neo4j, pytest.mark.slow, pytest.mark.timeout(600)]

DIMENSION = 384
QUESTION = "How long is the deadline for a claim after hail?"
BACK_S = patient(120.0)
"""Longest until the service answers again: Milvus loads its collections meanwhile, and the machine may be busy."""


def page(number: int) -> str:
    return "\n\n".join(f"The deadline number {number}-{part} after hail is {part + 2} days." for part in range(5))


class Servers:
    """Both servers, to be killed, stopped and started again."""

    def __init__(self, folder) -> None:
        self.milvus_home = milvus.new_home(folder / "milvus")
        self.neo4j_home = neo4j.new_home(folder / "neo4j")
        self.milvus = milvus.start(self.milvus_home)
        try:
            self.neo4j = neo4j.start(self.neo4j_home)
        except BaseException:
            self.milvus.kill()
            raise

    async def restart_milvus(self) -> None:
        self.milvus.kill()
        self.milvus = await asyncio.to_thread(milvus.start, self.milvus_home)

    async def restart_neo4j(self) -> None:
        self.neo4j.kill()
        self.neo4j = await asyncio.to_thread(neo4j.start, self.neo4j_home)

    def end(self) -> None:
        self.milvus.kill()
        self.neo4j.kill()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    milvus_settings()
    neo4j_settings()
    running = Servers(tmp_path_factory.mktemp("servers"))
    yield running
    running.end()


def milvus_target(both, **changes):
    values = {"uri": both.milvus_home.uri, "collection_prefix": "groundtrail_faults", "timeout_s": 5.0}
    return milvus_settings(**values | changes)


async def opened_facts(both, world):
    """Open the store as a process that starts does: it waits until Milvus has loaded what is there."""
    return await MilvusFactStore.open(
        milvus_target(both), embedding_model=world.embedding.fingerprint, dimension=DIMENSION
    )


@pytest.fixture
async def world(both):
    """The service over both, emptied."""
    graph = Neo4jSettings(
        uri=both.neo4j_home.uri,
        password=SecretStr(both.neo4j_home.password),
        timeout_s=3.0,
        retry_s=1.0,
        connect_timeout_s=5.0,
    )
    await empty_milvus(milvus_target(both))
    await empty_neo4j(graph)
    made = World(graph=await Neo4jKnowledgeGraph.open(graph))
    made.facts = await opened_facts(both, made)
    yield made
    await made.facts.close()
    await made.graph.close()


@asynccontextmanager
async def refused_for_now():
    """The block's call is refused as one that can be made again."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        yield
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE, caught.value.details()
    details = rpc_status.from_call(caught.value).details
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    assert [info.reason for detail in details if detail.Unpack(info)] == ["STORE_UNAVAILABLE"]
    assert [retry.retry_delay.ToTimedelta().total_seconds() > 0 for d in details if d.Unpack(retry)] == [True]


async def in_the_end(call):
    """Repeat a call until the stores are back; until then it is refused as it should be."""
    async with asyncio.timeout(BACK_S):
        while True:
            try:
                return await call()
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise


async def contents(client, uri: str) -> list[str]:
    """Return what is known of one document, sorted; no fact is there twice."""
    sources = (await client.call("ListSources", page_size=1_000)).sources
    ids = [one.source_id for one in sources if one.uri == uri]
    found = [fact for fact in await client.facts() if fact.source_id in ids]
    assert len({fact.fact_id for fact in found}) == len(found)
    return sorted(fact.content for fact in found)


def lines(number: int) -> list[str]:
    return sorted(page(number).split("\n\n"))


def once(monkeypatch, owner, name, then, *, when=lambda *_: True) -> None:
    """Let ``then`` happen after the first call of a method that fits."""
    real, happened = getattr(owner, name), []

    async def wrapped(*given, **named):
        answer = await real(*given, **named)
        if not happened and when(*given):
            happened.append(True)
            then()
        return answer

    monkeypatch.setattr(owner, name, wrapped)


def of_state(state):
    return lambda _tenants, _tenant, _batch, written, *_: written == state


@pytest.mark.parametrize("left", ["an open entry", "an open entry and rows", "a done entry and what it replaces"])
async def test_an_ingestion_that_milvus_leaves_half_written_is_made_again(both, world, monkeypatch, left):
    uri, same = f"{left}.md", fresh_id()
    async with world.serving() as clients:
        alice = clients()
        for number in range(3):
            await in_the_end(partial(alice.ingest, page(number), f"{left}-{number}.md"))
        await in_the_end(partial(alice.ingest, page(3), uri))
        before = await contents(alice, uri)
        moment = {
            "an open entry": (Tenants, "_add", of_state(OPEN)),
            "an open entry and rows": (MilvusDatabase, "insert", lambda *_: True),
            "a done entry and what it replaces": (Tenants, "_add", of_state(DONE)),
        }[left]
        owner, name, when = moment
        with monkeypatch.context() as patched:
            once(patched, owner, name, both.milvus.kill, when=when)
            async with refused_for_now():
                await alice.ingest(page(4), uri, request_id=same)
        async with refused_for_now():
            await alice.facts()
        await both.restart_milvus()
        assert await in_the_end(lambda: contents(alice, f"{left}-1.md")) == lines(1)
        half = await contents(alice, uri)
        assert half in (before, sorted([*before, *lines(4)]))  # the new version is undone when it is next asked for
        again = await in_the_end(lambda: alice.ingest(page(4), uri, request_id=same))
        assert again.source.uri == uri
        active = [fact.content for fact in await alice.facts() if fact.status == 1 and fact.content in lines(4)]
        assert sorted(active) == lines(4)
        for number in range(3):
            assert await in_the_end(partial(contents, alice, f"{left}-{number}.md")) == lines(number)


async def test_an_ingestion_whose_graph_goes_is_made_again(both, world, monkeypatch):
    same = fresh_id()
    async with world.serving() as clients:
        alice = clients()
        await in_the_end(partial(alice.ingest, page(1), "graph-first.md"))
        with monkeypatch.context() as patched:
            once(patched, MilvusFactStore, "upsert", both.neo4j.kill)
            async with refused_for_now():
                await alice.ingest(page(2), "graph-second.md", request_id=same)
        async with refused_for_now():
            await alice.ingest(page(3), "graph-third.md")
        await both.restart_neo4j()
        await in_the_end(lambda: alice.ingest(page(2), "graph-second.md", request_id=same))
        assert await in_the_end(partial(contents, alice, "graph-second.md")) == lines(2)
        assert await in_the_end(partial(contents, alice, "graph-third.md")) == []
        assert await in_the_end(partial(contents, alice, "graph-first.md")) == lines(1)


async def test_a_service_that_starts_over_half_written_stores_settles_them(both, world, monkeypatch):
    async with world.serving() as clients:
        alice = clients()
        await in_the_end(partial(alice.ingest, page(1), "settled-first.md"))
        with monkeypatch.context() as patched:
            once(patched, MilvusDatabase, "insert", both.milvus.kill)
            async with refused_for_now():
                await alice.ingest(page(2), "settled-second.md")
    await both.restart_milvus()
    await world.facts.close()
    world.facts = await opened_facts(both, world)
    async with world.serving() as clients:  # recovers before it serves
        alice = clients()
        assert await in_the_end(partial(contents, alice, "settled-first.md")) == lines(1)
        assert await in_the_end(partial(contents, alice, "settled-second.md")) == []
        built = await in_the_end(lambda: alice.build(QUESTION))
        assert {fact.content for fact in built.envelope.facts} <= set(lines(1))


async def test_a_build_whose_milvus_goes_in_the_middle_is_refused_and_succeeds_later(both, world, monkeypatch):
    async with world.serving() as clients:
        alice = clients()
        await in_the_end(partial(alice.ingest, page(1), "build.md"))
        before = await in_the_end(lambda: alice.build(QUESTION))
        assert before.envelope.facts
        await alice.ingest(page(2), "build-more.md")  # so that nothing is answered from memory
        with monkeypatch.context() as patched:
            once(patched, MilvusDatabase, "search", both.milvus.kill)
            async with refused_for_now():
                await alice.build(QUESTION)
        await both.restart_milvus()
        after = await in_the_end(lambda: alice.build(QUESTION))
        assert {fact.content for fact in after.envelope.facts} == {*lines(1), *lines(2)}


@pytest.mark.parametrize("name", ["milvus", "neo4j"])
async def test_a_server_that_hangs_is_waited_for_no_longer_than_was_said(both, world, name):
    hanging = getattr(both, name)
    async with world.serving() as clients:
        alice = clients()
        await in_the_end(partial(alice.ingest, page(1), f"hang-{name}.md"))
        os.kill(hanging.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            async with refused_for_now():
                await alice.ingest(page(2), f"hang-{name}-more.md")
            assert time.monotonic() - began < patient(60.0)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await alice._envelopes.BuildEnvelope(build_request(), metadata=METADATA, timeout=1.0)
            assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        finally:
            os.kill(hanging.pid, signal.SIGCONT)
        await in_the_end(lambda: alice.ingest(page(2), f"hang-{name}-more.md"))
        assert await in_the_end(partial(contents, alice, f"hang-{name}-more.md")) == lines(2)
        assert (await in_the_end(lambda: alice.build(QUESTION))).envelope.facts


METADATA = (("authorization", "alice"),)


def build_request():
    from crp.envelope.v1 import envelope_service_pb2

    return envelope_service_pb2.BuildEnvelopeRequest(query=QUESTION, model="gpt-4o")
