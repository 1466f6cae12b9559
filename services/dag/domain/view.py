"""A session's DAG as its rules see it: windows by id, children, ancestors, committed leaves (SPEC-004 §3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from services.common.ports.sessions import EdgeRecord, SessionSnapshot, WindowRecord
from services.common.taxonomy import WindowStatus


def is_adopted(window: WindowRecord) -> bool:
    """Say whether the window stands for one that another instance committed (SPEC-004 §10.2)."""
    return window.status is WindowStatus.COMMITTED and not window.report_id


@dataclass(frozen=True)
class DagView:
    """Windows and edges of one session; built from a snapshot, perhaps with a change laid over it."""

    windows: tuple[WindowRecord, ...]
    edges: tuple[EdgeRecord, ...]

    @classmethod
    def of(
        cls, snapshot: SessionSnapshot, windows: Iterable[WindowRecord] = (), edges: Iterable[EdgeRecord] = ()
    ) -> "DagView":
        """Return the snapshot with ``windows`` and ``edges`` inserted or replaced."""
        by_id = {window.window_id: window for window in (*snapshot.windows, *windows)}
        by_ends = {(edge.target_id, edge.source_id): edge for edge in (*snapshot.edges, *edges)}
        ordered = sorted(by_id.values(), key=lambda window: (window.window_number, window.window_id))
        return cls(tuple(ordered), tuple(by_ends[ends] for ends in sorted(by_ends)))

    @cached_property
    def by_id(self) -> dict[str, WindowRecord]:
        """Windows by id."""
        return {window.window_id: window for window in self.windows}

    @cached_property
    def _children(self) -> dict[str, list[WindowRecord]]:
        children: dict[str, list[WindowRecord]] = {}
        for window in self.windows:
            for parent_id in window.parent_ids:
                children.setdefault(parent_id, []).append(window)
        return children

    @cached_property
    def _edges_into(self) -> dict[str, tuple[EdgeRecord, ...]]:
        edges: dict[str, list[EdgeRecord]] = {}
        for edge in self.edges:
            edges.setdefault(edge.target_id, []).append(edge)
        return {target: tuple(found) for target, found in edges.items()}

    @property
    def root(self) -> WindowRecord | None:
        """The one root that has not failed (SPEC-004 §3.3), or ``None``."""
        return next((w for w in self.windows if not w.parent_ids and w.status is not WindowStatus.FAILED), None)

    @cached_property
    def committed(self) -> tuple[WindowRecord, ...]:
        """Committed windows by (window_number, window_id)."""
        return tuple(window for window in self.windows if window.status is WindowStatus.COMMITTED)

    @cached_property
    def adopted(self) -> tuple[WindowRecord, ...]:
        """Windows that stand for those of other stores, by (window_number, window_id)."""
        return tuple(window for window in self.windows if is_adopted(window))

    def children(self, window_id: str) -> Sequence[WindowRecord]:
        """Return all children, failed ones included, by (window_number, window_id)."""
        return self._children.get(window_id, ())

    def child_ids(self, window_id: str) -> tuple[str, ...]:
        """Return the children's ids, sorted (SPEC-004 §3.1)."""
        return tuple(sorted(window.window_id for window in self.children(window_id)))

    def living_children(self, window_id: str) -> tuple[WindowRecord, ...]:
        """Return the children that are pending or committed."""
        return tuple(window for window in self.children(window_id) if window.status is not WindowStatus.FAILED)

    def leaves(self) -> tuple[WindowRecord, ...]:
        """Return committed windows without a committed child: the chain's tips."""
        return tuple(
            window
            for window in self.committed
            if not any(child.status is WindowStatus.COMMITTED for child in self.children(window.window_id))
        )

    def lineage(self, window_ids: Iterable[str]) -> tuple[WindowRecord, ...]:
        """Return the windows and all their ancestors, by (window_number, window_id)."""
        found: dict[str, WindowRecord] = {}
        waiting = list(window_ids)
        while waiting:
            window = self.by_id.get(waiting.pop())
            if window is not None and window.window_id not in found:
                found[window.window_id] = window
                waiting.extend(window.parent_ids)
        return tuple(sorted(found.values(), key=lambda window: (window.window_number, window.window_id)))

    def latest_adopted(self, window_ids: Iterable[str]) -> tuple[WindowRecord, ...]:
        """Return the adopted windows of the lineage that no other adopted one descends from, the latest first.

        What each of them says of its line covers everything above it.
        """
        found: list[WindowRecord] = []
        covered: set[str] = set()
        if not self.adopted:
            return ()
        for window in reversed(self.lineage(window_ids)):
            if is_adopted(window) and window.window_id not in covered:
                found.append(window)
                covered.update(above.window_id for above in self.lineage((window.window_id,)))
        return tuple(found)

    def descendants(self, window_id: str) -> tuple[WindowRecord, ...]:
        """Return everything that descends from the window, by (window_number, window_id)."""
        found: dict[str, WindowRecord] = {}
        waiting = [window_id]
        while waiting:
            for child in self.children(waiting.pop()):
                if child.window_id not in found:
                    found[child.window_id] = child
                    waiting.append(child.window_id)
        return tuple(sorted(found.values(), key=lambda window: (window.window_number, window.window_id)))

    def edges_into(self, window_id: str) -> tuple[EdgeRecord, ...]:
        """Return the edges whose target is the window."""
        return self._edges_into.get(window_id, ())

    def highest_number(self) -> int:
        """Return the highest window_number of windows that have not failed, 0 when there is none."""
        return max((w.window_number for w in self.windows if w.status is not WindowStatus.FAILED), default=0)
