"""Agentic: windows in a line until the question is answered or a bound is reached (CRP-SPEC-008; ADR 0161).

Each window is one turn of the loop: analyse and plan (which tools), generate, evaluate (the analysis), criticise and
refine (the reflexive remedy), integrate (the whole answer is that of all windows). The next turn is about what the
analysis found open.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from services.common.concurrency import remaining_s
from services.common.errors import CrpError
from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.continuation import continuing
from services.gateway.dispatch.courses.course import Windows
from services.gateway.dispatch.outlet import Outlet
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.approach import Approach
from services.gateway.domain.command import Answered, DispatchResult, Notice, Part
from services.gateway.domain.directives import REFUSAL
from services.gateway.domain.remedies import Focus
from services.gateway.domain.tools import ToolOutcome

BUDGET_STOP: Final = 0.10
"""CRP-SPEC-008: an agent stops at this safety budget."""


class AgenticCourse:
    """Turns of the loop, one window each."""

    conditional = False

    async def run(self, windows: Windows, admitted: AdmittedDispatch, outlet: Outlet | None) -> DispatchResult:
        """Run the loop."""
        approach = Approach(
            called=DispatchStrategy.AGENTIC, refines=True, tools=windows.tools.specs(admitted.command.tools)
        )
        admitted = replace(admitted, approach=approach)
        began = asyncio.get_running_loop().time()
        result = await windows.attempt(admitted, outlet)
        if not isinstance(result.outcome, Answered):
            return result
        took = asyncio.get_running_loop().time() - began
        parts, notices = list(result.outcome.parts), list[Notice]()
        for number in range(1, windows.tools.settings.max_iterations):
            focus = parts[-1].draft.focus
            if focus is None or not parts[-1].committed.continuation_id:
                break
            if _found_nothing(parts[-1]):
                text = "neither documents nor tools answer what is open: another iteration would say the same"
                notices.append(Notice("ITERATION_FOUND_NOTHING", text))
                break
            if why := _hindrance(windows, parts[-1], took):
                notices.append(why)
                break
            more = await _turn(windows, _next(admitted, parts, focus, number), notices)
            if more is None:
                break
            if not isinstance(more.outcome, Answered):
                if more.verdict.halt_reason:  # given up by the policy: the answer before it stands
                    notices.append(Notice("ITERATION_WITHHELD", "the policy withheld the agent's next iteration"))
                    break
                return more
            parts += more.outcome.parts
        else:
            if parts[-1].draft.focus is not None:
                text = f"the agent made its {len(parts)} iterations; parts of the question are left open"
                notices.append(Notice("ITERATIONS_SPENT", text))
        return windows.results.answered(parts, notices) if len(parts) > 1 or notices else result


async def _turn(windows: Windows, admitted: AdmittedDispatch, notices: list[Notice]) -> DispatchResult | None:
    try:
        return await windows.attempt(admitted)
    except CrpError as error:
        text = f"the agent's next iteration came to nothing: {error.reason.value}; continue the session to go on"
        notices.append(Notice("ITERATION_FAILED", text))
        return None


def _next(admitted: AdmittedDispatch, parts: Sequence[Part], focus: Focus, number: int) -> AdmittedDispatch:
    """Return the next turn: about what is open, and with every call that was made so far."""
    following = continuing(admitted, parts[-1], focus, number)
    made = tuple(call for part in parts for call in part.draft.tool_calls)
    return replace(following, approach=replace(admitted.approach, tool_calls=made))


def _found_nothing(last: Part) -> bool:
    """Say whether a turn found that there is no answer, and no tool told it anything."""
    told = any(call.outcome is ToolOutcome.ANSWERED for call in last.draft.tool_calls)
    return last.draft.report.relevance_status == REFUSAL and not told


def _hindrance(windows: Windows, last: Part, took_s: float) -> Notice | None:
    """Return why no further turn is made; ``None`` = one is."""
    budget = last.committed.safety_budget
    if budget <= BUDGET_STOP:
        text = f"the safety budget is {budget:g}; an agent stops at {BUDGET_STOP:g}"
        return Notice("AGENT_BUDGET_SPENT", text)
    left = remaining_s()
    if left is not None and left - windows.settings.reserve_s < took_s:
        text = f"{max(0.0, left):.3f} s are left; the first iteration took {took_s:.3f} s"
        return Notice("ITERATION_NEEDS_TIME", text)
    return None
