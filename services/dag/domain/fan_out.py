"""Fan-out: siblings that share a parent, in whatever order they come and finish (SPEC-004 §6, §14.3; ADR 0009)."""

from collections.abc import Sequence

from services.common.ports.sessions import WindowPattern, WindowRecord
from services.dag.domain.groups import Groups
from services.dag.domain.limits import Limits
from services.dag.domain.place import NewWindow, Place, give_way
from services.dag.domain.view import DagView


def place_fan_out(dag: DagView, parent: WindowRecord, limits: Limits, fresh: NewWindow) -> Place:
    """Return the place of one more child.

    A child that failed gives its place back; an abandoned one only when the place is needed, so that a slow sibling
    does not fail because another one is opened.

    Raises:
        UnauthenticatedError: TOKEN_SPENT: the parent was continued otherwise, or a fan-in has taken its children.
        LimitExceededError: FAN_OUT_LIMIT (§11.2).
    """
    children = dag.living_children(parent.window_id)
    siblings = tuple(child for child in children if child.pattern is WindowPattern.FAN_OUT)
    others = give_way((child for child in children if child.pattern is not WindowPattern.FAN_OUT), fresh)
    takers = take_over(dag, parent, fresh)
    return Place((parent,), WindowPattern.FAN_OUT, (*others, *takers, *make_room(siblings, limits, fresh)))


def take_over(dag: DagView, parent: WindowRecord, fresh: NewWindow) -> tuple[WindowRecord, ...]:
    """Return the abandoned fan-ins of the siblings that give way to one more; any other fan-in has taken them.

    Raises:
        UnauthenticatedError: TOKEN_SPENT.
    """
    groups = Groups.of(dag)
    return groups.take_over((*groups.paths[parent.window_id], parent.window_id), fresh)


def make_room(siblings: Sequence[WindowRecord], limits: Limits, fresh: NewWindow) -> tuple[WindowRecord, ...]:
    """Return the abandoned siblings that must fail for one more to fit.

    Raises:
        LimitExceededError: FAN_OUT_LIMIT.
    """
    abandoned = tuple(sibling for sibling in siblings if fresh.is_abandoned(sibling))
    limits.check_fan_out(len(siblings) - len(abandoned))
    return abandoned if len(siblings) >= limits.max_fan_out else ()
