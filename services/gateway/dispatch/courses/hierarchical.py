"""Hierarchical: a window for each part of the question, and one that puts them together (CRP-SPEC-008; ADR 0160).

A session's windows have one root, and parallel ones a parent (SPEC-004 §3.3, §6.3). That parent is an overview: the
question as a whole, quoted from the documents by the built-in answerer, in a line behind what is continued. Its
envelope says which parts the question has. The parts are its children, as a fan-out's; the synthesis merges those that
have an answer, and says which have none. Where there is nothing to put together the overview stands.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.concurrency import deadline_within, remaining_s
from services.common.errors import CrpError
from services.common.progress import at
from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.courses.course import Windows
from services.gateway.dispatch.outlet import Outlet
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.approach import Approach, Inner
from services.gateway.domain.command import (
    Agent,
    Answered,
    Continuation,
    DispatchResult,
    Halted,
    Notice,
    Part,
    derived_id,
)
from services.gateway.domain.directives import REFUSAL
from services.gateway.domain.outcome import OVERSIGHT_REQUIRED
from services.gateway.domain.question_parts import PART, PartState, synthesis_task, told_of
from services.gateway.domain.vocabulary import FanInPolicy, OversightMode

PARTS_SHARE: Final = 0.6
"""Share of the time that is left which the parts may take together; the synthesis needs the rest."""
WINDOWS: Final = 2
"""That follow the overview in a line: a part, the synthesis."""


class HierarchicalCourse:
    """Overview, parts, synthesis."""

    conditional = False

    async def run(self, windows: Windows, admitted: AdmittedDispatch, outlet: Outlet | None) -> DispatchResult:
        """Run the windows."""
        at("opening the overview")
        overview = await windows.attempt(_overview(admitted))
        if not isinstance(overview.outcome, Answered):
            return overview
        opening = overview.outcome.last
        queries = opening.draft.sub_queries
        if len(queries) <= 1:
            return await _alone(windows, admitted, overview, outlet)
        if opening.draft.place.windows_remaining < WINDOWS:
            text = f"the session has no {WINDOWS} windows left for the question's parts and their synthesis"
            return _stands(windows, overview, Notice("PARTS_NEED_WINDOWS", text))
        at("answering the parts")
        found = await _answer_parts(windows, admitted, opening, queries)
        parts = [PartState(number, one.query, one.why) for number, one in enumerate(found, start=1)]
        told = told_of(parts)
        notices = (Notice("PART_WITHOUT_ANSWER", told),) if told else ()
        work = [overview, *(one.result for one in found if one.result is not None)]
        if all(part.why for part in parts):
            return _with_work(_stands(windows, overview, *notices), work[1:])
        at("putting the parts together")
        left = remaining_s()
        try:
            # Of the time that is left, what handing over the overview needs is kept back.
            with deadline_within(None if left is None else left - windows.settings.reserve_s):
                synthesis = await windows.attempt(_synthesis(admitted, opening, found, parts), outlet)
        except CrpError as error:
            if outlet is not None and outlet.said:
                raise
            text = f"the parts could not be put together: {error.reason.value}; the answer is the overview"
            return _with_work(_stands(windows, overview, *notices, Notice("SYNTHESIS_FAILED", text)), work[1:])
        return _with_work(replace(synthesis, notices=(*synthesis.notices, *notices)), work)


@dataclass(frozen=True, slots=True)
class _Answered:
    """What a part came to; ``why`` says why it has no answer, ``part`` is its window where it was committed."""

    query: str
    why: str = ""
    result: DispatchResult | None = None
    part: Part | None = None


async def _answer_parts(
    windows: Windows, admitted: AdmittedDispatch, opening: Part, queries: Sequence[str]
) -> list[_Answered]:
    """Answer the parts side by side, and in time for the synthesis."""
    turns = asyncio.Semaphore(windows.settings.max_parallel_parts)

    async def answered(number: int, query: str) -> _Answered:
        async with turns:
            try:
                result = await windows.attempt(_of_part(admitted, opening, query, number))
            except CrpError as error:
                return _Answered(query, error.reason.value)
        if not isinstance(result.outcome, Answered):
            return _Answered(query, "WITHHELD" if isinstance(result.outcome, Halted) else "HELD_FOR_REVIEW", result)
        refused = result.report is not None and result.report.relevance_status == REFUSAL
        return _Answered(query, "NOT_IN_THE_DOCUMENTS" if refused else "", result, result.outcome.last)

    left = remaining_s()
    with deadline_within(None if left is None else left * PARTS_SHARE):
        return await asyncio.gather(*(answered(number, query) for number, query in enumerate(queries, start=1)))


async def _alone(
    windows: Windows, admitted: AdmittedDispatch, overview: DispatchResult, outlet: Outlet | None
) -> DispatchResult:
    """Answer a question of one part behind its overview, which is the answer where no model would write another."""
    opening = overview.outcome.last if isinstance(overview.outcome, Answered) else None
    one = Notice("QUESTION_HAS_ONE_PART", "the question has one part: nothing was taken apart")
    if (
        opening is None
        or not (windows.generative or _is_overseen(opening))
        or not opening.draft.place.windows_remaining
    ):
        return _stands(windows, overview, one)
    approach = Approach(called=DispatchStrategy.HIERARCHICAL, task=PART, inner=_inner([opening]))
    whole = _behind(admitted, [opening], "whole", admitted.command.query)
    result = await windows.attempt(replace(whole, strategy=DispatchStrategy.PUSH, approach=approach), outlet)
    return _with_work(replace(result, notices=(*result.notices, one)), [overview])


def _overview(admitted: AdmittedDispatch) -> AdmittedDispatch:
    """Return the question as a whole, quoted; it is opened in a line behind what is continued."""
    approach = Approach(called=DispatchStrategy.HIERARCHICAL, quotes=True, delivers=False)
    command = replace(admitted.command, context=replace(admitted.command.context, if_match=""))
    return replace(admitted, command=command, strategy=DispatchStrategy.PUSH, approach=approach)


def _of_part(admitted: AdmittedDispatch, opening: Part, query: str, number: int) -> AdmittedDispatch:
    approach = Approach(called=DispatchStrategy.HIERARCHICAL, task=PART, delivers=False, inner=_inner([opening]))
    return replace(
        _behind(admitted, [opening], f"part/{number}", query), strategy=DispatchStrategy.HIERARCHICAL, approach=approach
    )


def _synthesis(
    admitted: AdmittedDispatch, opening: Part, found: Sequence[_Answered], parts: Sequence[PartState]
) -> AdmittedDispatch:
    # Every window that was committed: a fan-in takes its group whole (SPEC-004 §7, ADR 0051).
    merged = [one.part for one in found if one.part is not None]
    approach = Approach(
        called=DispatchStrategy.HIERARCHICAL,
        task=synthesis_task(parts),
        inner=_inner([opening, *merged]),
        parts=tuple(part.query for part in parts if not part.why),
    )
    whole = _behind(admitted, merged, "synthesis", admitted.command.query)
    return replace(whole, strategy=DispatchStrategy.FAN_IN, approach=approach)


def _behind(admitted: AdmittedDispatch, parents: Sequence[Part], step: str, query: str) -> AdmittedDispatch:
    """Return a query that continues windows of this dispatch."""
    command = admitted.command
    return replace(
        admitted,
        command=replace(
            command,
            request_id=derived_id(command.request_id, step),
            query=query,
            continuation=Continuation(
                session_token=parents[0].committed.session_token,
                session_id=parents[0].draft.place.session_id,
                continuation_ids=tuple(parent.committed.continuation_id for parent in parents),
                fan_in_policy=FanInPolicy.PARTIAL,
            ),
            context=replace(command.context, if_match=""),
            agent=Agent(loop_depth=command.agent.loop_depth, safety_budget=command.agent.safety_budget),
        ),
        cache_status="",
        # Told of and recorded with the overview.
        suspicions=(),
    )


def _inner(parts: Sequence[Part]) -> Inner:
    return Inner(
        frozenset(part.draft.place.window_id for part in parts),
        frozenset(fact_id for part in parts for fact_id in part.draft.envelope.fact_ids),
    )


def _stands(windows: Windows, overview: DispatchResult, *notices: Notice) -> DispatchResult:
    """Return the overview as the answer: withheld where a person has to look at whatever is delivered."""
    result = overview
    if isinstance(overview.outcome, Answered) and _is_overseen(overview.outcome.last):
        opening = overview.outcome.last
        result = windows.results.halted(opening.draft, opening.committed, OVERSIGHT_REQUIRED)
    return replace(result, notices=(*overview.notices, *notices))


def _is_overseen(part: Part) -> bool:
    return part.draft.oversight is OversightMode.HUMAN_REVIEW


def _with_work(result: DispatchResult, others: Sequence[DispatchResult]) -> DispatchResult:
    """Return a result with what other windows of the dispatch took as well."""
    return replace(
        result,
        rounds=(*(each for one in others for each in one.rounds), *result.rounds),
        calls=(*(call for one in others for call in one.calls), *result.calls),
        upgrades=(*(each for one in others for each in one.upgrades), *result.upgrades),
    )
