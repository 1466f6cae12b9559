"""The sweep: bounded turns, one sweeper per store, no tenant or session in the way of another (ADR 0104)."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.sessions import SessionStatus
from services.common.settings.dag import DagSettings
from services.common.settings.retention import RetentionSettings
from services.dag.app import Dependencies, SessionApp
from services.dag.beginning import CreateCommand
from services.dag.domain.retention import OwnRules, Stage
from services.dag.master_keys import FixedMasterKeys
from services.dag.policy import DagPolicy
from services.dag.registers import NewRules
from services.dag.retention import Retention, RetentionSweep, SweepMetrics, SweepParts
from services.dag.writing import RequestKey
from tests.fakes.dag_world import ALICE, MALLORY, MASTER, CountingIds, LoggedMemoryStore, TurnedClock, fresh_uuid
from tests.patience import patient

RULES = RetentionSettings(idle_expiry_s=3_600, erase_after_days=1, tombstone_after_days=1, sweep_interval_s=60)


@dataclass
class World:
    """One process's app and sweep over a store that others may share."""

    store: Any = field(default_factory=LoggedMemoryStore)
    clock: TurnedClock = field(default_factory=TurnedClock)
    holder: str = "one"
    settings: RetentionSettings = RULES
    keys: FixedMasterKeys = field(default_factory=lambda: FixedMasterKeys({1: MASTER}))

    def __post_init__(self):
        policy = DagPolicy.of(DagSettings(), self.settings)
        ids = CountingIds(prefix=self.holder)
        self.app = SessionApp(Dependencies(self.store, self.keys, self.clock, ids), policy)
        retention = Retention(self.store, self.app.chains, self.app.expiry, self.clock)
        self.metrics = SweepMetrics()
        parts = SweepParts(retention, self.store, self.store.event_feed(), self.clock, self.holder, self.metrics)
        self.sweep = RetentionSweep(parts, self.settings)

    def beside(self, **changes):
        return replace(self, holder="two", **changes)

    async def create(self, caller=ALICE):
        made = []
        key = RequestKey("CreateSession", fresh_uuid(), "h", lambda created: made.append(created) or b"")
        await self.app.create_session(caller, CreateCommand(), key)
        return made[0].session.session_id

    async def status(self, name, tenant="tenant-a"):
        return (await self.store.snapshot(tenant, name)).session.status

    async def walk(self):
        """Turn until the walk over all tenants is over."""
        for _ in range(100):
            if not await self.sweep.turn():
                return
        raise AssertionError("the walk does not end")


@pytest.fixture
def world():
    return World()


async def test_three_walks_bring_a_session_to_its_end(world):
    name = await world.create()
    for span, status in (
        (timedelta(hours=2), SessionStatus.EXPIRED),
        (timedelta(days=2), SessionStatus.ERASED),
        (timedelta(days=2), SessionStatus.TOMBSTONED),
    ):
        world.clock.moment += span
        await world.walk()
        assert await world.status(name) is status
    assert dict(world.metrics.done) == {Stage.EXPIRE: 1, Stage.ERASE: 1, Stage.TOMBSTONE: 1}
    world.clock.moment += timedelta(days=400)
    await world.walk()
    assert dict(world.metrics.sessions) == {SessionStatus.TOMBSTONED: 1}


async def test_a_turn_is_bounded_and_the_next_goes_on(world):
    world = World(settings=RULES.model_copy(update={"sweep_batch": 4}))
    names = [await world.create() for _ in range(10)]
    world.clock.moment += timedelta(hours=2)
    seen = []
    for _ in range(3):
        more = await world.sweep.turn()
        seen.append((more, [await world.status(name) for name in names].count(SessionStatus.EXPIRED)))
    assert seen == [(True, 4), (True, 8), (False, 10)]


async def test_every_tenant_comes_and_is_counted(world):
    mine, theirs = await world.create(), await world.create(MALLORY)
    world.clock.moment += timedelta(hours=2)
    await world.walk()
    assert await world.status(mine) is SessionStatus.EXPIRED
    assert await world.status(theirs, "tenant-m") is SessionStatus.EXPIRED
    await world.walk()
    assert dict(world.metrics.sessions) == {SessionStatus.EXPIRED: 2}
    names = {
        sample.name: sample.value
        for metric in world.metrics.collect()
        for sample in metric.samples
        if sample.labels in ({}, {"status": "EXPIRED"}, {"stage": "EXPIRE"})
    }
    assert names["groundtrail_sessions"] == 2
    assert names["groundtrail_retention_done_total"] == 2
    assert names["groundtrail_retention_active"] == 1


