"""Where master keys come from, who may read them, and that nobody else ever sees them."""

import os
import stat
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from services.common.settings import SettingsError
from services.common.settings.dag import DagSettings
from services.dag.master_keys import FolderMasterKeys, add_key, open_master_keys
from tests.fakes.dag_world import TurnedClock

KEY_1, KEY_2 = "11" * 32, "22" * 32
ROTATED = datetime(2026, 5, 1, tzinfo=UTC)


def write(folder, version, text, mode=0o600):
    path = folder / f"master-{version}.key"
    path.write_text(text)
    path.chmod(mode)
    return path


async def test_the_first_start_creates_a_key_that_only_its_owner_reads(tmp_path):
    keys = open_master_keys(DagSettings(), tmp_path)
    path = tmp_path / "keys" / "master-1.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert (await keys.current()).secret == bytes.fromhex(path.read_text().strip())
    assert len((await keys.current()).secret) == 32
    assert [found.name for found in path.parent.iterdir()] == ["master-1.key"]


async def test_the_next_start_takes_the_same_key(tmp_path):
    first = await open_master_keys(DagSettings(), tmp_path).current()
    again = await open_master_keys(DagSettings(), tmp_path).current()
    assert (again.version, again.secret) == (1, first.secret)
    other = await open_master_keys(DagSettings(), tmp_path / "other").current()
    assert other.secret != first.secret


async def test_the_first_of_two_starts_at_once_wins(tmp_path, monkeypatch):
    """The other process's key appears between our look and our write."""
    from services.dag import master_keys

    real = master_keys.add_key

    def late(folder, **how):
        folder.mkdir()
        write(folder, 1, KEY_1)
        return real(folder, **how)

    monkeypatch.setattr(master_keys, "add_key", late)
    assert (await open_master_keys(DagSettings(), tmp_path).current()).secret.hex() == KEY_1
    assert [found.name for found in (tmp_path / "keys").iterdir()] == ["master-1.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_key_that_others_can_reach_is_refused(tmp_path, mode):
    path = write(tmp_path, 1, KEY_1, mode)
    with pytest.raises(SettingsError) as caught:
        open_master_keys(DagSettings(master_key_dir=tmp_path), tmp_path)
    assert f"chmod 600 {path}" in str(caught.value)
    assert KEY_1 not in str(caught.value)


@pytest.mark.parametrize("text", ["", "11" * 31, "11" * 33, "zz" * 32, "11 " * 32, KEY_1 + "\n" + KEY_2])
def test_a_malformed_key_is_refused(tmp_path, text):
    write(tmp_path, 1, text)
    with pytest.raises(SettingsError, match=r"64 hex digits|nothing after its key") as caught:
        open_master_keys(DagSettings(master_key_dir=tmp_path), tmp_path)
    assert not any(secret in str(caught.value) for secret in (KEY_1, KEY_2))


def test_no_key_and_no_leave_to_create_one(tmp_path):
    with pytest.raises(SettingsError, match="GROUNDTRAIL_DAG__MASTER_KEY"):
        open_master_keys(DagSettings(create_master_key=False), tmp_path)
    assert not (tmp_path / "keys").exists()


async def test_rotation_by_files(tmp_path):
    write(tmp_path, 1, KEY_1)
    newer = write(tmp_path, 2, KEY_2)
    os.utime(newer, (ROTATED.timestamp(), ROTATED.timestamp()))
    (tmp_path / "notes.txt").write_text("not a key")
    keys = open_master_keys(DagSettings(master_key_dir=tmp_path), tmp_path)
    current, old = await keys.current(), await keys.find(1)
    assert (current.version, current.secret.hex(), current.retired_at) == (2, KEY_2, None)
    assert (old.secret.hex(), old.retired_at) == (KEY_1, ROTATED)
    assert await keys.find(3) is None


async def test_keys_from_settings(tmp_path):
    settings = DagSettings(
        master_key=KEY_2, master_key_version=2, previous_master_keys={1: KEY_1}, master_key_rotated_at=ROTATED
    )
    keys = open_master_keys(settings, tmp_path)
    current, old = await keys.current(), await keys.find(1)
    assert (current.version, current.secret.hex(), current.retired_at) == (2, KEY_2, None)
    assert (old.secret.hex(), old.retired_at) == (KEY_1, ROTATED)
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"previous_master_keys": {1: KEY_1}}, id="previous without current"),
        pytest.param({"master_key_rotated_at": ROTATED}, id="rotation without key"),
        pytest.param({"master_key": KEY_1, "master_key_dir": "/keys"}, id="both sources"),
        pytest.param({"master_key_command": ["kms"], "master_key_dir": "/keys"}, id="command and folder"),
        pytest.param({"master_key_command": ["kms"], "master_key": KEY_1}, id="command and key"),
        pytest.param({"master_key": KEY_2, "master_key_version": 2, "previous_master_keys": {1: KEY_1}}, id="no time"),
        pytest.param(
            {"master_key": KEY_2, "previous_master_keys": {1: KEY_1}, "master_key_rotated_at": ROTATED},
            id="the same version twice",
        ),
        pytest.param({"max_windows": 0}, id="no windows"),
        pytest.param({"budget_profile": "none"}, id="unknown profile"),
        pytest.param({"unknown": 1}, id="unknown field"),
    ],
)
def test_settings_that_contradict_themselves(given):
    with pytest.raises(ValidationError):
        DagSettings(**given)


