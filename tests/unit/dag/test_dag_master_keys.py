"""Where master keys come from, who may read them, and that nobody else ever sees them."""

import json
import os
import stat
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from services.common.settings import SettingsError
from services.common.settings.dag import DagSettings
from services.dag.master_keys import FixedMasterKeys, open_master_keys
from tests.fakes.dag_world import MASTER, World

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
    from services.dag import master_keys

    real, seen = master_keys._files, []

    def late(folder):
        found = real(folder)
        if not seen:
            seen.append(1)
            write(folder.parent / "keys", 1, KEY_1)
        return found

    (tmp_path / "keys").mkdir()
    monkeypatch.setattr(master_keys, "_files", late)
    assert (await open_master_keys(DagSettings(), tmp_path).current()).secret.hex() == KEY_1
    assert [found.name for found in (tmp_path / "keys").iterdir()] == ["master-1.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_key_that_others_can_reach_is_refused(tmp_path, mode):
    path = write(tmp_path, 1, KEY_1, mode)
    with pytest.raises(SettingsError) as caught:
        open_master_keys(DagSettings(master_key_dir=tmp_path), tmp_path)
    assert f"chmod 600 {path}" in str(caught.value)
    assert KEY_1 not in str(caught.value)


@pytest.mark.parametrize("text", ["", "11" * 31, "11" * 33, "zz" * 32])
def test_a_malformed_key_is_refused(tmp_path, text):
    write(tmp_path, 1, text)
    with pytest.raises(SettingsError, match="64 hex digits"):
        open_master_keys(DagSettings(master_key_dir=tmp_path), tmp_path)


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


async def test_no_key_is_ever_shown(capfd, tmp_path):
    """Neither logs nor answers nor reprs hold the master key or the session keys derived from it."""
    from services.dag.domain import keys as derive

    settings = DagSettings(master_key=KEY_2)
    world = World(keys=FixedMasterKeys({1: MASTER}))
    answers = []
    async with world.serving() as client:
        first = await client.window()
        answers.append(str(first))
        answers.append(str(await client.window(first.session_token)))
        world.tamper(first.session.session_id, first.window.window_id, response_text="changed")
        refusal = await client.fails("OpenWindow", _open(first.session_token))
        answers.append(str(refusal))
    shown = "".join([*capfd.readouterr(), *answers, repr(world), repr(settings), settings.model_dump_json()])
    secrets = [
        MASTER.secret,
        derive.session_hmac_key(MASTER, first.session.session_id),
        derive.session_sign_key(MASTER, first.session.session_id),
    ]
    for secret in secrets:
        assert secret.hex() not in shown
        assert repr(secret) not in shown
    assert KEY_2 not in shown
    assert "rpc" in shown
    events = json.dumps([event.data for event in world.held(first.session.session_id).events])
    assert not any(secret.hex() in events for secret in secrets)


def _open(token):
    from crp.dag.v1 import session_service_pb2 as pb

    from tests.fakes.dag_world import fresh_uuid

    return pb.OpenWindowRequest(request_id=fresh_uuid(), session_token=token, available_budget_tokens=10)
