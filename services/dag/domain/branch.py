"""Branching: a sibling that verifies or refines what a reflexive window says (SPEC-004 §1.2)."""

from services.common.errors import ErrorReason, PreconditionError
from services.common.ports.sessions import WindowPattern, WindowRecord
from services.dag.domain.fan_out import make_room, take_over
from services.dag.domain.limits import Limits
from services.dag.domain.place import NewWindow, Place
from services.dag.domain.view import DagView

REFLEXIVE = "reflexive"


def place_branch(dag: DagView, parent: WindowRecord, limits: Limits, fresh: NewWindow) -> Place:
    """Return the place of a sibling of a pending or committed reflexive child.

    Raises:
        PreconditionError: UNSUPPORTED_STRATEGY: the parent has no reflexive child that is no fan-out.
        UnauthenticatedError: TOKEN_SPENT: a fan-in has taken the children.
        LimitExceededError: FAN_OUT_LIMIT: siblings count against max_fan_out (§11.2).
    """
    siblings = dag.living_children(parent.window_id)
    reflexive = [child for child in siblings if child.strategy == REFLEXIVE]
    if not reflexive or any(child.pattern is WindowPattern.FAN_OUT for child in siblings):
        text = "a branch stands beside a reflexive window of the same parent, and this parent has none; open that first"
        raise PreconditionError(ErrorReason.UNSUPPORTED_STRATEGY, text, window_id=parent.window_id)
    takers = take_over(dag, parent, fresh)
    return Place((parent,), WindowPattern.BRANCH, (*takers, *make_room(siblings, limits, fresh)))
