"""The built wheel alone, in an empty environment outside the checkout, gives the whole system."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.processes import ROOT

UV = Path(sys.executable).with_name("uv")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]


def run(*arguments: str, cwd: Path, env: dict[str, str], timeout_s: float = 300) -> subprocess.CompletedProcess:
    done = subprocess.run(arguments, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("wheel")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GROUNDTRAIL_", "PYTHON", "VIRTUAL_ENV"))}
    run(str(UV), "build", "--wheel", "--out-dir", str(folder / "dist"), str(ROOT), cwd=folder, env=env)
    (wheel,) = (folder / "dist").glob("*.whl")
    python = folder / "venv" / "bin" / "python"
    run(str(UV), "venv", "--python", sys.executable, str(folder / "venv"), cwd=folder, env=env)
    lock = str(ROOT / "requirements.lock")
    run(str(UV), "pip", "install", "--python", str(python), "--require-hashes", "-r", lock, cwd=folder, env=env)
    run(str(UV), "pip", "install", "--python", str(python), "--no-deps", str(wheel), cwd=folder, env=env)
    (folder / "empty").mkdir()
    return folder, env


def test_demo_runs_outside_the_checkout(installed):
    folder, env = installed
    done = run(str(folder / "venv" / "bin" / "groundtrail"), "demo", "--json", cwd=folder / "empty", env=env)
    seen = json.loads(done.stdout)
    assert seen["chain"]["integrity"] == "CHAIN_INTEGRITY_VALID"
    assert seen["chain"]["windows_verified"] == 2
    assert [bool(answer["answer"]["text"]) for answer in seen["answers"]] == [True, True]


def test_nothing_is_imported_from_the_checkout(installed):
    folder, env = installed
    code = "import services, crp, ercp; print(services.__file__, crp.__file__, ercp.__file__)"
    done = run(str(folder / "venv" / "bin" / "python"), "-c", code, cwd=folder / "empty", env=env)
    assert str(ROOT) not in done.stdout
