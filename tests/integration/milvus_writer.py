"""Child process of the kill test: writes facts to a Milvus for ever and prints what was acknowledged, one line each.

Usage: python -m tests.integration.milvus_writer URI FIRST_NUMBER
"""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from services.common.adapters.milvus import MilvusFactStore
from services.common.ports.facts import FactStatus
from services.common.settings.milvus import MilvusSettings
from tests.contract.adapters import DIMENSION, MODEL
from tests.contract.records import LATER
from tests.faults.store_records import BATCH, WRITERS, batch

PREFIX = "groundtrail_killed"


async def open_store(uri: str, **changes: object) -> MilvusFactStore:
    """Open the store that is written to and killed."""
    values: dict[str, Any] = {"uri": uri, "collection_prefix": PREFIX, "partitions": 2, "start_timeout_s": 120.0}
    return await MilvusFactStore.open(MilvusSettings(**values | changes), embedding_model=MODEL, dimension=DIMENSION)


async def write(store: MilvusFactStore, writer: int, first: int, said: Callable[[str, str], None]) -> None:
    """Write, erase and change the status of sources, each in turn, and tell what was acknowledged."""
    number = first
    while True:
        name = f"{writer}-{number}"
        await store.upsert(batch(name))
        said("written", name)
        if number % 3 == 0:
            await store.erase_source("tenant-a", name, at=LATER)
            said("erased", name)
        elif number % 3 == 1:
            ids = [f"{name}/{part:02}" for part in range(BATCH)]
            await store.set_status("tenant-a", ids, FactStatus.STALE, at=LATER)
            said("stale", name)
        number += 1


def _acknowledge(verb: str, name: str) -> None:
    sys.stdout.write(f"{verb} {name}\n")
    sys.stdout.flush()


async def _run(uri: str, first: int) -> None:
    store = await open_store(uri)
    await asyncio.gather(*(write(store, writer, first, _acknowledge) for writer in range(WRITERS)))


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1], int(sys.argv[2])))
