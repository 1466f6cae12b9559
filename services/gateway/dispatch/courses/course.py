"""What a course is to the gateway (CRP-SPEC-008; ADR 0160): windows in an order.

A strategy says how one window comes to its answer; a course says which windows there are. Each is attempted until it
comes to something. Every window of a course has a
request id that follows from the dispatch's, so that a retry meets the windows that the first try opened.
"""

from dataclasses import dataclass
from typing import Protocol

from services.common.settings import GatewaySettings
from services.gateway.dispatch.outlet import Outlet
from services.gateway.dispatch.results import Results
from services.gateway.dispatch.tool_use import ToolUser
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import DispatchResult


class Attempt(Protocol):
    """Attempts one window until it comes to something."""

    async def __call__(self, admitted: AdmittedDispatch, outlet: Outlet | None = None) -> DispatchResult:
        """Return what it came to.

        Raises:
            CrpError: as the contract lists; the window that was opened is FAILED then.
        """
        ...


@dataclass(frozen=True, slots=True)
class Windows:
    """What a course opens windows with; ``generative`` says whether a language model is configured."""

    attempt: Attempt
    results: Results
    settings: GatewaySettings
    generative: bool
    tools: ToolUser


class Course(Protocol):
    """An order of windows; holds no state."""

    @property
    def conditional(self) -> bool:
        """Whether a presented ETag can stand in for all of it (SPEC-003 §11)."""
        ...

    async def run(self, windows: Windows, admitted: AdmittedDispatch, outlet: Outlet | None) -> DispatchResult:
        """Return the result of a dispatch.

        Args:
            windows: opens them.
            admitted: the query.
            outlet: where what has passed of the answer leaves; ``None`` = nothing does before its window is committed.

        Raises:
            CrpError: as the contract lists.
        """
        ...
