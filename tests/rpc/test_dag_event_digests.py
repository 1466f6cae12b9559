"""The digest that stands for an event's erased data is covered: blanked, changed or put where data is, it is BROKEN."""

from types import SimpleNamespace

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as pb

from services.common.encoding import sha256_hex
from tests.fakes.raw_sessions import RawSessions

_SET = "UPDATE events SET data_sha256 = ? WHERE session_id = ? AND sequence = 0"


@pytest.fixture
async def raw(tmp_path):
    raw = RawSessions(tmp_path)
    async with raw.serving() as client:
        whole, erased = await client.window(), await client.window()
        await client.erase(erased.session.session_id)
    ids = whole.session.session_id, erased.session.session_id
    return SimpleNamespace(serving=raw.serving, rows=raw.rows, run=raw.run, whole=ids[0], erased=ids[1])


async def integrity(raw, session_id):
    async with raw.serving() as client:
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))
    return verified.integrity


async def test_beside_its_data_an_event_has_none(raw):
    assert raw.rows("SELECT DISTINCT data_sha256 FROM events WHERE session_id = ?", raw.whole) == [("",)]
    assert await integrity(raw, raw.whole) == taxonomy.CHAIN_INTEGRITY_VALID
    assert await integrity(raw, raw.erased) == taxonomy.CHAIN_INTEGRITY_TRUNCATED  # as of every erased session


@pytest.mark.parametrize("value", ["", "0" * 64, sha256_hex("")])
async def test_that_of_erased_data_cannot_be_changed(raw, value):
    assert raw.run(_SET, value, raw.erased) == 1
    assert await integrity(raw, raw.erased) == taxonomy.CHAIN_INTEGRITY_BROKEN


async def test_none_can_be_put_beside_data(raw):
    assert raw.run(_SET, "0" * 64, raw.whole) == 1
    assert await integrity(raw, raw.whole) == taxonomy.CHAIN_INTEGRITY_BROKEN
