"""A session's life over gRPC: open, commit, continue, verify, end (SPEC-004 §4, §5)."""

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from tests.fakes.dag_world import World


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def test_two_windows_chain_and_verify(client):
    opened = await client.open()
    assert opened.window.window_number == 1
    assert opened.chain_integrity == taxonomy.CHAIN_INTEGRITY_UNVERIFIED
    first = await client.commit(opened)
    assert first.chain_integrity == taxonomy.CHAIN_INTEGRITY_UNVERIFIED
    second_open = await client.open(first.session_token, continuation_ids=[first.continuation_id])
    assert second_open.chain_integrity == taxonomy.CHAIN_INTEGRITY_VALID
    second = await client.commit(second_open, "It was raised in 2025.", risk="MEDIUM", tier="B")
    assert second.chain_integrity == taxonomy.CHAIN_INTEGRITY_VALID
    assert second.lineage == f"{first.window.window_id} -> {second.window.window_id}"
    verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=second.session.session_id))
    assert (verified.integrity, verified.windows_verified) == (taxonomy.CHAIN_INTEGRITY_VALID, 2)
    assert second.window.status == dag_pb2.WINDOW_STATUS_COMMITTED
