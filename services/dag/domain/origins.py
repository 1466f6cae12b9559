"""Which stores committed the windows of a token's line, so that relay can be told from rollback (SPEC-004 §10.2).

A token names the leaf and the store that issued it, the latest window of every other store that the leaf descends from,
the windows that opened the parallel groups it stands in, the heads of its branches in them, the root and the parents:
at most ``MOST_ORIGINS``. A store that is named and does not hold the window has lost it; one that is not named never
had it (ADR 0102).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from services.common.ports.sessions import AuditEventRecord, WindowPattern, WindowRecord
from services.dag.domain.events import OwnEvent
from services.dag.domain.groups import Groups
from services.dag.domain.view import DagView, is_adopted

MOST_ORIGINS: Final = 12
TIP_DIGITS: Final = 32
"""Of a window's HMAC: 128 bits name it; the token's own signature is what is believed."""
OPENED_GROUP: Final = 1
HEADS_BRANCH: Final = 2
_MOST_READ: Final = 64
_STORE: Final = re.compile(r"[0-9a-f]{16}|")
_TIP: Final = re.compile(rf"[0-9a-f]{{{TIP_DIGITS}}}|")


@dataclass(frozen=True, slots=True)
class Origin:
    """A window of a line.

    Attributes:
        store_id: of the store that committed it; empty when no token said so.
        tip: first ``TIP_DIGITS`` digits of its HMAC; empty before the first window.
        role: OPENED_GROUP of a window that opened a parallel group in which the leaf stands, HEADS_BRANCH of that
            group's window on the way to the leaf, 0 of any other.
    """

    store_id: str
    window_number: int
    tip: str
    role: int = 0

    @property
    def opened_group(self) -> bool:
        """Whether the leaf stands in a parallel group that this window opened."""
        return self.role == OPENED_GROUP


def tip_of(window: WindowRecord) -> str:
    """Return what names the window in every store."""
    return window.hmac[:TIP_DIGITS]


def origin_fields(origins: Iterable[Origin]) -> list[list[Any]]:
    """Return the token's ``org``: store, number and tip each, and the role of a window that has one."""
    return [[one.store_id, one.window_number, one.tip, *([one.role] if one.role else [])] for one in origins]


def read_origins(value: Any) -> tuple[Origin, ...]:
    """Read a token's ``org``, strictly.

    Raises:
        ValueError, TypeError: it has another form.
    """
    if not isinstance(value, list | tuple) or len(value) > _MOST_READ:
        raise TypeError
    return tuple(_origin(*entry) for entry in value)


def _origin(store_id: Any, number: Any, tip: Any, role: Any = 0) -> Origin:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise TypeError
    if isinstance(role, bool) or role not in (0, OPENED_GROUP, HEADS_BRANCH):
        raise TypeError
    if not (_STORE.fullmatch(store_id) and _TIP.fullmatch(tip)):
        raise ValueError
    return Origin(store_id, number, tip, int(role))


@dataclass(frozen=True, slots=True)
class Adopted:
    """What an adopted window's token said of its line.

    Attributes:
        groups: tips of the windows that opened the groups that the window stands in and its parents here do not.
    """

    origins: tuple[Origin, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adoptions:
    """What the adopted windows of a session came with; an event is read when it is asked for."""

    events: Mapping[str, str]
    _read: dict[str, Adopted] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Sequence[AuditEventRecord]) -> "Adoptions":
        """Return what verified events say; of a window the last one counts."""
        return cls({e.window_id: e.data for e in events if e.event_type == OwnEvent.DISPATCH_COMPLETED})

    def __getitem__(self, window_id: str) -> Adopted:
        """Return what is known of the window; nothing of one whose token named no store."""
        if window_id not in self._read:
            said = json.loads(self.events.get(window_id) or "{}").get("adopted", {})
            self._read[window_id] = Adopted(read_origins(said.get("origins", ())), tuple(said.get("groups", ())))
        return self._read[window_id]