class Ticks:
    """Seconds that tests count."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def ticks():
    return Ticks()


async def test_a_key_that_is_added_is_taken_up_within_a_second(tmp_path, ticks):
    add_key(tmp_path)
    keys = FolderMasterKeys(tmp_path, TurnedClock(), ticks)
    assert add_key(tmp_path) == 2
    ticks.now = 0.9
    assert (await keys.current()).version == 1
    ticks.now = 1.0
    assert (await keys.current()).version == 2
    assert (await keys.find(1)).retired_at is not None


async def test_a_key_that_a_token_names_is_taken_up_at_once(tmp_path, ticks):
    add_key(tmp_path)
    keys = FolderMasterKeys(tmp_path, TurnedClock(), ticks)
    assert await keys.find(2) is None
    add_key(tmp_path)
    assert (await keys.find(2)).version == 2


async def test_a_key_signs_from_its_moment_and_is_known_before(tmp_path, ticks):
    """Instances that share no folder are given the key first and switch over together."""
    clock = TurnedClock()
    write(tmp_path, 1, KEY_1)
    switch = clock.moment + timedelta(minutes=5)
    add_key(tmp_path, signs_from=switch)
    keys = FolderMasterKeys(tmp_path, clock, ticks)
    old, new = await keys.current(), await keys.find(2)
    assert (old.version, old.retired_at, new.version, new.retired_at) == (1, switch, 2, None)
    assert old.signs_at(clock.now(), timedelta(hours=1))
    clock.moment = switch
    assert (await keys.current()).version == 2
    assert old.signs_at(switch + timedelta(minutes=59), timedelta(hours=1))
    assert not old.signs_at(switch + timedelta(hours=1), timedelta(hours=1))


async def test_a_moment_in_the_file_outlives_a_restored_backup(tmp_path):
    """A copy has a fresh time of change; it must not bring a retired key back to life."""
    write(tmp_path, 1, KEY_1)
    path = write(tmp_path, 2, f"{KEY_2}\nsigns_from 2026-05-01T00:00:00.000000Z\n")
    os.utime(path)
    keys = open_master_keys(DagSettings(master_key_dir=tmp_path), tmp_path)
    assert (await keys.find(1)).retired_at == ROTATED


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda folder: write(folder, 2, "zz"), id="a malformed key is added"),
        pytest.param(lambda folder: write(folder, 2, KEY_2, 0o644), id="a key that others can read is added"),
        pytest.param(lambda folder: (folder / "master-1.key").unlink(), id="the last key is gone"),
    ],
)
async def test_damage_while_serving_leaves_the_keys_that_are_held(tmp_path, ticks, damage, capfd):
    write(tmp_path, 1, KEY_1)
    keys = FolderMasterKeys(tmp_path, TurnedClock(), ticks)
    damage(tmp_path)
    ticks.now = 5
    assert (await keys.current()).secret.hex() == KEY_1
    assert (await keys.find(1)).secret.hex() == KEY_1
    shown = "".join(capfd.readouterr())
    assert "the ones held go on" in shown
    assert not any(secret in shown for secret in (KEY_1, KEY_2))


async def test_a_key_is_written_whole_for_its_owner_alone(tmp_path):
    folder = tmp_path / "keys"
    assert [add_key(folder), add_key(folder), add_key(folder)] == [1, 2, 3]
    assert sorted(found.name for found in folder.iterdir()) == ["master-1.key", "master-2.key", "master-3.key"]
    assert {stat.S_IMODE(found.stat().st_mode) for found in folder.iterdir()} == {0o600}
    assert len({found.read_text() for found in folder.iterdir()}) == 3
    assert all(len(bytes.fromhex(found.read_text().strip())) == 32 for found in folder.iterdir())


def test_two_rotations_at_once_make_one_key(tmp_path, monkeypatch):
    from services.dag.master_keys import folder as module

    real = module._paths
    monkeypatch.setattr(module, "_paths", lambda folder: {v: p for v, p in real(folder).items() if v < 2})
    add_key(tmp_path)
    add_key(tmp_path)
    kept = (tmp_path / "master-2.key").read_text()
    with pytest.raises(SettingsError, match=r"master-2\.key was added by another process"):
        add_key(tmp_path)
    assert (tmp_path / "master-2.key").read_text() == kept
    assert len(list(tmp_path.iterdir())) == 2
