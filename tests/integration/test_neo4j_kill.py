"""``kill -9`` of Neo4j while dag commits: what was acknowledged is there, the chain is VALID, the same store goes on.

The server is the test's own, so that it can be killed; GROUNDTRAIL_TEST_NEO4J_URI turns the test on all the same.
"""

import asyncio
import os
import random
import time
from collections import Counter

import pytest
from pydantic import SecretStr

from services.common.adapters.neo4j import Neo4jSessionStore
from services.common.errors import CrpError, ErrorReason, UnavailableError
from services.common.settings.neo4j import Neo4jSettings
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from tests.faults import commit_writer
from tests.faults.commit_writer import KEYS, SESSIONS, open_app, write_session
from tests.faults.killed_writers import Round
from tests.faults.test_commit_kill import check
from tests.integration.neo4j_target import neo4j_settings
from tests.patience import patient
from tools.real_servers.neo4j import new_home, start

ROUNDS = max(2, int(os.environ.get("GROUNDTRAIL_TEST_FAULT_ROUNDS", "0")) // 3)
"""Two in ``make test-real``; each waits for a Java virtual machine to start."""
ANSWER_S = patient(15.0)
"""Longest until a call is refused when the server is gone: the retries of the settings, and a busy machine."""

pytestmark = [pytest.mark.needs_neo4j, pytest.mark.slow, pytest.mark.timeout(180 + 120 * ROUNDS)]


class Listener(Round):
    """Takes what the writers say, and tells when they have said enough."""

    def __init__(self, enough: int) -> None:
        super().__init__()
        self.enough, self.reached = enough, asyncio.Event()

    def say(self, *words: object) -> None:
        self.take(" ".join(map(str, words)))
        if len(self.done) >= self.enough:
            self.reached.set()


async def endlessly(app) -> None:
    while True:
        await write_session(app)


async def killed_round(store, process, monkeypatch, rng) -> Listener:
    """Commit, kill the server some time after so many acknowledgements, and see every caller refused."""
    found = Listener(enough=rng.randrange(1, 12))
    monkeypatch.setattr(commit_writer, "say", found.say)
    writers = [asyncio.ensure_future(endlessly(open_app(store))) for _ in range(SESSIONS)]
    said = asyncio.ensure_future(found.reached.wait())
    await asyncio.wait([said, *writers], return_when=asyncio.FIRST_COMPLETED)
    assert said.done(), [writer.exception() for writer in writers if writer.done()]
    await asyncio.sleep(rng.random() * 0.02)
    process.kill()
    killed_at = time.monotonic()
    for error in await asyncio.gather(*writers, return_exceptions=True):
        assert isinstance(error, CrpError), error
        assert error.reason is ErrorReason.STORE_UNAVAILABLE
    with pytest.raises(UnavailableError, match="Neo4j cannot serve"):
        await store.check()
    assert time.monotonic() - killed_at < ANSWER_S
    return found


async def test_acknowledged_windows_survive_and_the_store_finds_the_server_again(tmp_path, monkeypatch):
    neo4j_settings()
    rng, outcomes = random.Random(4), Counter()
    home = new_home(tmp_path)
    process = await asyncio.to_thread(start, home)
    try:
        settings = Neo4jSettings(uri=home.uri, password=SecretStr(home.password), retry_s=1.0, timeout_s=60.0)
        store = SealedSessionStore(await Neo4jSessionStore.open(settings), Sealer(KEYS))
        for _ in range(ROUNDS):
            found = await killed_round(store, process, monkeypatch, rng)
            outcomes["killed in CommitWindow"] += bool(found.in_flight)
            process = await asyncio.to_thread(start, home)
            await store.check()
            await check(store, found, outcomes)
        await store.close()
    finally:
        process.stop()
    assert outcomes["acknowledged"] >= ROUNDS
    assert outcomes["killed in CommitWindow"] >= 1, outcomes
