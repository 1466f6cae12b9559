"""The dag service on the Neo4j that GROUNDTRAIL_TEST_NEO4J_URI names: its RPC tests again, sealed as composed.

Taken are the tests that use nothing but the RPCs: those that look into the memory store, or build a world of their own
around one, stay where they are.
"""

import inspect

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc

from services.common.adapters.neo4j import Neo4jSessionStore
from services.common.rpc.main import running_server
from services.common.settings import ServerSettings, Settings, StoreSettings, TelemetrySettings
from services.dag.compose import build
from services.dag.log_keeper import LogKeeper
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from tests.fakes.dag_world import Client, World
from tests.rpc import test_dag_fan, test_dag_path, test_dag_races, test_dag_refusals, test_dag_summaries

pytestmark = [pytest.mark.needs_neo4j, pytest.mark.timeout(180)]

MODULES = (test_dag_path, test_dag_fan, test_dag_summaries, test_dag_races, test_dag_refusals)
OF_THE_MEMORY_STORE = ("World(", ".held(", ".tamper(", "_sessions", "unchanged(")
LEAST = 80


def _portable(test) -> bool:
    uses_world = {"world", "client"} & set(inspect.signature(test).parameters)
    return bool(uses_world) and not any(word in inspect.getsource(test) for word in OF_THE_MEMORY_STORE)


TAKEN = {
    name.replace("test_", f"test_{module.__name__.rsplit('_', 1)[-1]}_", 1): test
    for module in MODULES
    for name, test in vars(module).items()
    if name.startswith("test_") and inspect.isfunction(test) and _portable(test)
}
globals().update(TAKEN)


@pytest.fixture
async def world(emptied_neo4j):
    store = await Neo4jSessionStore.open(emptied_neo4j)
    keys = World().keys
    keeper = LogKeeper(SealedSessionStore(store, Sealer(keys)), keys)
    yield World(store=SealedSessionStore(store, Sealer(keys), keeper), keys=keys)
    await keeper.close()
    await store.close()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


def test_most_of_the_suite_was_taken():
    assert len(TAKEN) >= LEAST


async def test_a_session_outlives_its_process(tmp_path, emptied_neo4j):
    settings = Settings(
        server=ServerSettings(port=0, insecure_local=True, drain_grace_s=5),
        store=StoreSettings(data_dir=tmp_path, sessions="neo4j"),
        neo4j=emptied_neo4j,
        telemetry=TelemetrySettings(http_port=0),
    )
    async with running_server("dag", build, settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        first = await Client(pb_grpc.SessionServiceStub(channel)).window(text="Über 500 €.")
    async with running_server("dag", build, settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        client = Client(pb_grpc.SessionServiceStub(channel))
        await client.window(first.session_token)
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
        assert (verified.integrity, verified.windows_verified) == (taxonomy.CHAIN_INTEGRITY_VALID, 2)
    assert not (tmp_path / "sessions.db").exists()
