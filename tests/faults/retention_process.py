"""A process that walks over a store of sessions and does what is due, until it is done or killed.

Usage: python -m tests.faults.retention_process DIRECTORY NOW; NOW is ISO 8601. Every line on stdout is written at once:
``done STAGE SESSION`` for what was acknowledged, and ``over``.
"""

import asyncio
import sys
from datetime import datetime
from pathlib import Path

from services.common.adapters.sqlite import SqliteSessionStore
from services.common.ids import RandomIds
from services.common.settings.dag import DagSettings
from services.common.settings.retention import RetentionSettings
from services.common.settings.stores import StoreSettings
from services.dag.app import Dependencies, SessionApp
from services.dag.master_keys import FixedMasterKeys
from services.dag.policy import DagPolicy
from services.dag.retention import Outcome, Retention, WalkPlace
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from tests.fakes.dag_world import ALICE, MASTER, TurnedClock

KEYS = FixedMasterKeys({1: MASTER})
RULES = RetentionSettings(idle_expiry_s=3_600, erase_after_days=1, tombstone_after_days=1)
PLAIN = StoreSettings(disk_reserve_bytes=0, synchronous="FULL")


class Keeper:
    """An app and what retention does, over the sessions of one directory."""

    def __init__(self, store: SealedSessionStore, now: datetime) -> None:
        self.store = store
        self.clock = TurnedClock(now)
        policy = DagPolicy.of(DagSettings(), RULES)
        self.app = SessionApp(Dependencies(store, KEYS, self.clock, RandomIds()), policy)
        self.retention = Retention(store, self.app.chains, self.app.expiry, self.clock)


async def open_keeper(directory: Path, now: datetime) -> Keeper:
    inner = await SqliteSessionStore.open(directory / "sessions.db", PLAIN)
    return Keeper(SealedSessionStore(inner, Sealer(KEYS)), now)


async def walk(directory: Path, now: datetime) -> None:
    keeper = await open_keeper(directory, now)
    place: WalkPlace | None = WalkPlace()
    while place is not None:
        page = await keeper.retention.due(ALICE.tenant_id, place, 10)
        for item in page.items:
            acted = await keeper.retention.act(ALICE.tenant_id, item)
            if acted.outcome is Outcome.DONE:
                say(f"done {acted.stage.value} {acted.session_id}")
        place = page.following
    say("over")
    await keeper.store.close()


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(walk(Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2])))
