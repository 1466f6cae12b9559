"""``kill -9`` of a streaming process: the next one goes on, every event arrives in order, and copies are copies."""

import asyncio
import json
import os
import random
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from services.dag.sink.streaming import CONSUMER
from tests.fakes.event_log import append
from tests.fakes.event_receiver import OK, Receiver
from tests.fakes.event_sinks import open_store
from tests.leash import leashed, release
from tests.patience import patient

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("GROUNDTRAIL_TEST_FAULT_ROUNDS", "2"))
BATCH = 7


class Killer:
    """Answers, and kills the sender at drawn requests; some of those batches count as taken, some as lost."""

    def __init__(self, rng, kills):
        self._rng = rng
        self.left = kills
        self.process = None
        self.taken_unheard = 0
        self._until_next = 2

    async def answer(self, _request):
        self._until_next -= 1
        if self.left and self._until_next <= 0:
            self.left -= 1
            self._until_next = self._rng.randrange(1, 4)
            self.process.kill()
            await asyncio.to_thread(self.process.wait)
            if self._rng.random() < 0.5:
                return 500, {}
            self.taken_unheard += 1
        return OK


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_every_event_arrives_though_senders_are_killed(tmp_path):
    rng = random.Random(7)
    killer = Killer(rng, KILLS)
    receiver = await Receiver(killer.answer).listen()
    store = await open_store(tmp_path)
    expected = defaultdict(list)
    for _ in range(12 * KILLS):
        tenant, session = rng.choice(("tenant-a", "tenant-b")), f"s{rng.randrange(3)}"
        ids = await append(store, f"{tenant}-{session}", rng.randrange(1, 4), tenant=tenant)
        expected[f"{tenant}-{session}"] += ids
    total = sum(map(len, expected.values()))
    started = 0
    while await store.event_feed().behind(CONSUMER, 10):
        command = (sys.executable, "-m", "tests.faults.event_sink_process", str(tmp_path), receiver.url, f"p{started}")
        killer.process = leashed(command, cwd=ROOT)
        started += 1
        async with asyncio.timeout(patient(60)):
            # What another process does to the position announces nothing.
            while killer.process.poll() is None and await store.event_feed().behind(CONSUMER, 10):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    release(killer.process)
    await receiver.close()
    await store.close()

    assert (killer.left, started) == (0, KILLS + 1)
    arrived, copies = defaultdict(list), defaultdict(set)
    for line in (line for request in receiver.accepted for line in request.body.splitlines()):
        event = json.loads(line)
        copies[event["event_id"]].add(line)
        if event["event_id"] not in arrived[event["session_id"]]:
            arrived[event["session_id"]].append(event["event_id"])
    assert arrived == expected
    assert all(len(lines) == 1 for lines in copies.values())
    twice = sum(len(one.events) for one in receiver.accepted) - total
    assert 0 <= twice <= BATCH * (killer.taken_unheard + KILLS)
    assert killer.taken_unheard == 0 or twice > 0
