"""Sessions that an earlier version wrote: readable, PARTIAL, sealed by an event when they go on (ADR 0099)."""

import asyncio
from dataclasses import replace

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as pb

from services.common.errors import ErrorReason, LogInconsistentError
from services.common.ports.sessions import SessionChange
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.dag import log_keeper
from services.dag.domain import step
from services.dag.domain.leaves import with_hash
from services.dag.log_keeper import LogKeeper
from services.dag.master_keys import FixedMasterKeys
from tests.contract.records import digest, session
from tests.fakes.dag_world import MASTER, LoggedMemoryStore, World, fresh_uuid

PARTIAL, VALID, BROKEN = (
    taxonomy.CHAIN_INTEGRITY_PARTIAL,
    taxonomy.CHAIN_INTEGRITY_VALID,
    taxonomy.CHAIN_INTEGRITY_BROKEN,
)


async def verify(client, session_id):
    return await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))


def appended(session_id):
    from crp.dag.v1 import dag_pb2

    return pb.AppendEventRequest(
        request_id=fresh_uuid(), session_id=session_id, event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL, data="{}"
    )


@pytest.fixture
async def earlier(monkeypatch):
    """A world with one session as the version before wrote it: no promise."""
    world = World()
    with monkeypatch.context() as before:
        before.setattr(step, "promising", tuple)
        async with world.serving() as client:
            first = await client.window()
    return world, first


def unsealed(world, session_id):
    held = world.held(session_id)
    held.record = replace(held.record, trail_mac="")


async def test_a_seal_without_a_promise_stays_valid(earlier):
    world, first = earlier
    async with world.serving() as client:
        second = await client.window(first.session_token)
        found = await verify(client, second.session.session_id)
        assert (found.integrity, found.partial_reason) == (VALID, "")


@pytest.mark.parametrize("write", ["append", "continue", "erase"])
async def test_without_a_seal_it_is_partial_and_sealed_by_an_event(earlier, write):
    world, first = earlier
    session_id = first.session.session_id
    unsealed(world, session_id)
    async with world.serving() as client:
        found = await verify(client, session_id)
        assert (found.integrity, "trail_mac" in found.partial_reason) == (PARTIAL, True)
        if write == "append":
            await client.call("AppendEvent", appended(session_id))
        elif write == "continue":
            await client.window(first.session_token)
        else:
            request = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=session_id, reason="asked")
            await client.call("EraseSession", request)
        assert world.held(session_id).record.trail_mac
        sealing = world.held(session_id).events[4]
        assert sealing.event_type == ("SESSION_ERASED" if write == "erase" else "SESSION_CONTINUED")
        assert '"promise":{"holds":["leaves","log_head","trail_mac"],"since":4}' in sealing.data
        found = await verify(client, session_id)
        assert found.integrity == (taxonomy.CHAIN_INTEGRITY_TRUNCATED if write == "erase" else PARTIAL)
        if write == "continue":  # for good
            await client.call("AppendEvent", appended(session_id))
            found = await verify(client, session_id)
            assert found.partial_reason == "nothing says whether the trail was whole before event 4, which seals it"
        unsealed(world, session_id)
        assert (await verify(client, session_id)).integrity == BROKEN
        held = world.held(session_id)
        if write != "erase":
            assert (await client.fails("AppendEvent", appended(session_id))).reason == "CHAIN_BROKEN"
            assert held.record.trail_mac == ""


async def test_a_trail_that_does_not_hold_is_not_sealed(earlier):
    world, first = earlier
    session_id = first.session.session_id
    unsealed(world, session_id)
    events = world.held(session_id).events
    events[2] = replace(events[2], data='{"report":{}}')
    async with world.serving() as client:
        assert (await client.fails("AppendEvent", appended(session_id))).reason == "CHAIN_BROKEN"
        assert world.held(session_id).record.trail_mac == ""


async def filled(count):
    """A log of many leaves of one session, and a keeper that has not seen it."""
    store = LoggedMemoryStore()
    made = (LogLeaf("s", LeafKind.EVENT, f"e{n}", n, digest(str(n)), b"") for n in range(count))
    await super(LoggedMemoryStore, store).write(SessionChange(session("s"), leaves=tuple(map(with_hash, made))))
    return store, LogKeeper(store, FixedMasterKeys({1: MASTER}))


class TestALargeLog:
    """Above a bound the log is computed anew beside the calls."""

    async def test_it_is_used_at_once_and_looked_at_whole(self, monkeypatch):
        monkeypatch.setattr(log_keeper, "_AT_ONCE", 100)
        monkeypatch.setattr(log_keeper, "_PAGE", 64)
        store, keeper = await filled(300)
        await keeper.admit("tenant-a")
        assert (await store.log_state("tenant-a")).head.size == 300
        await keeper.settle()
        assert keeper._audited == 300
        await keeper.admit("tenant-a")
        await keeper.close()

    async def test_a_leaf_that_was_changed_is_found_beside_the_calls(self, monkeypatch):
        monkeypatch.setattr(log_keeper, "_AT_ONCE", 100)
        store, keeper = await filled(300)
        leaves = store._logs._logs["tenant-a"].leaves
        leaves[77] = replace(leaves[77], position=78)
        await keeper.admit("tenant-a")
        await keeper.settle()
        with pytest.raises(LogInconsistentError, match="leaf 77") as caught:
            await keeper.admit("tenant-a")
        assert caught.value.reason is ErrorReason.LOG_INCONSISTENT
        assert keeper.details()[log_keeper.TOPIC].endswith("are not written to: those of 1 tenant")
        values = {sample.name: sample.value for metric in keeper.collect() for sample in metric.samples}
        assert values["groundtrail_log_inconsistent_tenants"] == 1
        assert values["groundtrail_log_refused_total"] == 1

    async def test_a_peak_that_was_changed_is_found_at_once(self, monkeypatch):
        monkeypatch.setattr(log_keeper, "_AT_ONCE", 100)
        store, keeper = await filled(300)
        log = store._logs._logs["tenant-a"]
        log.tree = replace(log.tree, peaks=(bytes(32), *log.tree.peaks[1:]))
        with pytest.raises(LogInconsistentError, match="peaks"):
            await keeper.admit("tenant-a")

    async def test_many_first_uses_look_once(self):
        store, keeper = await filled(300)
        await asyncio.gather(*(keeper.admit("tenant-a") for _ in range(20)))
        assert keeper._audited == 300
        assert store is not None
