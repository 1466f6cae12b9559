"""Anthropic's official Python package, in an environment of its own; what it talks to is the command's own."""

from pathlib import Path
from typing import Final

from tools.real_servers.provisioning import provisioned, virtual_environment

NAME: Final = "Anthropic's client 2.14.0"
VARIABLE: Final = "GROUNDTRAIL_TEST_ANTHROPIC"
"""Names a Python interpreter that has the package."""


def installed() -> Path:
    """Return the interpreter's path; the package is installed now unless it is there.

    Raises:
        RealServerError: it cannot be installed.
    """
    return provisioned("anthropic", "anthropic.lock", virtual_environment) / "bin/python"
