"""``kill -9`` of Milvus, and of the process that writes to it: what was acknowledged is there, nothing is half there.

The server is the test's own, so that it can be killed; GROUNDTRAIL_TEST_MILVUS_URI turns the tests on all the same.
"""

import asyncio
import random
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from services.common.errors import CrpError, ErrorReason, UnavailableError
from services.common.ports.facts import FactFilter, FactStatus
from tests.contract.records import LATER, fact, vector
from tests.faults.store_records import BATCH, WRITERS, batch
from tests.integration.milvus_target import milvus_settings
from tests.integration.milvus_writer import open_store, write
from tests.leash import running
from tests.patience import patient
from tools.real_servers.milvus import new_home, start

ROOT = Path(__file__).parents[2]
ANSWER_S = patient(10.0)
"""Longest until a call is refused when the server is gone: the deadline of the settings below, and a busy machine."""

pytestmark = [pytest.mark.needs_milvus, pytest.mark.slow, pytest.mark.timeout(600)]


class Said:
    """What was acknowledged, by verb."""

    def __init__(self, enough: int = 0) -> None:
        self.names: dict[str, set[str]] = defaultdict(set)
        self.count, self.enough, self.reached = 0, enough, asyncio.Event()

    def take(self, verb: str, name: str) -> None:
        self.names[verb].add(name)
        self.count += 1
        if self.count >= self.enough:
            self.reached.set()


@pytest.fixture
async def home(tmp_path):
    milvus_settings()
    return await asyncio.to_thread(new_home, tmp_path / "milvus")


@pytest.fixture
async def server(home):
    """The running server; a test that starts another one puts it in here."""
    running = {"now": await asyncio.to_thread(start, home)}
    yield running
    running["now"].kill()


async def check(store, said: Said) -> None:
    """Every acknowledged source is there, and every source whole, of one status, with all or none of its content."""
    facts = await store.page("tenant-a", FactFilter(statuses=()), after="", limit=1_000_000)
    found = defaultdict(list)
    for one in facts:
        found[one.source_id].append(one)
    assert said.names["written"] <= found.keys()
    for name, some in found.items():
        assert len(some) == BATCH, name
        (status,) = {one.status for one in some}
        assert name not in said.names["erased"] or status is FactStatus.DELETED
        assert name not in said.names["stale"] or status is FactStatus.STALE
        erased = status is FactStatus.DELETED
        assert {one.content for one in some} == ({""} if erased else {one.content for one in batch(name)})
    assert await store.count("tenant-a", FactFilter(statuses=())) == BATCH * len(found)
    alive = [name for name, some in found.items() if some[0].status is not FactStatus.DELETED]
    for name in random.Random(1).sample(sorted(alive), min(3, len(alive))):
        expected = batch(name)[3]
        (hits,) = await store.search("tenant-a", expected.embedding[None], limit=1)
        assert hits[0].fact.content == expected.content


async def test_what_was_acknowledged_survives_a_kill_of_milvus_and_the_store_finds_it_again(home, server):
    store, said = await open_store(home.uri, timeout_s=3.0), Said(enough=12)
    writers = [asyncio.ensure_future(write(store, number, 0, said.take)) for number in range(WRITERS)]
    reached = asyncio.ensure_future(said.reached.wait())
    await asyncio.wait([reached, *writers], return_when=asyncio.FIRST_COMPLETED)
    server["now"].kill()
    killed_at = time.monotonic()
    for error in await asyncio.gather(*writers, return_exceptions=True):
        assert isinstance(error, CrpError), error
        assert error.reason is ErrorReason.STORE_UNAVAILABLE
        assert error.retry_after_s
    assert said.count >= 12
    with pytest.raises(UnavailableError, match="Milvus cannot serve"):
        await store.get("tenant-a", ["0-0/00"])
    with pytest.raises(UnavailableError):
        await store.check()
    assert time.monotonic() - killed_at < 3 * ANSWER_S
    await store.touch("tenant-a", ["0-0/00"], at=LATER)  # a count that is lost loses no answer
    server["now"] = await asyncio.to_thread(start, home)
    again = await open_store(home.uri, timeout_s=60.0)  # waits until the collections are loaded
    await check(again, said)
    await again.close()
    await check(store, said)  # the first one has come back by itself
    await store.upsert([fact("after", tenant_id="tenant-b")])
    assert [one.fact_id for one in await store.get("tenant-b", ["after"])] == ["after"]
    await store.close()


async def test_what_was_acknowledged_survives_a_kill_of_the_writing_process(home, server):
    rng, said = random.Random(2), Said()
    for round_number in range(3):
        command = [sys.executable, "-m", "tests.integration.milvus_writer", home.uri, str(round_number * 10_000)]
        enough = rng.randrange(6, 30)

        def killed(command: list[str] = command, enough: int = enough) -> list[str]:
            with running(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
                lines = [child.stdout.readline() for _ in range(enough)]
                child.kill()
                return [line for line in [*lines, *child.stdout.readlines()] if line.endswith("\n")]

        for line in await asyncio.to_thread(killed):
            said.take(*line.split())
        store = await open_store(home.uri)
        await check(store, said)
        await store.close()
    assert said.count >= 18


async def test_a_search_while_milvus_loads_waits_for_it(home, server):
    store = await open_store(home.uri, timeout_s=60.0)
    await store.upsert([fact(f"f{n:03}", embedding=vector(1.0, n)) for n in range(200)])
    server["now"].kill()
    asked = asyncio.ensure_future(store.search("tenant-a", vector(1.0)[None], limit=3))
    server["now"] = await asyncio.to_thread(start, home)
    (hits,) = await asked
    assert [hit.fact.fact_id for hit in hits] == ["f000", "f001", "f002"]
    await store.close()
