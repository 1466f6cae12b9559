"""A master key is given out once the records bear it out; a wrong or a lost one stops the start and says so."""

from dataclasses import replace

import pytest
import structlog

from services.common.errors import ErrorReason, UnavailableError, UnreadableRecordError
from services.common.settings import SettingsError
from services.common.settings.dag import DagSettings
from services.dag.domain.keys import MasterKey, key_check
from services.dag.master_keys import FixedMasterKeys, KnownMasterKeys, add_key, usable_master_keys
from tests.fakes.dag_world import MASTER, TurnedClock, World

OTHER = MasterKey(1, bytes(range(100, 132)))
SECOND = MasterKey(2, bytes(range(50, 82)))


@pytest.fixture
async def world():
    """A store with a session, of which nothing says which key made it: as it was before ADR 0220."""
    world = World()
    async with world.serving() as client:
        await client.window()
    assert await world.store.key_checks() == {}
    return world


def known(store, *keys):
    return KnownMasterKeys(FixedMasterKeys({key.version: key for key in keys}), store)


async def refusal(work):
    with pytest.raises(UnavailableError) as caught:
        await work
    assert caught.value.reason is ErrorReason.MASTER_KEY_MISMATCH
    return caught.value


async def test_the_first_good_start_keeps_the_check(world):
    assert await known(world.store, MASTER).current() == MASTER
    assert await world.store.key_checks() == {1: key_check(MASTER)}


async def test_another_key_is_refused_by_the_records_where_nothing_is_kept(world):
    error = await refusal(known(world.store, OTHER).current())
    assert "another master key version 1" in error.message
    assert error.metadata == {"key_version": "1"}
    assert await world.store.key_checks() == {}


async def test_another_key_is_refused_by_what_was_kept_before_there_is_a_session():
    empty = World()
    await known(empty.store, MASTER).current()
    await refusal(known(empty.store, OTHER).current())
    await refusal(known(empty.store, OTHER).find(1))


async def test_the_check_is_that_of_the_record_and_says_nothing_of_the_key():
    assert key_check(MASTER).hex() == "f8ba226d93e6bc310d4b56b1e41156da897bdcb29143584d5941eb64a2aee7a2"
    assert MASTER.secret[:4] not in key_check(MASTER)
    assert key_check(MASTER) != key_check(replace(OTHER, version=1))


async def test_a_rotation_goes_on_and_keeps_both(world):
    await known(world.store, MASTER).check()
    rotated = known(world.store, MASTER, SECOND)
    await rotated.check()
    assert (await rotated.current(), await rotated.find(1)) == (SECOND, MASTER)
    assert sorted(await world.store.key_checks()) == [1, 2]


async def test_an_older_key_alone_does_not_sign_after_a_rotation(world):
    await known(world.store, MASTER, SECOND).check()
    error = await refusal(known(world.store, MASTER).check())
    assert "master key version 2 was in use" in error.message
    await known(world.store, SECOND).check()  # an old one may be gone: its sessions alone say so


async def test_a_wrong_previous_key_stops_the_start(world):
    await known(world.store, MASTER).check()
    await refusal(known(world.store, OTHER, SECOND).check())


async def test_one_changed_record_refuses_nobody_and_is_logged(world):
    async with world.serving() as client:
        other = await client.window()
    held = world.held(other.window.session_id)
    held.events[0] = replace(held.events[0], hmac="0" * 64)
    with structlog.testing.capture_logs() as logs:
        assert await known(world.store, MASTER).current() == MASTER
    assert [line["records"] for line in logs] == [1]
    assert await world.store.key_checks() == {}


async def test_a_key_that_changes_while_the_service_runs_is_refused(world):
    held = FixedMasterKeys({1: MASTER})
    keys = KnownMasterKeys(held, world.store)
    await keys.check()
    held._current = OTHER
    await refusal(keys.current())


async def test_no_first_key_is_made_over_sessions(world, tmp_path):
    error = await refusal(usable_master_keys(DagSettings(), tmp_path, TurnedClock(), world.store))
    assert "not here" in error.message
    assert list(tmp_path.iterdir()) == []
    settings = DagSettings(create_master_key=False)
    with pytest.raises(SettingsError):
        await usable_master_keys(settings, tmp_path, TurnedClock(), world.store)


async def test_a_key_file_of_another_installation_is_refused(world, tmp_path):
    add_key(tmp_path / "keys")
    await refusal(usable_master_keys(DagSettings(), tmp_path, TurnedClock(), world.store))


async def test_an_empty_store_gets_its_first_key(tmp_path):
    store = World().store
    keys = await usable_master_keys(DagSettings(), tmp_path, TurnedClock(), store)
    assert await store.key_checks() == {1: key_check(await keys.current())}


async def test_of_an_older_key_that_no_record_tells_of_nothing_is_kept(world):
    await known(world.store, OTHER.__class__(2, SECOND.secret), OTHER.__class__(3, MASTER.secret)).check()
    empty = World().store
    third = MasterKey(3, MASTER.secret)
    wrong = known(empty, OTHER, third)
    await wrong.check()
    assert await wrong.find(1) == OTHER
    assert sorted(await empty.key_checks()) == [3]
    assert await known(empty, MASTER, third).find(1) == MASTER


@pytest.mark.parametrize("read", ["log_state", "snapshot"])
async def test_damaged_records_tell_nothing_and_mistakes_of_a_store_are_told(world, monkeypatch, read):
    async def unreadable(*_):
        raise UnreadableRecordError("session", "s", "cannot be read")

    async def mistaken(*_):
        raise AttributeError("no such name")

    monkeypatch.setattr(world.store, read, mistaken)
    with pytest.raises(AttributeError):
        await known(world.store, MASTER).current()
    monkeypatch.setattr(world.store, read, unreadable)
    assert await known(world.store, MASTER).current() == MASTER


async def test_who_comes_second_with_another_key_is_refused(monkeypatch):
    store = World().store
    first = store.key_checks

    async def before_the_other():
        checks = await first()
        if not checks:
            await store.keep_key_check(1, key_check(OTHER))
        return checks

    monkeypatch.setattr(store, "key_checks", before_the_other)
    await refusal(known(store, MASTER).current())


async def test_sessions_sealed_by_a_version_that_is_gone_refuse_nobody(world):
    await known(world.store, MASTER).check()
    await known(world.store, SECOND).check()
    assert await known(world.store, SECOND).current() == SECOND
