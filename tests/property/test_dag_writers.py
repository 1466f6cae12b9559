"""32 concurrent writers on one session, through two instances of the service on one store: nothing is lost."""

import asyncio
import uuid

import pytest

from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.adapters.sqlite import SqliteSessionStore
from services.common.clock import SystemClock
from services.common.errors import ConflictError
from services.common.ids import RandomIds
from services.common.rpc.canonical import message_json
from services.common.settings.dag import DagSettings
from services.common.settings.stores import StoreSettings
from services.common.taxonomy import ChainIntegrity, WindowStatus
from services.dag.app import AppendCommand, Dependencies, SessionApp
from services.dag.domain.committing import CommitCommand
from services.dag.domain.invariants import violations
from services.dag.domain.opening import OpenCommand
from services.dag.domain.view import DagView
from services.dag.master_keys import FixedMasterKeys
from services.dag.policy import DagPolicy
from services.dag.reading import SessionReads
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from services.dag.writing import RequestKey
from tests.fakes.dag_world import ALICE, MASTER, report_for

WRITERS = 32
KEYS = FixedMasterKeys({1: MASTER})
POLICY = DagPolicy.of(DagSettings(max_fan_out=WRITERS, max_dag_nodes=4 * WRITERS))


@pytest.fixture(params=["memory", "sqlite"])
async def stores(request, tmp_path):
    """Two instances' views of one store: the memory adapter is shared, the file is opened twice."""
    if request.param == "memory":
        shared = MemorySessionStore()
        inner = [shared, shared]
    else:
        settings = StoreSettings(disk_reserve_bytes=0, synchronous="NORMAL")
        inner = [await SqliteSessionStore.open(tmp_path / "sessions.db", settings) for _ in range(2)]
    yield [SealedSessionStore(store, Sealer(KEYS)) for store in inner]
    for store in inner:
        await store.close()


class Client:
    """Calls one instance; a lost race is sent again with the same request id, as a client does."""

    def __init__(self, store):
        self.app = SessionApp(Dependencies(store, KEYS, SystemClock(), RandomIds()), POLICY)
        self.races = 0

    async def call(self, rpc, *arguments):
        request_id, results = str(uuid.uuid4()), []

        def encode(result):
            results.append(result)
            return b"answered"

        while True:
            try:
                await getattr(self.app, rpc)(ALICE, *arguments, RequestKey(rpc, request_id, "body", encode))
            except ConflictError:
                self.races += 1
            else:
                return results[-1]

    async def open(self, token, strategy, pointers=()):
        return await self.call("open_window", token, OpenCommand(strategy, "r", pointers, available_budget_tokens=1000))

    async def commit(self, opened, text):
        window = opened.window
        report = report_for(window.session_id, window.window_id, window.window_number, text)
        ask = CommitCommand(
            window.session_id, window.window_id, text, message_json(report), "LOW", "A", response_tokens=9
        )
        return await self.call("commit_window", ask)


async def test_thirty_two_writers_lose_nothing(stores):
    clients = [Client(store) for store in stores]
    root = await clients[0].commit(await clients[0].open("", "push"), "root")
    session_id, token = root.window.session_id, root.issued.session_token

    async def write(number):
        client = clients[number % 2]
        child = await client.commit(await client.open(token, "fan-out"), f"child {number}")
        note = AppendCommand(session_id, "TOOL_CALL", child.window.window_id, f'{{"writer":{number}}}')
        return child, await client.call("append_event", note)

    written = await asyncio.gather(*(write(number) for number in range(WRITERS)))
    children = {child.window.window_id for child, _ in written}
    assert len(children) == WRITERS
    merged = await clients[1].open(
        written[0][0].issued.session_token, "fan-in", tuple(child.window.continuation_id for child, _ in written)
    )
    last = await clients[0].commit(merged, "merged")
    assert set(last.window.parent_ids) == children

    store, reads = stores[0], SessionReads(stores[0], clients[0].app.chains)
    dag = DagView.of(await store.snapshot("tenant-a", session_id))
    assert violations(dag) == []
    assert {window.status for window in dag.windows} == {WindowStatus.COMMITTED}
    assert {dag.by_id[child].response_text for child in children} == {f"child {n}" for n in range(WRITERS)}
    verdict = await reads.verify("tenant-a", session_id)
    assert (verdict.integrity, verdict.windows_verified) == (ChainIntegrity.VALID, WRITERS + 2)
    events = await store.page_events("tenant-a", session_id, after_sequence=-1, limit=1000)
    assert [event.sequence for event in events] == list(range(len(events)))
    noted = [event.data for event in events if event.event_type == "TOOL_CALL"]
    assert sorted(noted) == sorted(f'{{"writer":{number}}}' for number in range(WRITERS))
    assert {appended.sequence for _, appended in written} == {e.sequence for e in events if e.event_type == "TOOL_CALL"}
