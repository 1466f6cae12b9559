"""Tools that strategy agentic may call (CRP-SPEC-008; ADR 0161)."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ToolSettings(BaseModel):
    """``GROUNDTRAIL_TOOLS__*``: which tools there are, and how much of them a dispatch may use."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    registry_file: Path | None = None
    """JSON file with the tools: name, description, kind (http or mcp), url, parameters, and who may have them called.
    Default: none, and strategy agentic works without tools."""

    private_hosts: tuple[str, ...] = ()
    """Hosts of tools that may have a private or loopback address; a JSON list. A tool at any other host that resolves
    to one is not called. Plain http is talked to these alone, at loopback addresses."""

    ca_file: Path | None = None
    """PEM certificates to trust instead of the system's. Default: none."""

    max_calls: int = Field(default=10, ge=0, le=10)
    """Most calls of one dispatch, all of its windows together; 0-10, default 10 (CRP-SPEC-008)."""

    max_iterations: int = Field(default=8, ge=1, le=8)
    """Most windows of one dispatch, within the session's own limits; 1-8, default 8 (CRP-SPEC-008)."""

    max_rounds: int = Field(default=3, ge=1, le=8)
    """Most decisions of the model which tools to call, for one window; each after the first has seen what the tools
    answered. 1-8, default 3."""

    max_parallel: int = Field(default=4, ge=1, le=10)
    """Most calls at once; 1-10, default 4."""

    timeout_s: float = Field(default=10.0, gt=0.0, le=60.0)
    """Longest wait for one call, in seconds; default 10."""

    total_s: float = Field(default=30.0, gt=0.0, le=300.0)
    """Longest time that decisions and calls of one window may take together, in seconds, and never more than a third of
    what the caller's deadline leaves; default 30."""

    max_result_bytes: int = Field(default=16_384, ge=1, le=65_536)
    """Longest answer of a tool, in bytes; nothing of a longer one is taken. 1-65536, default 16384."""

    max_facts: int = Field(default=20, ge=1, le=100)
    """Most facts that one answer becomes; 1-100, default 20."""

    suspected: Literal["report", "leave_out", "mask"] = "mask"
    """What becomes of an answer that speaks to a language model (ADR 0145): report, it is told of and used; leave_out,
    it is not used; mask, it is used without the sentences that do. Found ones are recorded in the audit chain. Default
    mask."""
