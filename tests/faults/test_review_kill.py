"""``kill -9`` at random points of holding and deciding: what was acknowledged is there, and no decision goes back."""

import asyncio
from collections import Counter

import pytest

from services.common.ports.reviews import ReviewStatus
from tests.faults.killed_writers import kill_in_rounds, rounds_of
from tests.faults.review_writer import open_store
from tests.faults.test_store_kill import assert_sound

ROUNDS = rounds_of(8)


@pytest.mark.slow
@pytest.mark.timeout(120 + 10 * ROUNDS)
def test_acknowledged_reviews_and_decisions_survive(tmp_path):
    seen = Counter()

    async def verify(found):
        store = await open_store(tmp_path)
        for review_id in found.begun:
            there = await store.get("tenant-a", review_id)
            if review_id in found.done:
                assert there is not None
                assert found.done[review_id] != ("APPROVED",) or there.status is ReviewStatus.APPROVED
                seen[there.status] += 1
        await store.close()

    for found in kill_in_rounds("tests.faults.review_writer", tmp_path, ROUNDS, seed=5, most=12):
        asyncio.run(verify(found))
    assert_sound(tmp_path / "oversight.db")
    assert sum(seen.values()) >= ROUNDS
