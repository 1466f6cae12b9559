"""What an agent's session has left flows back to the sessions above it (SPEC-004 §15.2; ADR 0103).

With every write that may lower what an agent's session has left, the sessions above it are lowered to the same, nearest
first, in the same transaction, so that no budget is lost between the two. The minimum is taken, so that doing it twice
changes nothing, and the order in which agents return is of no matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.common.ports.sessions import SessionRecord, SessionSnapshot, SessionStatus
from services.dag.domain.breaker import breaker
from services.dag.domain.budget import budget_left
from services.dag.domain.events import OwnEvent, PendingEvent, session_data
from services.dag.domain.step import Step
from services.dag.domain.view import DagView


@dataclass(frozen=True, slots=True)
class Returned:
    """What an agent's session has left, and where it was spent.

    Attributes:
        window_id: the window whose commit brought it up; empty at the end of the session.
    """

    session_id: str
    window_id: str
    budget: float


@dataclass(frozen=True, slots=True)
class Lowering:
    """A session above the agent's as it shall be; ``agent_id`` is the session right under it."""

    before: SessionSnapshot
    step: Step
    agent_id: str
    budget_before: float


def takes(session: SessionRecord) -> bool:
    """Say whether a session can be lowered: one that ended starts nothing any more, and its record stays as it is."""
    return session.status is SessionStatus.OPEN


def lowering(before: SessionSnapshot, agent_id: str, returned: Returned) -> Lowering | None:
    """Return the session lowered to what came back; ``None`` when it has no more left anyway.

    Args:
        before: the session above, open and verified.
        agent_id: the session right under it that led there.
        returned: what came back.
    """
    left = budget_left(before.session, DagView.of(before))
    if returned.budget >= left:
        return None
    session = replace(before.session, budget_ceiling=returned.budget)
    data = {
        "session": session_data(session),
        "agent_session_id": agent_id,
        "spent_in": {"session_id": returned.session_id, "window_id": returned.window_id},
        "safety_budget_before": left,
        "safety_budget": returned.budget,
        "circuit_breaker": breaker(returned.budget).value,
    }
    step = Step(session, drafts=(PendingEvent(OwnEvent.SAFETY_BUDGET_LOWERED, "", data),))
    return Lowering(before, step, agent_id, left)


def returned_draft(returned: Returned, lowerings: Sequence[Lowering]) -> PendingEvent:
    """Return the event of the agent's own trail: what it has left, and which sessions that lowered."""
    lowered = [
        {"session_id": each.step.session.session_id, "safety_budget_before": each.budget_before} for each in lowerings
    ]
    data = {"safety_budget": returned.budget, "lowered": lowered}
    return PendingEvent(OwnEvent.SAFETY_BUDGET_RETURNED, returned.window_id, data)


def with_return(step: Step, draft: PendingEvent) -> Step:
    """Return the step with the event, before the one that ends the session, which stays the last."""
    drafts = list(step.drafts)
    ends = bool(drafts) and drafts[-1].event_type == OwnEvent.SESSION_TERMINATED
    drafts.insert(len(drafts) - ends, draft)
    return replace(step, drafts=tuple(drafts))
