"""``kill -9`` while agents' budgets flow back: both sides have what was acknowledged, and never one side alone."""

import asyncio
import json
from collections import Counter

import pytest

from services.common.taxonomy import ChainIntegrity
from services.dag.domain.budget import budget_left
from services.dag.domain.view import DagView
from services.dag.reading import SessionReads
from tests.fakes.dag_world import ALICE
from tests.faults.agent_writer import commit_ask
from tests.faults.commit_writer import Results, open_app, open_store
from tests.faults.killed_writers import kill_in_rounds, rounds_of
from tests.faults.test_store_kill import assert_sound

ROUNDS = rounds_of(4)
"""Five in ``make test``, a hundred in ``make test-faults``."""


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
        assert verdict.integrity in {ChainIntegrity.VALID, ChainIntegrity.UNVERIFIED}, verdict
        for event in await told(store, session_id, "SAFETY_BUDGET_RETURNED"):
            sent.update((above["session_id"], session_id, event["safety_budget"]) for above in event["lowered"])
        for event in await told(store, session_id, "SAFETY_BUDGET_LOWERED"):
            taken[session_id, event["spent_in"]["session_id"], event["safety_budget"]] += 1
    assert sent == taken
    outcomes["returned"] += sent.total()


async def check(store, found, outcomes):
    app = open_app(store)
    sessions = await family(store, found.sessions)
    await sound(app, store, sessions, outcomes)
    for budget, above in found.done.values():
        snapshot = await store.snapshot("tenant-a", above)
        assert budget_left(snapshot.session, DagView.of(snapshot)) <= float(budget)
        outcomes["acknowledged"] += 1
    for window_id, (request_id, session_id, number, risk) in found.in_flight.items():
        answers = Results()
        asked = commit_ask(session_id, window_id, int(number), risk)
        await app.commit_window(ALICE, asked, answers.key("CommitWindow", request_id))
        outcomes["sent again"] += 1
    await sound(app, store, sessions, Counter())


@pytest.mark.slow
@pytest.mark.timeout(120 + 10 * ROUNDS)
def test_what_flowed_back_is_on_both_sides_or_on_none(tmp_path):
    outcomes = Counter()

    async def verify(found):
        store = await open_store(tmp_path)
        await check(store, found, outcomes)
        await store.close()

    for seed in range(7, 11):
        for found in kill_in_rounds("tests.faults.agent_writer", tmp_path, ROUNDS, seed=seed, most=40):
            asyncio.run(verify(found))
        if outcomes["sent again"] >= ROUNDS // 4:
            break  # on a busy machine a child may be killed between two windows again and again
    assert_sound(tmp_path / "sessions.db")
    assert outcomes["acknowledged"] >= ROUNDS
    assert outcomes["returned"] >= ROUNDS, outcomes
    assert outcomes["sent again"] >= ROUNDS // 4, outcomes
