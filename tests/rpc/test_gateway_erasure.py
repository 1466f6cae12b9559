"""What a dispatch keeps on the eve of its commit goes with its session: sealed, and not served again (ADR 0055).

The suite is the real one in one process, with the gateway's own store on disk; only generated stubs speak to it.
"""

import contextlib

import grpc
from crp.dag.v1 import session_service_pb2 as dag

from services.allinone.embedded import embedded
from services.common.adapters.sqlite import SqliteCredentialStore
from services.common.settings import Settings, StoreSettings
from tests.fakes.dag_world import fresh_uuid
from tests.patience import patient
from tests.rpc.test_gateway_envelope import refusal
from tests.rpc.test_gateway_retrieval import ingest_facts
from tests.rpc.test_gateway_suite import Caller, MemoryAdapters
from tests.unit.stores.test_erased_bytes import bytes_on_disk

SECRET = "zyxdeductible"
FACT = f"The deductible for storm damage is 500 euros, says {SECRET}."
QUERY = "How much is the deductible for storm damage?"


class KeptAdapters(MemoryAdapters):
    """Everything in memory but what the gateway keeps."""

    async def credentials(self):
        return self._credentials


@contextlib.asynccontextmanager
async def suite(tmp_path):
    settings = Settings(store=StoreSettings(data_dir=tmp_path, disk_reserve_bytes=0))
    async with KeptAdapters(settings) as adapters:
        adapters._credentials = await SqliteCredentialStore.open(tmp_path / "gateway.db", settings.store)
        adapters.closing(adapters._credentials.close)
        async with embedded(settings, adapters=adapters) as system:
            key = await system.first_key()
            async with grpc.aio.insecure_channel(system.address) as channel:
                caller = Caller(system, channel, key)
                await ingest_facts(caller, FACT)
                yield caller


async def erase(caller, session_id):
    request = dag.EraseSessionRequest(request_id=fresh_uuid(), session_id=session_id, reason="asked for")
    return await caller.sessions.EraseSession(request, metadata=caller.metadata, timeout=patient(10))


async def test_a_retry_finds_its_answer_until_the_session_is_erased(tmp_path):
    request_id = fresh_uuid()
    async with suite(tmp_path) as caller:
        first, again = [await caller.ask(QUERY, request_id=request_id) for _ in range(2)]
        await erase(caller, first.answer.session_id)
        refused = [await refusal(caller.ask(QUERY, request_id=request_id)) for _ in range(3)]
        fresh = await caller.ask(QUERY)
    assert SECRET in first.answer.text
    assert first.SerializeToString(deterministic=True) == again.SerializeToString(deterministic=True)
    assert [(each.code, each.reason) for each in refused] == [
        (grpc.StatusCode.FAILED_PRECONDITION, "SESSION_CLOSED")
    ] * 3
    assert SECRET in fresh.answer.text  # the knowledge is another matter: EraseSource


async def test_a_conditional_retry_is_refused_just_so(tmp_path):
    asked = {"request_id": fresh_uuid(), "if_match": "*"}
    async with suite(tmp_path) as caller:
        first = await caller.ask(QUERY, **asked)
        await erase(caller, first.answer.session_id)
        assert (await refusal(caller.ask(QUERY, **asked))).reason == "SESSION_CLOSED"


async def test_a_withheld_answer_goes_with_its_session_too(tmp_path):
    asked = {"request_id": fresh_uuid(), "safety_policy": "halt-on LOW"}
    async with suite(tmp_path) as caller:
        first, again = [await caller.ask(QUERY, **asked) for _ in range(2)]
        await erase(caller, first.halted.session_id)
        refused = await refusal(caller.ask(QUERY, **asked))
    assert first.WhichOneof("outcome") == "halted"
    assert first.SerializeToString(deterministic=True) == again.SerializeToString(deterministic=True)
    assert refused.reason == "SESSION_CLOSED"


async def test_what_the_gateway_keeps_shows_no_word_of_an_answer_before_and_after(tmp_path):
    async with suite(tmp_path) as caller:
        for fields in ({}, {"safety_policy": "halt-on LOW"}):
            response = await caller.ask(QUERY, **fields)
            kept = bytes_on_disk(tmp_path)
            assert b"gtdraft1." in kept
            assert SECRET.encode() not in kept
            assert b"storm damage" not in kept
            await erase(caller, response.answer.session_id or response.halted.session_id)
            assert SECRET.encode() not in bytes_on_disk(tmp_path)


async def test_every_window_has_a_draft_key_of_its_own_that_a_replay_repeats(tmp_path):
    async with suite(tmp_path) as caller:
        asked = dag.OpenWindowRequest(request_id=fresh_uuid(), strategy="DISPATCH_STRATEGY_PUSH")
        opened = [await caller.sessions.OpenWindow(asked, metadata=caller.metadata) for _ in range(2)]
        asked.request_id = fresh_uuid()
        other = await caller.sessions.OpenWindow(asked, metadata=caller.metadata)
        await erase(caller, other.session.session_id)
        anew = await caller.sessions.OpenWindow(asked, metadata=caller.metadata)
    assert [each.fresh for each in opened] == [True, False]
    opened[1].fresh = True  # all else is the same
    assert opened[0] == opened[1]
    keys = {each.draft_key for each in (opened[0], other, anew)}
    assert {len(key) for key in keys} == {32}
    assert len(keys) == 3
