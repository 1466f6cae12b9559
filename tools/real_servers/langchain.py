"""LangChain's chat model for OpenAI's form, in an environment of its own; what it talks to is the command's own."""

from pathlib import Path
from typing import Final

from tools.real_servers.provisioning import provisioned, virtual_environment

NAME: Final = "LangChain's chat model 1.7.4"
VARIABLE: Final = "GROUNDTRAIL_TEST_LANGCHAIN"
"""Names a Python interpreter that has langchain-openai."""


def installed() -> Path:
    """Return the interpreter's path; the package is installed now unless it is there.

    Raises:
        RealServerError: it cannot be installed.
    """
    return provisioned("langchain", "langchain.lock", virtual_environment) / "bin/python"
