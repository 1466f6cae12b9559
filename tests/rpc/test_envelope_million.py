"""A million candidates asked for, in every way that a request has: refused clearly, and no store is asked."""

import grpc
import pytest

from services.common.adapters.memory.facts import MemoryFactStore
from tests.fakes.envelope_world import World, refused

INVALID = grpc.StatusCode.INVALID_ARGUMENT
MILLION = 1_000_000


def short_ids():
    """Ids so short that a million of them fit into a message: their number is refused, not their size."""
    return [str(number) for number in range(MILLION)]


class Untouched(MemoryFactStore):
    """Fails when it is read."""

    async def search(self, *_args, **_fields):
        pytest.fail("the store was searched")

    async def get(self, *_args, **_fields):
        pytest.fail("the store was read")


@pytest.mark.parametrize("field", ["facts_seen", "deferred_fact_ids", "transferred_fact_ids"])
async def test_a_million_ids_are_refused_by_their_number(field):
    async with World(facts=Untouched(384)).serving() as clients, refused(INVALID, "INVALID_FIELD", field):
        await clients().build("What is the limit?", **{field: short_ids()})


async def test_a_million_hits_are_refused():
    async with World(facts=Untouched(384)).serving() as clients, refused(INVALID, "INVALID_FIELD", "limit"):
        await clients().call("SearchFacts", query="limit", limit=MILLION)


@pytest.mark.parametrize("field", ["facts_seen", "deferred_fact_ids"])
async def test_a_million_whole_ids_are_refused_by_their_size(field):
    whole = [f"{number:036}" for number in range(MILLION)]
    too_large = refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")
    async with World(facts=Untouched(384)).serving() as clients, too_large:
        await clients().build("What is the limit?", **{field: whole})


async def test_a_million_facts_to_ingest_are_refused_by_their_number():
    async with World(facts=Untouched(384)).serving() as clients:
        facts = [{"content": "x"}] * MILLION
        async with refused(INVALID, "INVALID_FIELD", "facts"):
            await clients().call("IngestFacts", uri="u", title="t", source_type=4, facts=facts)
