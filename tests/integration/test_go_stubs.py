"""`buf generate` in a fresh checkout, and Go compiles what it makes, with the program of the how-to (ADR 0137)."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "GROUNDTRAIL_TEST_GO"
PAGE = ROOT / "docs/how-to/call-from-another-language.md"
BUF = Path(sys.executable).with_name("buf")
PLUGINS = (
    "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.6",
    "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.5.1",
)
pytestmark = [pytest.mark.needs_go, pytest.mark.timeout(900)]


@pytest.fixture
def go():
    path = os.environ.get(VARIABLE, "")
    if not path:
        pytest.skip(f"set {VARIABLE} to the path of the go program; it needs the module proxy")
    return path


def run(*command: str, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=840, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


def test_go_compiles_what_a_fresh_checkout_generates(go, tmp_path):
    clone, bin_folder = tmp_path / "clone", tmp_path / "bin"
    tracked = run("git", "ls-files", "proto", "third_party", "buf.yaml", "buf.gen.yaml", cwd=ROOT, env=dict(os.environ))
    for name in tracked.splitlines():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    env = {**os.environ, "GOBIN": str(bin_folder), "GOFLAGS": "-mod=mod", "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    for plugin in PLUGINS:
        run(go, "install", plugin, cwd=tmp_path, env=env)
    run(str(BUF), "generate", cwd=clone, env=env)
    module = clone / ".cache" / "go"
    (program,) = re.findall(r"^```go\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (module / "example").mkdir()
    (module / "example" / "main.go").write_text(program)
    run(go, "mod", "init", "groundtrail", cwd=module, env=env)
    run(go, "mod", "tidy", cwd=module, env=env)
    run(go, "build", "./...", cwd=module, env=env)
    packages = run(go, "list", "./...", cwd=module, env=env).split()
    assert {"groundtrail/crp/dpe/v1", "groundtrail/ercp/v1", "groundtrail/example"} <= set(packages)
    assert len(packages) == 8
