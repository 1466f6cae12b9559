"""The official packages openai and @anthropic-ai/sdk for Node; what they talk to is the command's own."""

import shutil
from pathlib import Path
from typing import Final

from tools.real_servers.provisioning import LOCKS, provisioned, run_installer, supported

NAME: Final = "openai 6.49.0 and @anthropic-ai/sdk 1.14.0 for Node"
VARIABLE: Final = "GROUNDTRAIL_TEST_NODE"
"""Names a folder whose node_modules has the packages; `node` is on the path."""
_PINS: Final = "node/package-lock.json"


def missing() -> str | None:
    """Return why they cannot be installed here, or ``None``."""
    lacking = [program for program in ("node", "npm") if shutil.which(program) is None]
    return supported() or (f"there is no {lacking[0]}" if lacking else None)


def installed() -> Path:
    """Return the folder; the packages are installed now unless they are there.

    Raises:
        RealServerError: they cannot be installed.
    """
    return provisioned("node", _PINS, _install)


def _install(folder: Path, pins: Path) -> None:
    for name in (pins, LOCKS / "node/package.json"):
        shutil.copy(name, folder)
    run_installer(["npm", "ci", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", "--silent"])
