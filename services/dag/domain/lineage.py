"""CRP-Provenance-Window-Lineage: the path from the root to a window (SPEC-004 §4.2 and appendix A).

A stretch with one parent each is joined by `` -> ``; where branches meet, they stand in brackets, each from the first
window after the one that all of them come from, sorted by it: ``w1 -> [w2a -> w3a, w2b, w2c] -> w4``. What branches
begin with in common stands once. Parents that do not come before their child, which only a broken store holds, are left
out, so that every path ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.ports.sessions import WindowRecord
from services.dag.domain.view import DagView

ARROW: Final = " -> "


def lineage_text(dag: DagView, window_id: str) -> str:
    """Return the printed lineage of a window."""
    return ARROW.join(_path(_Forks.of(dag, window_id), window_id, None))


@dataclass(frozen=True, slots=True)
class _Forks:
    """For each window its parents, and the last window that every way to it passes: its fork, ``None`` for a root."""

    parents: Mapping[str, Sequence[str]]
    fork: Mapping[str, str | None]

    @classmethod
    def of(cls, dag: DagView, window_id: str) -> "_Forks":
        """Return the forks of a window's ancestors and its own: the nearest that its parents have in common."""
        parents: dict[str, Sequence[str]] = {}
        fork: dict[str, str | None] = {}
        depth: dict[str | None, int] = {None: 0}

        def meet(left: str | None, right: str | None) -> str | None:
            while left != right:
                if left is not None and depth[left] >= depth[right]:
                    left = fork[left]
                elif right is not None:
                    right = fork[right]
            return left

        for window in dag.lineage((window_id,)):
            above = _earlier(dag, window)
            parents[window.window_id] = above
            nearest: str | None = above[0] if above else None
            for parent in above[1:]:
                nearest = meet(nearest, parent)
            fork[window.window_id] = nearest
            depth[window.window_id] = depth[nearest] + 1
        return cls(parents, fork)


def _earlier(dag: DagView, window: WindowRecord) -> list[str]:
    number = window.window_number
    return [p for p in window.parent_ids if p in dag.by_id and dag.by_id[p].window_number < number]


def _path(forks: _Forks, window_id: str, stop: str | None) -> list[str]:
    """Return the parts from just below ``stop`` down to the window."""
    parts: list[str] = []
    current: str | None = window_id
    while current is not None and current != stop:
        parts.append(current)
        parents, fork = forks.parents[current], forks.fork[current]
        if len(parents) > 1:
            branches = [branch for branch in (_path(forks, parent, fork) for parent in parents) if branch]
            parts.extend(reversed(_merged(branches)))
        current = fork
    return parts[::-1]


def _merged(branches: Sequence[list[str]]) -> list[str]:
    """Return the parts of branches that meet: what they begin with in common once, the rest in brackets."""
    if len(branches) < 2:  # noqa: PLR2004 - one branch needs no brackets
        return [part for branch in branches for part in branch]
    by_first: dict[str, list[list[str]]] = {}
    for branch in branches:
        by_first.setdefault(branch[0], []).append(branch)
    if len(by_first) == 1:
        first = branches[0][0]
        return [first, *_merged([branch[1:] for branch in branches if len(branch) > 1])]
    texts = (ARROW.join(_merged(by_first[first])) for first in sorted(by_first))
    return [f"[{', '.join(texts)}]"]
