"""Fan-in: several open leaves merge into one window (SPEC-004 §7, §16.3; ADR 0051).

A fan-in takes the innermost group that all of its parents stand in, whole: every child of that fan-out, and of fan-outs
inside it that were not merged yet, is among the parents' ancestors. What is missing is refused, unless the policy is
partial and the window failed or its branch ended. Nothing here depends on the order in which the children finished.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.common.errors import ErrorReason, PreconditionError
from services.common.ports.sessions import WindowPattern, WindowRecord
from services.common.taxonomy import WindowStatus
from services.dag.domain.groups import Groups, Path, shared_path
from services.dag.domain.place import NewWindow, Place, give_way
from services.dag.domain.view import DagView

ENDED = "ENDED"
NOT_NAMED = "NOT_NAMED"
ABANDONED = "ABANDONED"


@dataclass(frozen=True, slots=True)
class _Missing:
    """A window of the fan-out that no named parent continues, and why it is missing."""

    window: WindowRecord
    state: str

    @property
    def may_be_left_out(self) -> bool:
        return self.state in (WindowStatus.FAILED.value, ABANDONED, ENDED)


def place_fan_in(dag: DagView, parents: Sequence[WindowRecord], fresh: NewWindow, *, partial: bool) -> Place:
    """Return the place of the window that merges the parents.

    Args:
        dag: the session.
        parents: committed windows that the continuation ids name.
        fresh: the impure values.
        partial: CRP-Agent-Fan-In-Policy: failed and ended children may be left out (§16.3).

    Raises:
        UnauthenticatedError: TOKEN_SPENT: a parent was continued, or another fan-in has taken the group.
        PreconditionError: UNSUPPORTED_STRATEGY: they stand in no fan-out together (§7.3.2); FAN_IN_INCOMPLETE.
    """
    given_way = [child for parent in parents for child in give_way(dag.living_children(parent.window_id), fresh)]
    groups = Groups.of(dag)
    shared = shared_path(groups.paths[parent.window_id] for parent in parents)
    if not shared:
        text = "a fan-in merges windows of one fan-out, and these have no such ancestor in common"
        raise PreconditionError(ErrorReason.UNSUPPORTED_STRATEGY, text, window_ids=_ids(parents))
    given_way += groups.take_over(shared, fresh)
    missing = _missing(dag, groups, shared, parents, fresh)
    for each in missing:
        if not (partial and each.may_be_left_out):
            raise _incomplete(each)
    given_way += [each.window for each in missing if each.state == ABANDONED]
    abandoned = {window.window_id: window for window in given_way}
    return Place(
        parents=tuple(sorted(parents, key=lambda parent: parent.window_id)),
        pattern=WindowPattern.FAN_IN,
        abandoned=tuple(abandoned[window_id] for window_id in sorted(abandoned)),
        left_out=tuple(sorted(each.window.window_id for each in missing)),
    )


def _missing(
    dag: DagView, groups: Groups, shared: Path, parents: Sequence[WindowRecord], fresh: NewWindow
) -> list[_Missing]:
    """Return the fan-out's windows, inner unmerged ones included, that are not on a way to a parent."""
    merged = {window.window_id for window in dag.lineage(parent.window_id for parent in parents)}
    found = []
    for window in dag.windows:
        path = groups.paths[window.window_id]
        inside = window.pattern is WindowPattern.FAN_OUT and shared[-1] in path
        if inside and window.window_id not in merged and not groups.is_taken(path, fresh):
            found.append(_Missing(window, _state(dag, window, fresh)))
    return found


def _state(dag: DagView, window: WindowRecord, fresh: NewWindow) -> str:
    if fresh.is_abandoned(window):
        return ABANDONED
    if window.status is not WindowStatus.COMMITTED:
        return window.status.value
    living = [w for w in dag.descendants(window.window_id) if w.status is not WindowStatus.FAILED]
    leaves = [w for w in (window, *living) if not dag.living_children(w.window_id)]
    if all(leaf.status is WindowStatus.COMMITTED and not leaf.continuation_id for leaf in leaves):
        return ENDED
    return NOT_NAMED


def _incomplete(missing: _Missing) -> PreconditionError:
    window_id = missing.window.window_id
    text = f"the fan-in needs window {window_id} of its fan-out, which is {missing.state}"
    return PreconditionError(ErrorReason.FAN_IN_INCOMPLETE, text, window_id=window_id, status=missing.state)


def _ids(windows: Sequence[WindowRecord]) -> str:
    return ",".join(sorted(window.window_id for window in windows))
