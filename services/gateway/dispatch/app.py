"""Dispatching one query: admitted, and taken through the windows of its strategy's course (SPEC-003 §11).

Retries of one request wait for each other within this process; what makes them safe between processes is the attempt's.
"""

from dataclasses import dataclass, replace
from typing import Final

from services.common.concurrency import KeyedLock
from services.common.context import current_call
from services.common.errors import ErrorReason, PreconditionError
from services.common.settings import GatewaySettings
from services.gateway.dispatch.admission import Admission
from services.gateway.dispatch.attempt import AttemptParts, Attempts
from services.gateway.dispatch.courses import Windows, course_of
from services.gateway.dispatch.outlet import Outlet
from services.gateway.dispatch.results import Results
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import DispatchCommand, DispatchResult, StepIds
from services.gateway.domain.window import BuiltEnvelope
from services.gateway.ports import DraftSlot, DraftStore, HeldAnswers, SessionClient, ViolationReports

MAX_ATTEMPTS: Final = 16
"""Windows that one request id may open: one, and another after each attempt that was given up."""


@dataclass(frozen=True, slots=True)
class DispatchParts:
    """What dispatching is composed of."""

    sessions: SessionClient
    window: WindowRun
    drafts: DraftStore
    admission: Admission
    held: HeldAnswers
    reports: ViolationReports


class DispatchApp:
    """Dispatches queries."""

    def __init__(self, parts: DispatchParts, settings: GatewaySettings) -> None:
        self._window = parts.window
        self._drafts = parts.drafts
        self._admission = parts.admission
        self._reports = parts.reports
        self._settings = settings
        self._results = Results(settings)
        self._attempts = Attempts(
            AttemptParts(parts.sessions, parts.window, parts.drafts, parts.held), self._results, settings
        )
        window = parts.window
        self._windows = Windows(self._attempt_until_done, self._results, settings, window.generative, window.tools)
        self._requests = KeyedLock()

    async def dispatch(self, command: DispatchCommand, outlet: Outlet | None = None) -> DispatchResult:
        """Answer one query.

        Args:
            command: the query.
            outlet: where what has passed of the answer leaves; ``None`` = nothing does before its window is committed.

        Raises:
            CrpError: as the contract lists; the window that was opened is FAILED then.
        """
        tenant_id = current_call().caller.tenant_id
        admitted = await self._admission.admit(command, tenant_id)
        course = course_of(admitted.strategy)
        async with self._requests.lock(tenant_id, command.request_id):
            if (
                course.conditional
                and command.continuation.is_root
                and command.context.if_match
                and not await self._answered(tenant_id, command)
            ):
                probed = await self._window.probe(admitted)
                if isinstance(probed, BuiltEnvelope):
                    return self._results.not_modified(admitted, probed)
                admitted = replace(admitted, cache_status=probed)
            result = await course.run(self._windows, admitted, outlet)
            further = await self._reports.file(tenant_id, command, result)
            return replace(result, notices=(*result.notices, *further)) if further else result

    async def _answered(self, tenant_id: str, command: DispatchCommand) -> bool:
        """Say whether an earlier attempt has an answer: it stands, although its envelope would be found unchanged."""
        steps = StepIds.of(command.request_id, 0)
        return await self._drafts.holds(DraftSlot(tenant_id, steps.draft, command.body_hash))

    async def close(self) -> None:
        """Wait for windows that are being given up."""
        await self._attempts.close()

    async def _attempt_until_done(self, admitted: AdmittedDispatch, outlet: Outlet | None = None) -> DispatchResult:
        """Make attempts until one comes to something."""
        request_id, budget = admitted.command.request_id, await self._window.available_budget_tokens(admitted)
        for attempt in range(MAX_ATTEMPTS):
            result = await self._attempts.run(admitted, StepIds.of(request_id, attempt), budget, outlet)
            if result is not None:
                return result
        raise PreconditionError(
            ErrorReason.WINDOW_NOT_PENDING,
            f"{MAX_ATTEMPTS} windows of this request_id were given up; find out why and take a fresh request_id",
            request_id=request_id,
        )
