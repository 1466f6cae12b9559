"""The built wheel alone, in an empty environment outside the checkout, gives the whole system."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from services.common.build_manifest import SignedManifest, SigningKey, installed_roots, tree_digests
from tests.e2e.processes import ROOT
from tools import build_manifest

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


def test_a_signed_wheel_has_the_digest_of_the_checkout_it_was_built_from(installed, tmp_path):
    folder, _ = installed
    (built,) = (folder / "dist").glob("*.whl")
    wheel, key = tmp_path / built.name, tmp_path / "key"
    shutil.copy(built, wheel)
    assert build_manifest.main(["--new-key", str(key)]) == 0
    assert build_manifest.main([str(wheel), "--sign-with", str(key)]) == 0
    public = SigningKey.parse(key.read_text()).public_key
    assert build_manifest.main([str(wheel), "--verify", public]) == 0
    with zipfile.ZipFile(wheel) as held:
        signed = SignedManifest.model_validate_json(held.read("services/_resources/BUILD.json"))
    assert signed.manifest.files == tree_digests(installed_roots())


def test_an_altered_installation_of_a_signed_wheel_does_not_start(installed, tmp_path):
    folder, env = installed
    (built,) = (folder / "dist").glob("*.whl")
    wheel, key = tmp_path / built.name, tmp_path / "key"
    shutil.copy(built, wheel)
    build_manifest.main(["--new-key", str(key)])
    build_manifest.main([str(wheel), "--sign-with", str(key)])
    python, trusting = (
        folder / "venv" / "bin" / "python",
        env | {"GROUNDTRAIL_INTEGRITY__PUBLIC_KEY": SigningKey.parse(key.read_text()).public_key},
    )
    run(str(UV), "pip", "install", "--python", str(python), "--no-deps", "--reinstall", str(wheel), cwd=folder, env=env)
    command = (str(folder / "venv" / "bin" / "groundtrail"), "build-info", "--json")
    assert json.loads(run(*command, cwd=folder / "empty", env=trusting).stdout)["trust"] == "SIGNED"
    (module,) = folder.glob("venv/lib/python*/site-packages/services/dpe/domain/risk.py")
    module.write_text(module.read_text() + "\n")
    done = subprocess.run(command, cwd=folder / "empty", env=trusting, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "services/dpe/domain/risk.py was changed" in json.loads(done.stdout)["problem"]
