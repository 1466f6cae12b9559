"""The process of ``killed_writers`` whose children commit windows of a few sessions at once.

Usage: python -m tests.faults.commit_writer DIRECTORY. A child says ``begin REQUEST SESSION WINDOW NUMBER`` and
``done WINDOW HMAC``.
"""

import asyncio
import sys
import uuid
from functools import partial
from pathlib import Path
from typing import Any

from services.common.adapters.sqlite import SqliteSessionStore
from services.common.clock import SystemClock
from services.common.ids import RandomIds
from services.common.rpc.canonical import message_json
from services.common.settings.dag import DagSettings
from services.common.settings.stores import StoreSettings
from services.dag.app import Dependencies, SessionApp
from services.dag.domain.committing import CommitCommand
from services.dag.domain.opening import OpenCommand
from services.dag.master_keys import FixedMasterKeys
from services.dag.policy import DagPolicy
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from services.dag.writing import RequestKey
from tests.fakes.dag_world import ALICE, MASTER, report_for
from tests.faults.killed_writers import say, write_in_rounds

SESSIONS = 4
KEYS = FixedMasterKeys({1: MASTER})
SETTINGS = DagSettings(max_windows=50, max_dag_nodes=500)


async def open_store(directory: Path) -> SealedSessionStore:
    settings = StoreSettings(disk_reserve_bytes=0, synchronous="FULL")
    return SealedSessionStore(await SqliteSessionStore.open(directory / "sessions.db", settings), Sealer(KEYS))


def open_app(store: SealedSessionStore) -> SessionApp:
    return SessionApp(Dependencies(store, KEYS, SystemClock(), RandomIds()), DagPolicy.of(SETTINGS))


def text_of(window_id: str) -> str:
    return f"The answer of {window_id}. " * 50


def commit_ask(session_id: str, window_id: str, number: int) -> CommitCommand:
    """Return the same request whenever it is made: a retry after a crash sends it again."""
    text = text_of(window_id)
    report = report_for(session_id, window_id, number, text, report_id=str(uuid.uuid5(uuid.NAMESPACE_OID, window_id)))
    return CommitCommand(session_id, window_id, text, message_json(report), "LOW", "A", response_tokens=40)


class Results:
    """Keeps what the app answers beside the bytes it remembers."""

    def __init__(self) -> None:
        self.last: Any = None

    def key(self, rpc: str, request_id: str) -> RequestKey:
        def encode(result) -> bytes:
            self.last = result
            return b"answered"

        return RequestKey(rpc, request_id, "body", encode)


async def write_session(app: SessionApp) -> None:
    """Open and commit windows in a line, then fan out and merge, until the session is full."""
    answers = Results()
    token, continuations = "", ()

    async def window(strategy: str, token: str, continuations: tuple[str, ...] = ()):
        ask = OpenCommand(strategy, str(uuid.uuid4()), continuations, available_budget_tokens=1000)
        await app.open_window(ALICE, token, ask, answers.key("OpenWindow", ask.request_id))
        opened = answers.last.window
        request_id = str(uuid.uuid4())
        say("begin", request_id, opened.session_id, opened.window_id, opened.window_number)
        asked = commit_ask(opened.session_id, opened.window_id, opened.window_number)
        await app.commit_window(ALICE, asked, answers.key("CommitWindow", request_id))
        committed = answers.last
        say("done", committed.window.window_id, committed.window.hmac)
        return committed

    for _ in range(10):
        last = await window("push", token, continuations)
        token = last.issued.session_token
        children = [await window("fan-out", token) for _ in range(2)]
        token = children[0].issued.session_token
        merged = await window("fan-in", token, tuple(child.window.continuation_id for child in children))
        token, continuations = merged.issued.session_token, ()


async def write_for_ever(directory: Path) -> None:
    app = open_app(await open_store(directory))

    async def sessions() -> None:
        while True:
            await write_session(app)

    await asyncio.gather(*(sessions() for _ in range(SESSIONS)))


if __name__ == "__main__":
    write_in_rounds(partial(write_for_ever, Path(sys.argv[1])))
