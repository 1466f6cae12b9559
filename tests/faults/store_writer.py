"""Child process of the kill tests: writes to a store for ever and prints what was acknowledged, one line each.

Usage: python store_writer.py facts|sessions DIRECTORY FIRST_ROUND_NUMBER
"""

import asyncio
import sys
from pathlib import Path

from services.common.adapters.sqlite import SqliteFactStore, SqliteSessionStore
from services.common.ports.facts import FactStatus
from services.common.settings.stores import StoreSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import LATER
from tests.faults.store_records import BATCH, LAST_VERSION, WRITERS, batch, step

SETTINGS = StoreSettings(disk_reserve_bytes=0, exact_search_below=64)


def acknowledge(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def write_facts(directory: Path, first: int) -> None:
    store = await SqliteFactStore.open(directory / "knowledge.db", SETTINGS, dimension=DIMENSION)

    async def ingest(writer: int) -> None:
        number = first
        while True:
            name = f"{writer}-{number}"
            await store.upsert(batch(name))
            acknowledge("written", name)
            if number % 3 == 0:
                await store.erase_source("tenant-a", name, at=LATER)
                acknowledge("erased", name)
            elif number % 3 == 1:
                ids = [f"{name}/{part:02}" for part in range(BATCH)]
                await store.set_status("tenant-a", ids, FactStatus.STALE, at=LATER)
                acknowledge("stale", name)
            number += 1

    await asyncio.gather(*(ingest(writer) for writer in range(WRITERS)))


async def write_sessions(directory: Path, first: int) -> None:
    store = await SqliteSessionStore.open(directory / "sessions.db", SETTINGS)

    async def commit(writer: int) -> None:
        number = first
        while True:
            name = f"{writer}-{number}"
            for version in range(1, LAST_VERSION + 1):
                change = step(name, version)
                await store.write(change)
                acknowledge("committed", name, version)
            number += 1

    await asyncio.gather(*(commit(writer) for writer in range(WRITERS)))


if __name__ == "__main__":
    kind, place, start = sys.argv[1:]
    asyncio.run({"facts": write_facts, "sessions": write_sessions}[kind](Path(place), int(start)))
