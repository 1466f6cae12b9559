"""``kill -9`` at random points of CommitWindow: what was acknowledged is there, the chain is VALID, and it goes on."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from services.common.ports.sessions import WindowStatus
from services.dag.domain.verify import Integrity
from services.dag.domain.view import DagView
from services.dag.reading import SessionReads
from tests.fakes.dag_world import ALICE
from tests.faults.commit_writer import Results, commit_ask, open_app, open_store
from tests.faults.test_store_kill import assert_sound
from tests.leash import running

ROUNDS = 8 * int(os.environ.get("GROUNDTRAIL_TEST_FAULT_ROUNDS", "0")) or 5
"""Five in ``make test``, two hundred in ``make test-faults``."""
ROOT = Path(__file__).parents[2]


@dataclass
class Round:
    """What one child said before it was killed.

    Attributes:
        begun: window id -> (request id, session id, window number).
        done: window id -> hmac.
    """

    begun: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)

    @property
    def in_flight(self):
        return {window_id: request for window_id, request in self.begun.items() if window_id not in self.done}

    def take(self, line):
        verb, *words = line.split()
        if verb == "begin":
            request, session, window, number = words
            self.begun[window] = (request, session, int(number))
        elif verb == "done":
            self.done[words[0]] = words[1]


def run_round(writer, acknowledgements, delay_s):
    """Let a child commit, kill it some time after so many acknowledgements, return what it said until then."""
    writer.stdin.write("round\n")
    writer.stdin.flush()
    found = Round()
    child = int(writer.stdout.readline().split()[1])
    while len(found.done) < acknowledgements:
        line = writer.stdout.readline()
        assert line, "the writer is gone"
        found.take(line)
    threading.Event().wait(delay_s)
    os.kill(child, signal.SIGKILL)
    for line in iter(writer.stdout.readline, f"over {-signal.SIGKILL}\n"):
        found.take(line)
    return found


async def check(store, found, outcomes):
    """Every acknowledged window is there; those in flight are whole or not; sent again, each request succeeds."""
    app = open_app(store)
    reads = SessionReads(store, app.chains)
    for session_id in {session for _, session, _ in found.begun.values()}:
        verdict = await reads.verify("tenant-a", session_id)
        assert verdict.fault is None
        assert verdict.integrity is (Integrity.VALID if verdict.windows_total else Integrity.UNVERIFIED)
        assert verdict.windows_verified == verdict.windows_total
        dag = DagView.of(await store.snapshot("tenant-a", session_id))
        for window_id, (_, owner, _) in found.begun.items():
            if owner == session_id:
                window = dag.by_id[window_id]
                assert window_id not in found.done or window.hmac == found.done[window_id]
                assert window.status in {WindowStatus.PENDING, WindowStatus.COMMITTED}
                outcomes[window.status if window_id in found.in_flight else "acknowledged"] += 1
    for window_id, (request_id, session_id, number) in found.in_flight.items():
        answers = Results()
        again = answers.key("CommitWindow", request_id)
        assert await app.commit_window(ALICE, commit_ask(session_id, window_id, number), again) == b"answered"
        assert (await reads.verify("tenant-a", session_id)).integrity is Integrity.VALID


@pytest.mark.slow
@pytest.mark.timeout(120 + 10 * ROUNDS)
def test_acknowledged_windows_survive_and_the_chain_is_valid(tmp_path):
    rng = random.Random(4)
    outcomes = Counter()
    command = [sys.executable, "-m", "tests.faults.commit_writer", str(tmp_path)]
    with running(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        for _ in range(ROUNDS):
            found = run_round(writer, rng.randrange(1, 12), rng.random() * 0.02)
            outcomes["killed in CommitWindow"] += bool(found.in_flight)

            async def verify(found=found):
                store = await open_store(tmp_path)
                await check(store, found, outcomes)
                await store.close()

            asyncio.run(verify())
        writer.stdin.close()
    assert_sound(tmp_path / "sessions.db")
    assert outcomes["acknowledged"] >= ROUNDS
    assert outcomes["killed in CommitWindow"] >= ROUNDS // 4, outcomes
    assert ROUNDS < 100 or outcomes[WindowStatus.PENDING] > 0, outcomes
