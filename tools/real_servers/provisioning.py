"""Installs a server's pinned packages into a cache folder of its own, once.

The folder's name follows from the pins and the Python version, so that another recipe never finds a half-right
installation, and a marker is written last, so that an interrupted one is begun anew.
"""

import fcntl
import hashlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = ROOT / ".cache" / "real-servers"
LOCKS: Final = Path(__file__).resolve().parent
MARKER: Final = "complete"
INSTALL_DEADLINE_S: Final = 900


class RealServerError(RuntimeError):
    """A server cannot be provisioned or started; the message says why, and what to do."""


def supported() -> str | None:
    """Return why the recipes do not fit this machine, or ``None`` when they do: they are for Linux on x86-64."""
    found = f"{platform.system()} on {platform.machine()}"
    return None if found == "Linux on x86_64" else f"the recipes are for Linux on x86_64, this is {found}"


def provisioned(name: str, lock: str, build: Callable[[Path, Path], None]) -> Path:
    """Return the folder of an installation, made now unless it is there.

    Args:
        name: first part of the folder's name.
        lock: file of pinned requirements beside this module; decides the folder's name.
        build: gets the empty folder and the path of the lock file.

    Raises:
        RealServerError: it cannot be installed.
    """
    reason = supported()
    if reason:
        raise RealServerError(reason)
    pins, folder = LOCKS / lock, _folder(name, lock)
    CACHE.mkdir(parents=True, exist_ok=True)
    with _locked(CACHE / f"{name}.lock"):
        if not (folder / MARKER).exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(folder, pins)
            (folder / MARKER).touch()
    return folder


def placed(name: str, lock: str) -> Path | None:
    """Return the folder of an installation that was made before, ``None`` where there is none."""
    folder = _folder(name, lock)
    return folder if (folder / MARKER).exists() else None


def _folder(name: str, lock: str) -> Path:
    key = hashlib.sha256((LOCKS / lock).read_bytes() + platform.python_version().encode()).hexdigest()[:12]
    return CACHE / f"{name}-{key}"


def virtual_environment(folder: Path, pins: Path) -> None:
    """Make a virtual environment in ``folder`` with exactly the pinned packages, through pip's configured index."""
    run_installer([sys.executable, "-m", "venv", str(folder)])
    run_installer([str(folder / "bin/python"), "-m", "pip", "install", *_PINNED, "--requirement", str(pins)])


def download(folder: Path, pins: Path) -> None:
    """Download the pinned wheels into ``folder`` without installing them."""
    run_installer(
        [sys.executable, "-m", "pip", "download", *_PINNED, "--dest", str(folder), "--requirement", str(pins)],
    )


_PINNED: Final = ("--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes")


def run_installer(command: list[str], deadline_s: int = INSTALL_DEADLINE_S) -> None:
    """Run a program that installs something.

    Raises:
        RealServerError: it failed, with the end of what it said, or took too long.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=deadline_s, check=False)
    except subprocess.TimeoutExpired:
        raise RealServerError(f"{' '.join(command)} took more than {deadline_s} s") from None
    if done.returncode != 0:
        raise RealServerError(f"{' '.join(command)} failed:\n{(done.stderr or done.stdout)[-2000:]}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out while one installs."""
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
