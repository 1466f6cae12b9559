"""Tools of others that may be called while a question is answered (CRP-SPEC-008, agentic)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool of the registry, as far as a model and a caller may know of it.

    Attributes:
        name: 1-64 characters of ``A-Z a-z 0-9 _ - .``.
        parameters: a JSON Schema of an object.
        importance: of the facts that its answers become, 0.0-1.0.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    importance: float


@unique
class ToolEnd(StrEnum):
    """How a call ended."""

    ANSWERED = "ANSWERED"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    TOO_LONG = "TOO_LONG"


@dataclass(frozen=True, slots=True)
class ToolReply:
    """What a tool answered; ``reason`` says why there is no text, without a word of the answer."""

    end: ToolEnd
    text: str = field(default="", repr=False)
    reason: str = ""


class ToolBox(Protocol):
    """The registry, and who calls what is in it."""

    def listed(self, tenant_id: str) -> tuple[ListedTool, ...]:
        """Return the tools that a tenant may have called, in the order of the registry."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolReply:
        """Call a listed tool once, within its time and bytes. Raises nothing but cancellation."""
        ...

    async def close(self) -> None:
        """Close the connections; idempotent."""
        ...


class NoTools:
    """A deployment without tools."""

    def listed(self, tenant_id: str) -> tuple[ListedTool, ...]:  # noqa: ARG002 - the port's
        """Return none."""
        return ()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolReply:  # noqa: ARG002 - the port's
        """Say that there is none."""
        return ToolReply(ToolEnd.FAILED, reason=f"there is no tool {name}")

    async def close(self) -> None:
        """Nothing to close."""
