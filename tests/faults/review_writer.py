"""Holds answers and decides about them for ever; killed by ``test_review_kill``."""

import asyncio
import sys
import uuid
from functools import partial
from pathlib import Path

from services.common.adapters.sqlite.reviews import SqliteReviewStore
from services.common.settings.stores import StoreSettings
from tests.contract.test_review_store_contract import decided, review
from tests.faults.killed_writers import say, write_in_rounds

QUEUES = 4


async def open_store(directory: Path) -> SqliteReviewStore:
    return await SqliteReviewStore.open(directory / "oversight.db", StoreSettings(disk_reserve_bytes=0))


async def write_for_ever(directory: Path) -> None:
    store = await open_store(directory)

    async def queue() -> None:
        while True:
            held = review(str(uuid.uuid4()))
            say("begin", "hold", "s1", held.review_id)
            await store.add(held)
            say("done", held.review_id, "PENDING")
            await store.change(decided(held, decision_id=str(uuid.uuid4())))
            say("done", held.review_id, "APPROVED")

    await asyncio.gather(*(queue() for _ in range(QUEUES)))


if __name__ == "__main__":
    write_in_rounds(partial(write_for_ever, Path(sys.argv[1])))
