"""What is loaded when it is first used: a command pays for its own imports alone (ADR 0091)."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any


class Later:
    """A module that is imported when something of it is first asked for.

    Args:
        name: of the module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def run(command: Callable[..., Awaitable[Any]], *, as_json: bool) -> None:
    """Run a command as ``runner.run`` does."""
    from services.cli.runner import run as run_now

    run_now(command, as_json=as_json)
