"""The knowledge service with its graph on the Neo4j that GROUNDTRAIL_TEST_NEO4J_URI names: its RPC tests again.

Taken are the tests that use nothing but the RPCs of one world; what a crash leaves is in
tests/rpc/test_envelope_recovery.py.
"""

import inspect

import pytest

from services.common.adapters.neo4j import Neo4jKnowledgeGraph
from tests.fakes.envelope_world import World
from tests.rpc import test_envelope_knowledge

pytestmark = [pytest.mark.needs_neo4j, pytest.mark.timeout(180)]

LEAST = 20


def _portable(test) -> bool:
    return bool({"alice", "clients"} & set(inspect.signature(test).parameters)) and "World(" not in inspect.getsource(
        test
    )


TAKEN = {
    name: test
    for name, test in vars(test_envelope_knowledge).items()
    if name.startswith("test_") and inspect.isfunction(test) and _portable(test)
}
globals().update(TAKEN)


@pytest.fixture
async def world(emptied_neo4j):
    graph = await Neo4jKnowledgeGraph.open(emptied_neo4j)
    yield World(graph=graph)
    await graph.close()


@pytest.fixture
async def clients(world):
    async with world.serving() as clients:
        yield clients


@pytest.fixture
def alice(clients):
    return clients()


def test_most_of_the_suite_was_taken():
    assert len(TAKEN) >= LEAST
