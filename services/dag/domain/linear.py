"""Linear continuation: one parent, one child (SPEC-004 §5)."""

from services.common.ports.sessions import WindowPattern, WindowRecord
from services.dag.domain.place import NewWindow, Place, give_way
from services.dag.domain.view import DagView


def place_linear(dag: DagView, parent: WindowRecord, fresh: NewWindow) -> Place:
    """Return the place of the only child of an open leaf.

    Raises:
        UnauthenticatedError: TOKEN_SPENT: it has a child that lives.
    """
    abandoned = give_way(dag.living_children(parent.window_id), fresh)
    return Place((parent,), WindowPattern.LINEAR, abandoned)
