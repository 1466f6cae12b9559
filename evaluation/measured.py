"""When, from which state of the code and with what something was measured: kept beside every saved figure."""

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from services.common.settings.server import processors

ROOT: Final = Path(__file__).resolve().parents[1]
CHANGED: Final = "+changes"
"""Behind a revision whose checkout holds something that is not in it."""
_GIT: Final = shutil.which("git") or "git"
_GIT_S: Final = 30.0
_PAGES: Final = ":(exclude)docs"
"""Pages and kept figures change nothing that is measured, and the first of two that are saved dirties the second."""


def measured_now(root: Path = ROOT) -> dict[str, Any]:
    """Return what is kept as ``measured`` in a results file.

    ``date`` is today's in UTC (YYYY-MM-DD), ``revision`` as ``revision_of`` gives it, ``python`` the interpreter's
    version and ``cpus`` the number of processors that this process may use. Nothing names the machine.

    Args:
        root: the checkout that the code runs from.
    """
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "revision": revision_of(root),
        "python": platform.python_version(),
        "cpus": processors(),
    }


def revision_of(root: Path) -> str | None:
    """Return the last tag and the commit, or the commit alone, with ``CHANGED`` where the code differs from it.

    Files below ``docs`` are no code. ``None``: the folder is no checkout of its own, has no commit, or there is no git.
    """
    top = _git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root.resolve():
        return None
    found = _git(root, "describe", "--tags", "--always", "--abbrev=12")
    if found is None:
        return None
    status = _git(root, "status", "--porcelain", "--", ".", _PAGES)
    return found + CHANGED * (status is None or bool(status))


def _git(root: Path, *arguments: str) -> str | None:
    command = (_GIT, "-C", str(root), *arguments)
    try:
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_S, check=False, env=own)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.strip()
