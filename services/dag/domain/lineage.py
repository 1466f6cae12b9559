"""CRP-Provenance-Window-Lineage: the path from the root to a window (SPEC-004 §4.2 and appendix A).

A stretch with one parent each is joined by `` -> ``; where branches meet, they stand in brackets, each from the first
window after the one that all of them come from, sorted by it: ``w1 -> [w2a -> w3a, w2b, w2c] -> w4``.
"""

from collections.abc import Sequence
from typing import Final

from services.dag.domain.view import DagView

ARROW: Final = " -> "


def lineage_text(dag: DagView, window_id: str) -> str:
    """Return the printed lineage of a window."""
    return ARROW.join(_path(dag, window_id, stop=frozenset()))


def _path(dag: DagView, window_id: str, stop: frozenset[str]) -> list[str]:
    """Return the parts from just below ``stop`` down to the window."""
    parts: list[str] = []
    current: str | None = window_id
    while current is not None and current not in stop:
        parts.append(current)
        parents = [parent for parent in dag.by_id[current].parent_ids if parent in dag.by_id]
        if len(parents) > 1:
            fork = _fork(dag, parents)
            below = stop | ({fork} if fork else set())
            branches = [branch for branch in (_path(dag, parent, below) for parent in parents) if branch]
            parts.extend(reversed(_merged(branches)))
            current = fork
        else:
            current = parents[0] if parents else None
    return parts[::-1]


def _merged(branches: Sequence[list[str]]) -> list[str]:
    """Return the parts of branches that meet: what they begin with in common once, the rest in brackets."""
    if len(branches) == 1:
        return branches[0]
    by_first: dict[str, list[list[str]]] = {}
    for branch in branches:
        by_first.setdefault(branch[0], []).append(branch)
    if len(by_first) == 1:
        first = branches[0][0]
        return [first, *_merged([branch[1:] for branch in branches if len(branch) > 1])]
    texts = (ARROW.join(_merged(by_first[first])) for first in sorted(by_first))
    return [f"[{', '.join(texts)}]"]


def _fork(dag: DagView, parents: Sequence[str]) -> str | None:
    """Return the deepest window that every parent is or descends from; the root at the latest."""
    shared = set.intersection(*({w.window_id for w in dag.lineage([parent])} for parent in parents))
    common = [window for window in dag.lineage(shared) if window.window_id in shared]
    return common[-1].window_id if common else None
