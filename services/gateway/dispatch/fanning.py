"""A fan-out as one call: a parent, a child for each part, the fan-in of what they found (SPEC-004 §6, §7; ADR 0162).

The windows are dispatches like any other, under request ids that are derived from the caller's: a repeat meets them.
Nothing here decides what hangs on what, or whether a fan-in may go without a child: the dag service does (§16.3).
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from services.common.concurrency import remaining_s
from services.common.context import current_call
from services.common.errors import (
    CrpError,
    ErrorReason,
    FieldViolation,
    InvalidRequestError,
    PreconditionError,
)
from services.common.fair_turns import FairTurns
from services.common.questions.decomposition import decompose
from services.common.questions.intent import intent_of
from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.outlet import Outlet
from services.gateway.dispatch.several import CameTo, Dispatches, end, settled
from services.gateway.domain.by_intent import wanted_by
from services.gateway.domain.command import (
    Agent,
    Answered,
    Continuation,
    DispatchCommand,
    DispatchResult,
    Halted,
    HeldForReview,
    Notice,
    Part,
    derived_id,
)

CHILDREN_SHARE: Final = 0.7
"""Share of the time that is left which the children may take; the fan-in needs the rest."""
FEWEST: Final = 2
_ONE_PART: Final = Notice("QUESTION_HAS_ONE_PART", "the question has one part: nothing fans out")


@dataclass(frozen=True, slots=True)
class Opened:
    """The parent, opened for this."""

    result: DispatchResult


@dataclass(frozen=True, slots=True)
class Child:
    """What became of one part; ``index`` is its 0-based place."""

    index: int
    query: str
    came_to: CameTo


@dataclass(frozen=True, slots=True)
class Merged:
    """The fan-in."""

    result: DispatchResult


FanEvent: TypeAlias = Opened | Child | Merged


class FanOutApp:
    """Dispatches queries, and fans out those that ask for it before there is anything to continue.

    Args:
        dispatches: one query.
        turns: places of children.
        by_intent: a query that names no strategy takes the one that its words ask for.
    """

    def __init__(self, dispatches: Dispatches, turns: FairTurns, *, by_intent: bool = False) -> None:
        self._dispatches = dispatches
        self._turns = turns
        self._by_intent = by_intent

    async def dispatch(self, command: DispatchCommand, outlet: Outlet | None = None) -> DispatchResult:
        """Answer one query; a first one with strategy fan-out by a window for each of its parts and their fan-in.

        Raises:
            CrpError: as the contract lists.
        """
        if self._by_intent and not command.strategies and command.continuation.merges <= 1:
            return await self._chosen(command, outlet)
        return await self._as_asked(command, outlet)

    async def _chosen(self, command: DispatchCommand, outlet: Outlet | None) -> DispatchResult:
        """Answer a query by the strategy that its words ask for, and say so where that is not push."""
        wanted = wanted_by(intent_of(command.query), first=command.continuation.is_root)
        result = await self._as_asked(replace(command, strategies=wanted), outlet)
        if len(wanted) == 1:
            return result
        told = Notice("STRATEGY_BY_INTENT", f"no strategy was asked for; the question's words ask for {wanted[0]}")
        return replace(result, notices=(*result.notices, told))

    async def _as_asked(self, command: DispatchCommand, outlet: Outlet | None) -> DispatchResult:
        if command.strategies[:1] != (DispatchStrategy.FAN_OUT,) or not command.continuation.is_root:
            return await self._dispatches.dispatch(command, outlet)
        queries = decompose(command.query)
        if len(queries) < FEWEST:
            result = await self._dispatches.dispatch(replace(command, strategies=()), outlet)
            one = Notice("QUESTION_HAS_ONE_PART", "the question has one part: nothing fans out")
            return replace(result, notices=(*result.notices, one))
        results = list[DispatchResult]()
        async with aclosing(self.events(command, queries, outlet)) as events:
            async for event in events:
                came_to = event.came_to if isinstance(event, Child) else event.result
                results += () if isinstance(came_to, CrpError) else (came_to,)
        return _with_work(results[-1], results[:-1])

    async def events(
        self, command: DispatchCommand, queries: Sequence[str] = (), outlet: Outlet | None = None
    ) -> AsyncGenerator[FanEvent, None]:
        """Yield the parent where it was opened here, the children as they are done, and the fan-in.

        Args:
            command: the task as a whole.
            queries: its parts; none = those that its query has.
            outlet: where the fan-in's answer leaves as it passes; ``None`` = nowhere.

        Raises:
            InvalidRequestError: INVALID_FIELD: the query has one part.
            PreconditionError: FAN_IN_INCOMPLETE: no child has an answer, or one is missing and must not be.
            CrpError: of the parent or the fan-in, as the contract lists.
        """
        parts = tuple(queries) or decompose(command.query)
        if len(parts) < FEWEST:
            text = f"must hold {FEWEST} or more: dispatch.query has one part"
            raise InvalidRequestError.of(FieldViolation("queries", text))
        command, parent = replace(command, strategies=()), command.continuation
        if parent.is_root:
            opened = await self._dispatches.dispatch(_step(command, "parent", command.query, parent))
            yield Opened(opened)
            if not isinstance(opened.outcome, Answered):
                return
            parent = _behind([opened.outcome.last])
            command = _with_facts(command, opened.outcome.last)
        answered = dict[int, Part]()
        missing = dict[int, str]()
        async with aclosing(self._children(command, parts, parent)) as children:
            async for child in children:
                yield child
                if isinstance(child.came_to, DispatchResult) and isinstance(child.came_to.outcome, Answered):
                    answered[child.index] = child.came_to.outcome.last
                else:
                    missing[child.index] = _why(child.came_to)
        if not answered:
            raise _nothing_to_merge(missing)
        merging = _behind([answered[index] for index in sorted(answered)])
        merging = replace(merging, fan_in_policy=command.continuation.fan_in_policy)
        asked = replace(_step(command, "fan-in", command.query, merging), strategies=(DispatchStrategy.FAN_IN,))
        result = await self._dispatches.dispatch(asked, outlet)
        yield Merged(replace(result, notices=(*result.notices, *_told(parts, missing))))

    async def _children(
        self, command: DispatchCommand, queries: Sequence[str], parent: Continuation
    ) -> AsyncGenerator[Child, None]:
        """Yield the children as they are done."""
        left, loop = remaining_s(), asyncio.get_running_loop()
        until = None if left is None else loop.time() + left * CHILDREN_SHARE
        done: asyncio.Queue[Child] = asyncio.Queue()

        async def answered(index: int, query: str) -> CameTo:
            asked = _step(command, f"child/{index}", query, parent)
            asked = replace(asked, strategies=(DispatchStrategy.FAN_OUT,))
            came_to = await settled(self._turn(asked), until)
            done.put_nowait(Child(index, query, came_to))
            return came_to

        tasks = [asyncio.create_task(answered(index, query)) for index, query in enumerate(queries)]
        try:
            for _ in queries:
                yield await done.get()
        finally:
            await end(tasks)

    async def _turn(self, command: DispatchCommand) -> DispatchResult:
        tenant_id = current_call().caller.tenant_id
        async with self._turns.turn(tenant_id, max(1, len(command.query)), caller=command.continuation):
            return await self._dispatches.dispatch(command)


def _step(command: DispatchCommand, step: str, query: str, continuation: Continuation) -> DispatchCommand:
    """Return the query of one window; of the agent that calls only what holds for every window goes along."""
    digest = hashlib.sha256(f"{command.body_hash}/{step}/{query}".encode()).hexdigest()
    agent, first = command.agent, continuation.is_root
    return replace(
        command,
        request_id=derived_id(command.request_id, f"fan-out/{step}"),
        body_hash=digest,
        query=query,
        continuation=continuation,
        context=command.context if first else replace(command.context, if_match=""),
        agent=agent if first else Agent(loop_depth=agent.loop_depth, safety_budget=agent.safety_budget),
    )


def _with_facts(command: DispatchCommand, parent: Part) -> DispatchCommand:
    """Return the task with what the parent found in reach of the parts: a later window is not given it by itself."""
    found = (*command.context.active_fact_ids, *parent.draft.envelope.fact_ids)
    return replace(command, context=replace(command.context, active_fact_ids=tuple(dict.fromkeys(found))))


def _behind(parents: Sequence[Part]) -> Continuation:
    return Continuation(
        session_token=parents[0].committed.session_token,
        session_id=parents[0].draft.place.session_id,
        continuation_ids=tuple(parent.committed.continuation_id for parent in parents),
    )


def _why(came_to: CameTo) -> str:
    if isinstance(came_to, CrpError):
        return came_to.reason.value
    match came_to.outcome:
        case Halted():
            return "WITHHELD"
        case HeldForReview():
            return "HELD_FOR_REVIEW"
    return "NOT_MODIFIED"


def _nothing_to_merge(missing: dict[int, str]) -> PreconditionError:
    states = ", ".join(f"{index}: {missing[index]}" for index in sorted(missing))
    text = f"no child has an answer, so there is nothing to merge ({states}); ask for the parts again"
    return PreconditionError(ErrorReason.FAN_IN_INCOMPLETE, text, children=states)


def _told(parts: Sequence[str], missing: dict[int, str]) -> tuple[Notice, ...]:
    if not missing:
        return ()
    states = ", ".join(f"{index + 1}: {missing[index]}" for index in sorted(missing))
    text = f"{len(missing)} of {len(parts)} parts have no answer and are left out ({states})"
    return (Notice("PART_WITHOUT_ANSWER", text),)


def _with_work(result: DispatchResult, others: Sequence[DispatchResult]) -> DispatchResult:
    """Return a result with what other windows of the call took as well."""
    return replace(
        result,
        rounds=(*(each for one in others for each in one.rounds), *result.rounds),
        calls=(*(call for one in others for call in one.calls), *result.calls),
        upgrades=(*(each for one in others for each in one.upgrades), *result.upgrades),
    )
