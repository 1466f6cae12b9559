"""``kill -9`` while retention works: each session is whole at one stage, verifies, and comes to its end after all."""

import asyncio
import os
import random
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from services.common.ports.sessions import SessionStatus
from services.common.taxonomy import ChainIntegrity
from services.dag.beginning import CreateAsk
from services.dag.writing import RequestKey
from tests.fakes.dag_world import ALICE, NOW, fresh_uuid
from tests.faults.retention_process import open_keeper, walk
from tests.faults.test_store_kill import assert_sound
from tests.leash import running

KILLS = 2 * int(os.environ.get("GROUNDTRAIL_TEST_FAULT_ROUNDS", "0")) or 2
"""Of each stage: two in ``make test``, fifty in ``make test-faults``."""
SESSIONS = 20 * KILLS + 20
ROOT = Path(__file__).parents[2]
STAGES = (
    ("EXPIRE", timedelta(hours=2), SessionStatus.OPEN, SessionStatus.EXPIRED),
    ("ERASE", timedelta(days=2), SessionStatus.EXPIRED, SessionStatus.ERASED),
    ("TOMBSTONE", timedelta(days=4), SessionStatus.ERASED, SessionStatus.TOMBSTONED),
)


async def created(directory):
    keeper = await open_keeper(directory, NOW)
    for _ in range(SESSIONS):
        key = RequestKey("CreateSession", fresh_uuid(), "h", lambda _: b"x")
        await keeper.app.create_session(ALICE, CreateAsk(), key)
    await keeper.store.close()


def killed(directory, now, after):
    """Let a process walk, kill it after so many sessions, and return what it acknowledged."""
    command = [sys.executable, "-m", "tests.faults.retention_process", str(directory), now.isoformat()]
    with running(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        lines = []
        for line in process.stdout:
            lines.append(line.split())
            if len(lines) == after:
                process.kill()
        process.wait()
    return lines


async def statuses(directory, now):
    """Return each session's status; every one of them verifies."""
    keeper = await open_keeper(directory, now)
    found = {}
    until = now + timedelta(days=1)  # what was just done is dated a little later than now
    for status in SessionStatus:
        for due in await keeper.store.page_due(ALICE.tenant_id, status, until=until, after=None, limit=10_000):
            found[due.record.session_id] = status
            stored = await keeper.app.chains.load(ALICE.tenant_id, due.record.session_id)
            verdict = await keeper.app.chains.verify(stored)
            assert verdict.integrity is not ChainIntegrity.BROKEN, verdict.fault
    await keeper.store.close()
    return found


@pytest.mark.whole
async def test_what_was_acknowledged_stays_and_the_rest_is_done_by_the_next(tmp_path):
    await created(tmp_path)
    rng, now = random.Random(7), NOW
    for stage, span, before, after in STAGES:
        now += span
        told = set()
        for _ in range(KILLS):
            lines = await asyncio.to_thread(killed, tmp_path, now, rng.randrange(1, 20))
            told |= {name for verb, *rest in lines if verb == "done" for kind, name in [rest] if kind == stage}
            assert_sound(tmp_path / "sessions.db")
            found = await statuses(tmp_path, now)
            assert len(found) == SESSIONS
            assert set(found.values()) <= {before, after}
            assert {found[name] for name in told} <= {after}
        assert told
        await walk(tmp_path, now)
        assert set((await statuses(tmp_path, now)).values()) == {after}
