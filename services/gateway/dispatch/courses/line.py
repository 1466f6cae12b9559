"""One window, and those that the gateway adds by itself where parts of the query are left open (SPEC-005 §10.3)."""

import asyncio

from services.common.concurrency import remaining_s
from services.common.errors import CrpError
from services.gateway.dispatch.continuation import continuing
from services.gateway.dispatch.courses.course import Windows
from services.gateway.dispatch.outlet import Outlet
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import Answered, DispatchResult, Notice


class Line:
    """Every strategy that answers in one window."""

    conditional = True

    async def run(self, windows: Windows, admitted: AdmittedDispatch, outlet: Outlet | None) -> DispatchResult:
        """Attempt the window, then continue it."""
        began = asyncio.get_running_loop().time()
        result = await windows.attempt(admitted, outlet)
        took = asyncio.get_running_loop().time() - began
        return await _continued(windows, admitted, result, took)


async def _continued(
    windows: Windows, admitted: AdmittedDispatch, result: DispatchResult, took_s: float
) -> DispatchResult:
    """Continue an answer that leaves parts of the query open, and return both as one (SPEC-005 §10.3).

    One that comes to nothing leaves the answer as it is, with a notice; one that spends the budget halts.
    """
    if not isinstance(result.outcome, Answered):
        return result
    settings = windows.settings
    parts, notices = list(result.outcome.parts), list[Notice]()
    for number in range(1, settings.max_continuations + 1):
        last = parts[-1]
        if last.draft.focus is None or not last.committed.continuation_id:
            break
        left = remaining_s()
        if left is not None and left - settings.reserve_s < took_s:
            text = f"{max(0.0, left):.3f} s are left; the first answer took {took_s:.3f} s"
            notices.append(Notice("CONTINUATION_NEEDS_TIME", text))
            break
        try:
            more = await windows.attempt(continuing(admitted, last, last.draft.focus, number))
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
    return windows.results.answered(parts, notices) if len(parts) > 1 or notices else result
