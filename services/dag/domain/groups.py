"""Which parallel groups a window stands in, and which of them a fan-in has taken (SPEC-004 §6, §7; ADR 0051).

A window with parallel children opens a group; it is named by that window's id. Children of a fan-out stand in their
parent's groups and in the one that their parent opened; whatever continues them stands where they stand. A fan-in
stands in the groups that all of its parents share, but for the innermost: that one it has taken.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.common.ports.sessions import WindowPattern, WindowRecord
from services.common.taxonomy import WindowStatus
from services.dag.domain.place import NewWindow, give_way
from services.dag.domain.view import DagView

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a session's windows.

    Attributes:
        paths: for each window the groups that it stands in, the outermost first.
        takers: for each group that was taken the fan-in that took it, pending or committed.
    """

    paths: Mapping[str, Path]
    takers: Mapping[str, WindowRecord]

    @classmethod
    def of(cls, dag: DagView) -> "Groups":
        """Return the groups of the session; windows come in the order of their numbers, so parents come first."""
        paths: dict[str, Path] = {}
        takers: dict[str, WindowRecord] = {}
        for window in dag.windows:
            parents = [paths[parent] for parent in window.parent_ids if parent in paths]
            shared = shared_path(parents)
            if window.pattern is WindowPattern.FAN_IN:
                if shared and window.status is not WindowStatus.FAILED:
                    takers[shared[-1]] = window
                paths[window.window_id] = shared[:-1]
            elif window.parent_ids and _is_parallel(dag, window):
                paths[window.window_id] = (*shared, window.parent_ids[0])
            else:
                paths[window.window_id] = shared
        return cls(paths, takers)

    def is_taken(self, path: Path, fresh: NewWindow) -> bool:
        """Say whether a fan-in that was not abandoned has taken one of the groups."""
        return any(not fresh.is_abandoned(self.takers[group]) for group in path if group in self.takers)

    def take_over(self, path: Path, fresh: NewWindow) -> tuple[WindowRecord, ...]:
        """Return the abandoned fan-ins that took the groups and give way.

        Raises:
            UnauthenticatedError: TOKEN_SPENT: one that was not abandoned has taken a group.
        """
        return give_way((self.takers[group] for group in path if group in self.takers), fresh)

    def is_parallel(self, window_id: str) -> bool:
        """Say whether the window stands in a group: then it ends its branch and not the session."""
        return bool(self.paths[window_id])


def shared_path(paths: Iterable[Path]) -> Path:
    """Return the groups that all of the windows stand in."""
    every = list(paths)
    if not every:
        return ()
    shared = []
    for level in zip(*every, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return tuple(shared)


def _is_parallel(dag: DagView, window: WindowRecord) -> bool:
    if window.pattern is not WindowPattern.LINEAR:
        return True
    # The reflexive window that a branch stands beside was opened as LINEAR (SPEC-004 §1.2).
    siblings = dag.living_children(window.parent_ids[0])
    return any(sibling.pattern is WindowPattern.BRANCH for sibling in siblings)
