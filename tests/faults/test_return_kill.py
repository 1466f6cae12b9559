"""``kill -9`` while agents' budgets flow back: both sides have what was acknowledged, and never one side alone."""

import asyncio
import json
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

from services.dag.domain.budget import budget_left
from services.dag.domain.verify import Integrity
from services.dag.domain.view import DagView
from services.dag.reading import SessionReads
from tests.fakes.dag_world import ALICE
from tests.faults.agent_writer import commit_ask
from tests.faults.commit_writer import Results, open_app, open_store
from tests.faults.test_store_kill import assert_sound
from tests.leash import running

ROUNDS = 4 * int(os.environ.get("GROUNDTRAIL_TEST_FAULT_ROUNDS", "0")) or 5
"""Five in ``make test``, a hundred in ``make test-faults``."""
ROOT = Path(__file__).parents[2]


@dataclass
class Round:
    """What one child said before it was killed.

    Attributes:
        begun: window id -> (request id, session id, window number, risk).
        done: window id -> (budget, the session above).
    """

    begun: dict[str, tuple[str, str, int, str]] = field(default_factory=dict)
    done: dict[str, tuple[float, str]] = field(default_factory=dict)

    def take(self, line):
        verb, *words = line.split()
        if verb == "begin":
            request, session, window, number, risk = words
            self.begun[window] = (request, session, int(number), risk)
        elif verb == "done":
            self.done[words[0]] = (float(words[1]), words[2])


def run_round(writer, acknowledgements, delay_s):
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


async def told(store, session_id, kind):
    events = await store.page_events("tenant-a", session_id, after_sequence=-1, limit=10_000)
    return [json.loads(event.data) for event in events if event.event_type == kind]


async def family(store, sessions):
    """The sessions and all above them."""
    known, waiting = set(), set(sessions)
    while waiting:
        known.add(session_id := waiting.pop())
        above = (await store.snapshot("tenant-a", session_id)).session.parent_session_id
        waiting |= {above} - known - {""}
    return known


async def sound(app, store, sessions, outcomes):
    """Every chain holds, and each lowering stands on both trails: by session above, where it was spent and to what."""
    reads, sent, taken = SessionReads(store, app.chains), Counter(), Counter()
    for session_id in sessions:
        verdict = await reads.verify("tenant-a", session_id)
        assert verdict.integrity in {Integrity.VALID, Integrity.UNVERIFIED}, verdict
        for event in await told(store, session_id, "SAFETY_BUDGET_RETURNED"):
            sent.update((above["session_id"], session_id, event["safety_budget"]) for above in event["lowered"])
        for event in await told(store, session_id, "SAFETY_BUDGET_LOWERED"):
            taken[session_id, event["spent_in"]["session_id"], event["safety_budget"]] += 1
    assert sent == taken
    outcomes["returned"] += sent.total()


async def check(store, found, outcomes):
    app = open_app(store)
    sessions = await family(store, {session for _, session, _, _ in found.begun.values()})
    await sound(app, store, sessions, outcomes)
    for budget, above in found.done.values():
        snapshot = await store.snapshot("tenant-a", above)
        assert budget_left(snapshot.session, DagView.of(snapshot)) <= budget
        outcomes["acknowledged"] += 1
    for window_id, (request_id, session_id, number, risk) in found.begun.items():
        if window_id not in found.done:
            answers = Results()
            asked = commit_ask(session_id, window_id, number, risk)
            await app.commit_window(ALICE, asked, answers.key("CommitWindow", request_id))
            outcomes["sent again"] += 1
    await sound(app, store, sessions, Counter())


@pytest.mark.slow
@pytest.mark.timeout(120 + 10 * ROUNDS)
def test_what_flowed_back_is_on_both_sides_or_on_none(tmp_path):
    rng = random.Random(7)
    outcomes = Counter()
    command = [sys.executable, "-m", "tests.faults.agent_writer", str(tmp_path)]
    with running(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        for _ in range(ROUNDS):
            found = run_round(writer, rng.randrange(1, 40), rng.random() * 0.02)

            async def verify(found=found):
                store = await open_store(tmp_path)
                await check(store, found, outcomes)
                await store.close()

            asyncio.run(verify())
        writer.stdin.close()
    assert_sound(tmp_path / "sessions.db")
    assert outcomes["acknowledged"] >= ROUNDS
    assert outcomes["returned"] >= ROUNDS, outcomes
    assert outcomes["sent again"] >= ROUNDS // 4, outcomes
