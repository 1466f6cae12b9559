"""Dispatching one query: admitted, attempted until something comes of it, continued (SPEC-003 §11, -005 §10.3).

Retries of one request wait for each other within this process; what makes them safe between processes is the attempt's.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from services.common.concurrency import KeyedLock, remaining_s
from services.common.context import current_call
from services.common.errors import CrpError, ErrorReason, PreconditionError
from services.common.settings import GatewaySettings
from services.gateway.dispatch.admission import Admission
from services.gateway.dispatch.attempt import AttemptParts, Attempts
from services.gateway.dispatch.continuation import continuing
from services.gateway.dispatch.outlet import Outlet
from services.gateway.dispatch.results import Results
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import Answered, DispatchCommand, DispatchResult, Notice, StepIds
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
        began = asyncio.get_running_loop().time()
        async with self._requests.lock(tenant_id, command.request_id):
            if (
                command.continuation.is_root
                and command.context.if_match
                and not await self._answered(tenant_id, command)
            ):
                probed = await self._window.probe(admitted)
                if isinstance(probed, BuiltEnvelope):
                    return self._results.not_modified(admitted, probed)
                admitted = replace(admitted, cache_status=probed)
            result = await self._attempt_until_done(admitted, outlet)
            took = asyncio.get_running_loop().time() - began
            result = await self._auto_continue(admitted, result, took)
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

    async def _auto_continue(self, admitted: AdmittedDispatch, result: DispatchResult, took_s: float) -> DispatchResult:
        """Continue an answer that leaves parts of the query open, and return both as one (SPEC-005 §10.3).

        One that comes to nothing leaves the answer as it is, with a notice; one that spends the budget halts.
        """
        if not isinstance(result.outcome, Answered):
            return result
        parts, notices = list(result.outcome.parts), list[Notice]()
        for number in range(1, self._settings.max_continuations + 1):
            last = parts[-1]
            if last.draft.focus is None or not last.committed.continuation_id:
                break
            left = remaining_s()
            if left is not None and left - self._settings.reserve_s < took_s:
                text = f"{max(0.0, left):.3f} s are left; the first answer took {took_s:.3f} s"
                notices.append(Notice("CONTINUATION_NEEDS_TIME", text))
                break
            try:
                more = await self._attempt_until_done(continuing(admitted, last, last.draft.focus, number))
            except CrpError as error:
                text = f"the answer was not continued: {error.reason.value}; continue the session to go on"
                notices.append(Notice("CONTINUATION_FAILED", text))
                break
            if not isinstance(more.outcome, Answered):
                if more.verdict.halt_reason:  # given up by the policy: the answer before it stands
                    notices.append(Notice("CONTINUATION_WITHHELD", "the policy withheld the answer's continuation"))
                    break
                return more
            parts += more.outcome.parts
        return self._results.answered(parts, notices) if len(parts) > 1 or notices else result