async def test_of_two_processes_one_sweeps_and_the_other_takes_over_from_one_that_died(world):
    other = world.beside()
    name = await world.create()
    assert not await world.sweep.turn()
    world.clock.moment += timedelta(hours=2)
    await other.walk()
    assert await world.status(name) is SessionStatus.EXPIRED  # the claim of the first ran out meanwhile
    world.clock.moment += timedelta(days=2)
    await other.walk()
    await world.walk()
    assert (world.metrics.sweeping, other.metrics.sweeping) == (False, True)
    assert not world.metrics.done


async def test_what_fails_stays_due_and_stands_in_nobodys_way(world):
    names = [await world.create() for _ in range(3)]
    record = world.store._sessions["tenant-a", names[0]].record
    world.store._sessions["tenant-a", names[0]].record = replace(record, key_version=7)
    world.clock.moment += timedelta(hours=2)
    await world.walk()
    assert [await world.status(name) for name in names] == [SessionStatus.OPEN] + [SessionStatus.EXPIRED] * 2
    assert dict(world.metrics.failed) == {Stage.EXPIRE: 1}


async def test_a_tenant_whose_rules_are_unknown_is_passed_over(world):
    mine, theirs = await world.create(), await world.create(MALLORY)
    new = NewRules(OwnRules(legal_hold=True), "x")
    await world.app.registers.set(ALICE, new, RequestKey("SetRetention", fresh_uuid(), "h", lambda _: b""))
    for (tenant, name), held in world.store._sessions.items():
        if tenant == "tenant-a" and name != mine:
            held.events[-1] = replace(held.events[-1], data="{}")
    world.clock.moment += timedelta(hours=2)
    await world.walk()
    assert world.metrics.unknown_rules == 1
    assert await world.status(mine) is SessionStatus.OPEN
    assert await world.status(theirs, "tenant-m") is SessionStatus.EXPIRED


async def test_a_session_that_cannot_be_read_stands_in_nobodys_way(world):
    names = [await world.create() for _ in range(3)]
    world.store._sessions["tenant-a", names[0]].events[0] = None
    world.clock.moment += timedelta(hours=2)
    await world.walk()
    assert [await world.status(name) for name in names[1:]] == [SessionStatus.EXPIRED] * 2
    assert dict(world.metrics.failed) == {Stage.EXPIRE: 1}


async def test_a_hold_that_was_set_a_moment_ago_counts(world):
    """Rules are remembered for 10 seconds, but not where something is taken away."""
    name = await world.create()
    world.clock.moment += timedelta(hours=2)
    await world.walk()
    world.clock.moment += timedelta(days=2)
    await world.app.registers.rules("tenant-a")
    other = world.beside()
    new = NewRules(OwnRules(legal_hold=True), "x")
    await other.app.registers.set(ALICE, new, RequestKey("SetRetention", fresh_uuid(), "h", lambda _: b"x"))
    await world.walk()
    assert await world.status(name) is SessionStatus.EXPIRED


class Failing:
    """A store that fails for a while."""

    def __init__(self, store):
        self._store = store
        self.failing = False

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def write(self, change):
        if self.failing:
            raise UnavailableError(ErrorReason.STORE_UNAVAILABLE, "away")
        await self._store.write(change)


async def test_a_store_that_is_away_for_a_while_loses_nothing():
    store = Failing(LoggedMemoryStore())
    world = World(store=store)
    name = await world.create()
    world.clock.moment += timedelta(hours=2)
    store.failing = True
    await world.walk()
    assert dict(world.metrics.failed) == {Stage.EXPIRE: 1}
    store.failing = False
    await world.walk()
    assert await world.status(name) is SessionStatus.EXPIRED


async def test_it_sweeps_by_itself_and_stops_at_once():
    world = World(settings=RULES.model_copy(update={"sweep_interval_s": 0.01}))
    name = await world.create()
    world.clock.moment += timedelta(hours=2)
    world.sweep.start()
    for _ in range(500):
        if await world.status(name) is SessionStatus.EXPIRED:
            break
        await asyncio.sleep(0.01)
    assert await world.status(name) is SessionStatus.EXPIRED
    async with asyncio.timeout(patient(5)):
        await world.sweep.close()
    assert await world.store.event_feed().claim("retention-sweep", "next", world.clock.now(), world.clock.now())
    await world.sweep.close()


async def test_an_interval_of_0_is_no_sweep():
    world = World(settings=RULES.model_copy(update={"sweep_interval_s": 0.0}))
    world.sweep.start()
    assert world.sweep._task is None
    await world.sweep.close()
