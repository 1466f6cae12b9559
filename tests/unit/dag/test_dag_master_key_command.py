"""Master keys from a command: a real program is run, and whatever it does wrong is told without showing its output."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.errors import ErrorReason, StartupError, UnavailableError
from services.common.settings.dag import DagSettings
from services.dag.master_keys import CommandMasterKeys, open_master_keys, usable_master_keys
from tests.fakes.dag_world import TurnedClock
from tests.patience import patient
from tests.unit.dag.test_dag_master_keys import KEY_1, KEY_2, ROTATED, Ticks

PROGRAM = """
import json, pathlib, sys
state = pathlib.Path(sys.argv[1])
with (state / "asked").open("a") as asked:
    asked.write(" ".join(sys.argv[2:]) + "\\n")
held = json.loads((state / "keys.json").read_text())
version = held["current"] if sys.argv[2] == "current" else int(sys.argv[3])
answer = held["keys"].get(str(version))
if answer is None:
    sys.exit(3)
print(json.dumps(answer | {"version": version}) if isinstance(answer, dict) else answer)
"""


class KeySystem:
    """A key management system of one file, and the command that asks it."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "ask.py").write_text(PROGRAM)
        self.command = (sys.executable, str(folder / "ask.py"), str(folder))
        self.hold(1, {"1": {"key": KEY_1}})

    def hold(self, current, keys):
        (self.folder / "keys.json").write_text(json.dumps({"current": current, "keys": keys}))

    def fail(self):
        (self.folder / "keys.json").write_text(KEY_1)

    def asked(self):
        return (self.folder / "asked").read_text().split("\n")[:-1]

    def rotate(self):
        retired = {"key": KEY_1, "retired_at": "2026-05-01T00:00:00.000000Z"}
        self.hold(2, {"1": retired, "2": {"key": KEY_2, "retired_at": None}})


@pytest.fixture
def system(tmp_path):
    return KeySystem(tmp_path)


@pytest.fixture
def ticks():
    return Ticks()


async def test_the_command_gives_the_signing_key_and_is_asked_once_a_minute(system, ticks):
    keys = CommandMasterKeys(system.command, ticks)
    found = await keys.current()
    assert (found.version, found.secret.hex(), found.retired_at) == (1, KEY_1, None)
    ticks.now = 59.9
    assert await keys.current() is await keys.find(1) is found
    assert system.asked() == ["current"]
    ticks.now = 60
    await keys.current()
    assert system.asked() == ["current", "current"]


async def test_a_rotation_is_seen_when_a_token_names_the_new_version(system, ticks):
    keys = CommandMasterKeys(system.command, ticks)
    await keys.current()
    system.rotate()
    ticks.now = 1
    assert (await keys.find(2)).secret.hex() == KEY_2
    old = await keys.find(1)
    assert (old.secret.hex(), old.retired_at) == (KEY_1, ROTATED)
    assert (await keys.current()).version == 2


async def test_made_up_versions_cost_one_question_a_second(system, ticks):
    keys = CommandMasterKeys(system.command, ticks)
    await keys.current()
    ticks.now = 1
    for version in (2, 3, 10**9, 0, -1):
        assert await keys.find(version) is None
    assert system.asked() == ["current", "current"]


async def test_a_version_that_the_system_does_not_know(system, ticks):
    system.hold(3, {"3": {"key": KEY_2}})
    keys = CommandMasterKeys(system.command, ticks)
    assert await keys.find(1) is None
    assert await keys.find(1) is None
    assert system.asked() == ["current", "get 1"]


