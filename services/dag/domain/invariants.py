"""The five invariants of the window DAG (SPEC-004 §3.3), checked over a snapshot with a proposed change laid over it.

Violations are listed in the order of the specification, each with the record that breaks it. Whether stored HMACs are
right is ``verify``'s matter; here every committed window must be chained to committed parents.
"""

from dataclasses import dataclass
from enum import StrEnum, unique

from services.common.ports.sessions import WindowRecord
from services.common.taxonomy import WindowStatus
from services.dag.domain.view import DagView, is_adopted


@unique
class Invariant(StrEnum):
    """The five, in the specification's order."""

    ACYCLIC = "ACYCLIC"
    SINGLE_ROOT = "SINGLE_ROOT"
    CONNECTED = "CONNECTED"
    HMAC_CHAINED = "HMAC_CHAINED"
    MONOTONIC_NUMBERING = "MONOTONIC_NUMBERING"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken invariant.

    Attributes:
        record_kind, record_id: the record that breaks it.
        detail: what does not hold, without content.
    """

    invariant: Invariant
    record_kind: str
    record_id: str
    detail: str


def violations(dag: DagView) -> list[Violation]:
    """Return every violation, in the order of SPEC-004 §3.3; empty when all five hold."""
    return [*_acyclic(dag), *_single_root(dag), *_connected(dag), *_chained(dag), *_numbered(dag)]


def _acyclic(dag: DagView) -> list[Violation]:
    """No window is its own ancestor: Kahn's order must reach every window."""
    waiting = {window.window_id: sum(p in dag.by_id for p in window.parent_ids) for window in dag.windows}
    ready = [window_id for window_id, parents in waiting.items() if parents == 0]
    while ready:
        window_id = ready.pop()
        del waiting[window_id]
        for child in dag.children(window_id):
            waiting[child.window_id] -= 1
            if waiting[child.window_id] == 0:
                ready.append(child.window_id)
    return [_window(Invariant.ACYCLIC, stuck, "is on a cycle or descends from one") for stuck in sorted(waiting)]


def _single_root(dag: DagView) -> list[Violation]:
    living = [w for w in dag.windows if not w.parent_ids and w.status is not WindowStatus.FAILED]
    found = [_window(Invariant.SINGLE_ROOT, w.window_id, "is a second root") for w in living[1:]]
    # A failed root may be followed by another attempt; an adopted root keeps the number it has elsewhere (§10.2).
    roots = [w for w in dag.windows if not w.parent_ids and not is_adopted(w)]
    misnumbered = [w.window_id for w in roots if w.window_number != 1]
    found += [_window(Invariant.SINGLE_ROOT, w, "is a root with a window_number other than 1") for w in misnumbered]
    if not living and any(window.parent_ids for window in dag.windows):
        first = next(window for window in dag.windows if window.parent_ids)
        found.append(_window(Invariant.SINGLE_ROOT, first.window_id, "has no root above it"))
    return found


def _connected(dag: DagView) -> list[Violation]:
    """Every parent is there, and parents and edges say the same."""
    found = []
    for window in dag.windows:
        if len(set(window.parent_ids)) != len(window.parent_ids):
            found.append(_window(Invariant.CONNECTED, window.window_id, "names a parent twice"))
        missing = [parent for parent in window.parent_ids if parent not in dag.by_id]
        if missing:
            found.append(_window(Invariant.CONNECTED, window.window_id, f"names the unknown parent {missing[0]}"))
        if {edge.source_id for edge in dag.edges_into(window.window_id)} != set(window.parent_ids):
            found.append(_window(Invariant.CONNECTED, window.window_id, "has edges that differ from its parents"))
    for edge in dag.edges:
        if edge.target_id not in dag.by_id or edge.source_id not in dag.by_id:
            ends = f"{edge.source_id} -> {edge.target_id}"
            found.append(Violation(Invariant.CONNECTED, "edge", ends, "leads from or to an unknown window"))
    return found


def _chained(dag: DagView) -> list[Violation]:
    found = []
    for window in dag.windows:
        committed = window.status is WindowStatus.COMMITTED
        if committed != bool(window.hmac):
            found.append(_window(Invariant.HMAC_CHAINED, window.window_id, "has an hmac against its status, or none"))
        parents = _known_parents(dag, window)
        if window.status is not WindowStatus.FAILED and any(p.status is not WindowStatus.COMMITTED for p in parents):
            found.append(_window(Invariant.HMAC_CHAINED, window.window_id, "descends from a window without an hmac"))
    return found


def _numbered(dag: DagView) -> list[Violation]:
    """A child's number is one above its highest parent's, so siblings share theirs (§6.3).

    Between an adopted window and its parents there may be windows that only other stores hold (§10.2).
    """
    found = []
    for window in dag.windows:
        parents = _known_parents(dag, window)
        follows = max((p.window_number for p in parents), default=0) + 1
        if parents and (window.window_number < follows if is_adopted(window) else window.window_number != follows):
            text = "has a window_number that does not follow its parents'"
            found.append(_window(Invariant.MONOTONIC_NUMBERING, window.window_id, text))
    return found


def _known_parents(dag: DagView, window: WindowRecord) -> list[WindowRecord]:
    return [dag.by_id[parent] for parent in window.parent_ids if parent in dag.by_id]


def _window(invariant: Invariant, window_id: str, detail: str) -> Violation:
    return Violation(invariant, "window", window_id, detail)
