"""``kill -9`` at random points of CommitWindow: what was acknowledged is there, the chain is VALID, and it goes on."""

import asyncio
from collections import Counter

import pytest

from services.common.taxonomy import ChainIntegrity, WindowStatus
from services.dag.domain.view import DagView
from services.dag.reading import SessionReads
from tests.fakes.dag_world import ALICE
from tests.faults.commit_writer import Results, commit_ask, open_app, open_store
from tests.faults.killed_writers import kill_in_rounds, rounds_of
from tests.faults.test_store_kill import assert_sound

ROUNDS = rounds_of(8)
"""Five in ``make test``, two hundred in ``make test-faults``."""


async def check(store, found, outcomes):
    """Every acknowledged window is there; those in flight are whole or not; sent again, each request succeeds."""
    app = open_app(store)
    reads = SessionReads(store, app.chains)
    for session_id in found.sessions:
        verdict = await reads.verify("tenant-a", session_id)
        assert verdict.fault is None
        assert verdict.integrity is (ChainIntegrity.VALID if verdict.windows_total else ChainIntegrity.UNVERIFIED)
        assert verdict.windows_verified == verdict.windows_total
        dag = DagView.of(await store.snapshot("tenant-a", session_id))
        for window_id, (_, owner, _) in found.begun.items():
            if owner == session_id:
                window = dag.by_id[window_id]
                assert window_id not in found.done or (window.hmac,) == found.done[window_id]
                assert window.status in {WindowStatus.PENDING, WindowStatus.COMMITTED}
                outcomes[window.status if window_id in found.in_flight else "acknowledged"] += 1
    for window_id, (request_id, session_id, number) in found.in_flight.items():
        answers = Results()
        again = answers.key("CommitWindow", request_id)
        assert await app.commit_window(ALICE, commit_ask(session_id, window_id, int(number)), again) == b"answered"
        assert (await reads.verify("tenant-a", session_id)).integrity is ChainIntegrity.VALID


@pytest.mark.slow
@pytest.mark.timeout(120 + 10 * ROUNDS)
def test_acknowledged_windows_survive_and_the_chain_is_valid(tmp_path):
    outcomes = Counter()

    async def verify(found):
        store = await open_store(tmp_path)
        await check(store, found, outcomes)
        await store.close()

    for seed in range(4, 8):
        for found in kill_in_rounds("tests.faults.commit_writer", tmp_path, ROUNDS, seed=seed, most=12):
            outcomes["killed in CommitWindow"] += bool(found.in_flight)
            asyncio.run(verify(found))
        if outcomes["killed in CommitWindow"] >= ROUNDS // 4:
            break  # on a busy machine a child may be killed between two windows again and again
    assert_sound(tmp_path / "sessions.db")
    assert outcomes["acknowledged"] >= ROUNDS
    assert outcomes["killed in CommitWindow"] >= ROUNDS // 4, outcomes
    assert ROUNDS < 100 or outcomes[WindowStatus.PENDING] > 0, outcomes
