"""What a call costs at the store: a session is read in one round trip, and page by page only where it is long."""

import inspect

import pytest

from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.adapters.sqlite import SqliteSessionStore
from services.common.ids import RandomIds
from services.common.ports.sessions import SessionStore
from services.common.rpc.canonical import message_json
from services.common.settings.dag import DagSettings
from services.common.settings.stores import StoreSettings
from services.dag import chains
from services.dag.app import AppendCommand, Dependencies, SessionApp
from services.dag.domain.committing import CommitCommand
from services.dag.domain.opening import OpenCommand
from services.dag.master_keys import FixedMasterKeys
from services.dag.policy import DagPolicy
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from services.dag.writing import RequestKey
from tests.fakes.dag_world import ALICE, MASTER, TurnedClock, fresh_uuid, report_for

KEYS = FixedMasterKeys({1: MASTER})


class Counted:
    """A store that notes what it is asked."""

    def __init__(self, inner):
        self.inner = inner
        self.asked = []

    def __getattr__(self, name):
        target = getattr(self.inner, name)
        if not inspect.iscoroutinefunction(target):
            return target

        async def noted(*arguments, **named):
            self.asked.append(name)
            return await target(*arguments, **named)

        return noted


class Caller:
    """Writes sessions, and says what each call asked of the store."""

    def __init__(self, inner):
        self.counted = Counted(inner)
        self.store = SealedSessionStore(self.counted, Sealer(KEYS))
        policy = DagPolicy.of(DagSettings())
        self.app = SessionApp(Dependencies(self.store, KEYS, TurnedClock(), RandomIds()), policy)

    async def call(self, rpc, *arguments):
        results = []
        self.counted.asked.clear()
        key = RequestKey(rpc, fresh_uuid(), "body", lambda result: results.append(result) or b"answered")
        await getattr(self.app, rpc)(ALICE, *arguments, key)
        return results[-1], list(self.counted.asked)

    async def open(self, token=""):
        return await self.call("open_window", token, OpenCommand("push", "r", available_budget_tokens=1000))

    async def commit(self, opened):
        window = opened.window
        report = report_for(window.session_id, window.window_id, window.window_number, "text")
        ask = CommitCommand(window.session_id, window.window_id, "text", message_json(report), "LOW", "A")
        return await self.call("commit_window", ask)

    async def session(self, windows):
        token = ""
        for _ in range(windows):
            opened, _ = await self.open(token)
            committed, _ = await self.commit(opened)
            token = committed.issued.session_token
        await self.call("append_event", AppendCommand(opened.session.session_id, "TOOL_CALL", "", "{}"))
        return opened.session.session_id


async def test_a_window_is_opened_and_committed_with_one_read_of_its_session_each():
    caller = Caller(MemorySessionStore())
    opened, asked = await caller.open()
    assert asked == ["get_receipt", "store_id", "write"]
    for _ in range(3):
        committed, asked = await caller.commit(opened)
        assert asked == ["get_receipt", "load", "write"]
        opened, asked = await caller.open(committed.issued.session_token)
        assert asked == ["get_receipt", "load", "write"]


@pytest.fixture(params=["memory", "sqlite"])
async def caller(request, tmp_path):
    inner: SessionStore = MemorySessionStore()
    if request.param == "sqlite":
        inner = await SqliteSessionStore.open(tmp_path / "sessions.db", StoreSettings(disk_reserve_bytes=0))
    yield Caller(inner)
    await inner.close()


@pytest.mark.parametrize("page", [1, 2, 3, 16, 17, 18])
async def test_a_chain_is_the_same_whatever_fits_on_a_page(caller, page, monkeypatch):
    session_id = await caller.session(4)
    whole = await caller.app.chains.load("tenant-a", session_id)
    assert (len(whole.events), len(whole.reports), len(whole.leaves)) == (17, 4, 21)
    assert whole.snapshot == await caller.store.snapshot("tenant-a", session_id)
    assert all(record.salt for record in (*whole.events, whole.snapshot.last_event, *whole.snapshot.windows))
    caller.counted.asked.clear()
    monkeypatch.setattr(chains, "_PAGE", page)
    assert await caller.app.chains.load("tenant-a", session_id) == whole
    assert caller.counted.asked.count("page_events") == -(-17 // page) - 1


async def test_what_is_written_between_two_pages_is_left_out(monkeypatch):
    """It belongs to a later state, with which neither snapshot nor leaves would agree."""
    caller = Caller(MemorySessionStore())
    session_id = await caller.session(2)
    before = await caller.app.chains.load("tenant-a", session_id)
    late, find = [before], caller.counted.inner.load

    async def load(*arguments, **named):
        found = await find(*arguments, **named)
        if late:
            late.clear()
            await caller.call("append_event", AppendCommand(session_id, "TOOL_CALL", "", "{}"))
        return found

    monkeypatch.setattr(chains, "_PAGE", 4)  # the last page has room for what came meanwhile
    monkeypatch.setattr(caller.counted.inner, "load", load)
    found = await caller.app.chains.load("tenant-a", session_id)
    assert not late
    assert found == before
    assert len((await caller.app.chains.load("tenant-a", session_id)).events) == len(before.events) + 1