def origins_of(dag: DagView, leaf: WindowRecord | None, store_id: str, adoptions: Adoptions) -> tuple[Origin, ...]:
    """Return what a token for the leaf says of its line.

    Args:
        dag: the session.
        leaf: a committed window; ``None`` before the first.
        store_id: of the store that holds the session.
        adoptions: what its adopted windows came with.
    """
    if leaf is None:
        return (Origin(store_id, 0, ""),)
    if is_adopted(leaf):
        return adoptions[leaf.window_id].origins
    line = _Line(dag, store_id, adoptions)
    line.name_window(leaf)
    groups = group_tips(dag, leaf, adoptions)
    for tip in groups:
        line.name_group(tip)
    for head in _branch_heads(dag, leaf):
        line.name_window(head, HEADS_BRANCH)
    for origin in _said_elsewhere(dag, leaf, store_id, adoptions):
        if groups or not origin.role:
            line.name(origin)
    if dag.root is not None:
        line.name_window(dag.root)
    for parent in leaf.parent_ids:
        line.name_window(dag.by_id[parent])
    return tuple(line.found.values())[:MOST_ORIGINS]


@dataclass(frozen=True)
class _Line:
    """What was named so far, by tip, the most telling first."""

    dag: DagView
    store_id: str
    adoptions: Adoptions
    found: dict[str, Origin] = field(default_factory=dict)

    def name(self, origin: Origin) -> None:
        """Name a window, once."""
        self.found.setdefault(origin.tip, origin)

    def name_window(self, window: WindowRecord, role: int = 0) -> None:
        """Name a window that is held here, its own or as a stand-in."""
        said = self.adoptions[window.window_id].origins if is_adopted(window) else (_own(window, self.store_id),)
        for origin in said[:1]:
            self.name(replace(origin, role=role))

    def name_group(self, tip: str) -> None:
        """Name the window that opened a group; it may be known by its tip alone."""
        window = next((window for window in self.dag.committed if tip_of(window) == tip), None)
        if window is not None:
            self.name_window(window)
        self.found[tip] = replace(self.found.get(tip, Origin("", 0, tip)), role=OPENED_GROUP)


def _own(window: WindowRecord, store_id: str) -> Origin:
    return Origin(store_id, window.window_number, tip_of(window))


def _said_elsewhere(dag: DagView, leaf: WindowRecord, own: str, adoptions: Adoptions) -> Iterator[Origin]:
    """Yield what the leaf's latest adopted ancestors came with: branches' heads, other stores' latest, the root."""
    for adopted in dag.latest_adopted((leaf.window_id,)):
        said = adoptions[adopted.window_id].origins
        yield from (origin for origin in said if origin.role == HEADS_BRANCH)
        yield from _latest_of_stores(said, own)
        yield from (origin for origin in said if origin.window_number == 1 and not origin.role)


def _branch_heads(dag: DagView, leaf: WindowRecord) -> list[WindowRecord]:
    """Return the windows with which the leaf's branches begin, in the parallel groups that it stands in."""
    path = set(Groups.of(dag).paths[leaf.window_id])
    above = dag.lineage((leaf.window_id,)) if path else ()
    return [window for window in above if window is not leaf and path.intersection(window.parent_ids)]


def _latest_of_stores(origins: Iterable[Origin], own: str) -> list[Origin]:
    """Return the latest window of every other store, the highest number first."""
    latest: dict[str, Origin] = {}
    for origin in origins:
        if origin.store_id not in ("", own):
            held = latest.get(origin.store_id)
            if held is None or origin.window_number > held.window_number:
                latest[origin.store_id] = replace(origin, role=0)
    return sorted(latest.values(), key=lambda origin: -origin.window_number)


def group_tips(dag: DagView, window: WindowRecord, adoptions: Adoptions) -> tuple[str, ...]:
    """Return tips of the windows that opened the groups that a window stands in, the outermost first (SPEC-004 §6)."""
    stands_for: dict[str, tuple[str, ...]] = {}
    before: tuple[str, ...] = ()
    for above in dag.lineage((window.window_id,)) if dag.adopted else ():
        if is_adopted(above) and not above.parent_ids:
            before = adoptions[above.window_id].groups
        elif is_adopted(above) and above.pattern is WindowPattern.FAN_OUT:
            stands_for[above.parent_ids[0]] = adoptions[above.window_id].groups
    path = Groups.of(dag).paths[window.window_id]
    opened = (stands_for.get(group) or (tip_of(dag.by_id[group]),) for group in path)
    return (*before, *(tip for tips in opened for tip in tips))