async def test_an_outage_leaves_the_keys_that_are_held(system, ticks):
    system.rotate()
    keys = CommandMasterKeys(system.command, ticks)
    held = await keys.current(), await keys.find(1)
    system.fail()
    ticks.now = 3600
    assert (await keys.current(), await keys.find(1)) == held
    assert len(system.asked()) == 4


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(KEY_1, id="the bare key"),
        pytest.param(json.dumps([KEY_1]), id="a list"),
        pytest.param({"key": KEY_1[:-2]}, id="a short key"),
        pytest.param({"key": 7}, id="a number for a key"),
        pytest.param({"key": KEY_1, "retired_at": "yesterday"}, id="a moment that is none"),
        pytest.param({"retired_at": None}, id="no key"),
        pytest.param({"key": KEY_1, "note": "x" * 5_000}, id="an answer too long"),
    ],
)
async def test_an_answer_of_another_form_is_not_shown(system, answer, capfd):
    system.hold(1, {"1": answer})
    with pytest.raises(UnavailableError) as caught:
        await CommandMasterKeys(system.command).current()
    assert caught.value.reason is ErrorReason.SERVICE_UNAVAILABLE
    assert KEY_1[:-2] not in "".join([str(caught.value), repr(caught.value.metadata), *capfd.readouterr()])
    assert caught.value.__cause__ is None


async def test_another_version_than_was_asked_for(system):
    script = system.folder / "ask.py"
    keys = CommandMasterKeys(system.command)
    system.rotate()
    await keys.current()
    script.write_text(PROGRAM.replace('"version": version', '"version": 7'))
    with pytest.raises(UnavailableError, match="another version than it was asked for"):
        await keys.find(1)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param(("/nowhere/kms",), "cannot be started", id="no such program"),
        pytest.param((sys.executable, "-c", "import sys; sys.exit(9)"), "exit status 9", id="it fails"),
        pytest.param((sys.executable, "-c", "import sys; sys.exit(3)"), "no current version", id="it has none"),
    ],
)
async def test_a_command_that_fails_stops_the_start(tmp_path, command, said):
    with pytest.raises(StartupError, match=said):
        await usable_master_keys(DagSettings(master_key_command=command), tmp_path, TurnedClock(), MemorySessionStore())


async def test_a_command_that_hangs_is_killed(tmp_path):
    code = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    keys = CommandMasterKeys((sys.executable, "-c", code), timeout_s=2.0)
    with pytest.raises(UnavailableError, match="did not answer within 2 s"):
        await keys.current()
    import os

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_the_settings_name_the_command(system, tmp_path):
    keys = open_master_keys(DagSettings(master_key_command=system.command), tmp_path / "data")
    assert (await keys.current()).secret.hex() == KEY_1
    assert not (tmp_path / "data").exists()


@pytest.fixture
def wrapped(tmp_path):
    """The script of the operations page over two keys that openssl encrypted."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "operations.md").read_text(encoding="utf-8")
    example = page.split("```sh\n")[1].split("```")[0]
    wrapping, script = tmp_path / "wrapping", tmp_path / "unwrap.sh"
    wrapping.write_text("a passphrase\n")
    script.write_text(
        example.replace("/etc/groundtrail/wrapped", str(tmp_path)).replace("/run/secrets/wrapping", str(wrapping))
    )
    script.chmod(0o700)
    for version, key in (("1", KEY_1), ("2", KEY_2)):
        wrap = [
            "openssl",
            "enc",
            "-aes-256-cbc",
            "-pbkdf2",
            "-pass",
            f"file:{wrapping}",
            "-out",
            str(tmp_path / version),
        ]
        subprocess.run(wrap, input=key.encode(), check=True, timeout=patient(30))
    (tmp_path / "current").write_text("2\n")
    (tmp_path / "1.retired").write_text("2026-05-01T00:00:00.000000Z\n")
    return (str(script),)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="install openssl to run the example of docs/operations.md")
async def test_the_example_of_the_operations_page_unwraps_keys(wrapped, tmp_path):
    keys = CommandMasterKeys(wrapped)
    current, old = await keys.current(), await keys.find(1)
    assert (current.version, current.secret.hex(), current.retired_at) == (2, KEY_2, None)
    assert (old.version, old.secret.hex(), old.retired_at) == (1, KEY_1, ROTATED)
    (tmp_path / "1").unlink()
    assert await CommandMasterKeys(wrapped).find(1) is None
