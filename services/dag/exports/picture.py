"""A session's DAG as every drawing needs it: short names, labels, shades; made from the messages of ``GetDag``.

Names are those of SPEC-004 appendix A: the window number, and a letter for each fork on the way (``2a``, ``3a``); a
fan-in keeps the letters that all its parents share. They are for people: ids stand beside them everywhere.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from string import ascii_lowercase
from typing import Any, ClassVar, Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

NOT_YET: Final = "-"
"""Stands for a tier or risk that a window does not have yet."""
COLOURS: Final = {"LOW": "#cdebdd", "MEDIUM": "#fbe9a9", "HIGH": "#f7c49a", "CRITICAL": "#f0a3a3", NOT_YET: "#e6e6e6"}
"""Fill per risk level. All carry black text at a contrast above 7:1 and grow darker with the risk, so that a grey print
keeps the order; the level stands in the label too."""
WEIGHTS: Final = {"LOW": 1, "MEDIUM": 2, "HIGH": 3, "CRITICAL": 4, NOT_YET: 1}
"""Width of the border per risk level: the second sign beside the colour."""


@dataclass(frozen=True, slots=True)
class WindowPicture:
    """One window.

    Attributes:
        name: short name for people, unique in the session: ``2a``.
        forks: its letters.
        tier, risk: ``-`` until the window is committed.
        parents: ids of its parents in this store, as listed; ``elsewhere`` those that are not in it.
    """

    window_id: str
    name: str
    number: int
    forks: tuple[str, ...]
    pattern: str
    status: str
    strategy: str
    tier: str
    risk: str
    budget: float
    hmac: str
    parents: tuple[str, ...]
    elsewhere: tuple[str, ...]
    node: dag_pb2.WindowNode

    @property
    def is_root(self) -> bool:
        """Whether it begins the session."""
        return not self.parents and not self.elsewhere


@dataclass(frozen=True, slots=True)
class EdgePicture:
    """What flowed; ``transfer`` is ``-`` where the store holds no record of it."""

    source: str
    target: str
    transfer: str
    tokens: int
    summary_hash: str

    @property
    def label(self) -> str:
        """What stands on the line."""
        return f"{self.transfer}, {self.tokens} tokens" if self.transfer != NOT_YET else "not recorded"


@dataclass(frozen=True, slots=True)
class AgentPicture:
    """An answer at the end of an agent's own session that a window merged: its conclusion flowed (ADR 0170)."""

    session_id: str
    window_id: str
    target: str
    budget: float
    hmac: str
    message: pb.MergedAgent

    transfer: ClassVar[str] = "RESULT_ONLY"

    @property
    def key(self) -> str:
        """Its name among the nodes of a graph: an agent's window is none of this session's."""
        return f"{self.session_id}/{self.window_id}"


@dataclass(frozen=True, slots=True)
class DagPicture:
    """A whole session: windows by (number, id), edges by (target, source), agents' answers by (target, agent).

    ``strangers`` are windows from elsewhere that an edge names.
    """

    session_id: str
    status: str
    windows: tuple[WindowPicture, ...]
    edges: tuple[EdgePicture, ...]
    strangers: tuple[str, ...]
    agents: tuple[AgentPicture, ...]
    message: pb.GetDagResponse

    @property
    def breaker(self) -> str:
        """Return the circuit breaker's state; empty where the server did not say."""
        state = self.message.session.circuit_breaker
        return _short(taxonomy.BreakerState, state, "BREAKER_STATE_") if state else ""

    def by_id(self) -> dict[str, WindowPicture]:
        """Return the windows by id."""
        return {window.window_id: window for window in self.windows}

    def children(self) -> dict[str, list[WindowPicture]]:
        """Return each window's children in order."""
        found: dict[str, list[WindowPicture]] = defaultdict(list)
        for window in self.windows:
            for parent in window.parents:
                found[parent].append(window)
        return found


def picture_of(message: pb.GetDagResponse) -> DagPicture:
    """Return the drawing's view of a DAG, whatever the message holds: also one that breaks the rules of a DAG."""
    nodes = sorted(
        {node.window_id: node for node in message.windows}.values(),
        key=lambda node: (node.window_number, node.window_id),
    )
    here = {node.window_id for node in nodes}
    forks = _forks(nodes, here)
    names = _names(nodes, forks)
    windows = tuple(_window(node, here, names, forks) for node in nodes)
    edges = _edges(message.edges, windows)
    agents = _agents(message.agents)
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    strangers = sorted((ends | {agent.target for agent in agents}) - here)
    status = _short(dag_pb2.SessionStatus, message.session.status, "SESSION_STATUS_")
    return DagPicture(message.session.session_id, status, windows, edges, tuple(strangers), agents, message)


def _window(
    node: dag_pb2.WindowNode, here: set[str], names: dict[str, str], forks: dict[str, tuple[str, ...]]
) -> WindowPicture:
    return WindowPicture(
        window_id=node.window_id,
        name=names[node.window_id],
        number=node.window_number,
        forks=forks[node.window_id],
        pattern=_short(dag_pb2.WindowPattern, node.pattern, "WINDOW_PATTERN_"),
        status=_short(dag_pb2.WindowStatus, node.status, "WINDOW_STATUS_"),
        strategy=node.strategy,
        tier=_short(taxonomy.QualityTier, node.quality_tier, "QUALITY_TIER_"),
        risk=_short(taxonomy.RiskLevel, node.risk_level, "RISK_LEVEL_"),
        budget=node.safety_budget,
        hmac=node.hmac,
        parents=tuple(dict.fromkeys(parent for parent in node.parent_ids if parent in here)),
        elsewhere=tuple(dict.fromkeys(parent for parent in node.parent_ids if parent not in here)),
        node=node,
    )


def _agents(merged: Iterable[pb.MergedAgent]) -> tuple[AgentPicture, ...]:
    found = {
        (each.target_id, each.session_id, each.window_id): AgentPicture(
            each.session_id, each.window_id, each.target_id, each.safety_budget, each.hmac, each
        )
        for each in merged
    }
    return tuple(found[ends] for ends in sorted(found))


def _short(enum: Any, value: int, prefix: str) -> str:
    """Return the name without its prefix, ``-`` when not set, the number when a later version added it."""
    if value == 0:
        return NOT_YET
    name = enum.Name(value) if value in enum.values() else str(value)
    return str(name).removeprefix(prefix)


def _edges(records: Iterable[dag_pb2.WindowEdge], windows: Sequence[WindowPicture]) -> tuple[EdgePicture, ...]:
    """Return the recorded edges, and one for each parent that a window names without a record."""
    found = {
        (record.target_id, record.source_id): EdgePicture(
            record.source_id,
            record.target_id,
            _short(dag_pb2.TransferType, record.transfer_type, "TRANSFER_TYPE_"),
            record.transferred_tokens,
            record.summary_hash,
        )
        for record in records
    }
    for window in windows:
        for parent in (*window.parents, *window.elsewhere):
            bare = EdgePicture(parent, window.window_id, NOT_YET, 0, "")
            found.setdefault((window.window_id, parent), bare)
    return tuple(found[ends] for ends in sorted(found))


def _forks(nodes: Sequence[dag_pb2.WindowNode], here: set[str]) -> dict[str, tuple[str, ...]]:
    """Return each window's letters; parents come first in ``nodes``, whatever stands otherwise gets none."""
    heirs: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        parents = [parent for parent in node.parent_ids if parent in here]
        if len(parents) == 1:
            heirs[parents[0]].append(node.window_id)
    found: dict[str, tuple[str, ...]] = {}
    for node in nodes:
        parents = [parent for parent in node.parent_ids if parent in found]
        if len(parents) == 1:
            siblings = heirs[parents[0]]
            own = (_letter(siblings.index(node.window_id)),) if node.window_id in siblings and siblings[1:] else ()
            found[node.window_id] = (*found[parents[0]], *own)
        elif parents:
            shared = takewhile(lambda letters: len(set(letters)) == 1, zip(*(found[p] for p in parents), strict=False))
            found[node.window_id] = tuple(letters[0] for letters in shared)
        else:
            found[node.window_id] = ()
    return found


def _letter(index: int) -> str:
    return ascii_lowercase[index] if index < len(ascii_lowercase) else f"({index + 1})"


def _names(nodes: Sequence[dag_pb2.WindowNode], forks: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return number and letters, told apart by a count where two windows would share them."""
    taken: Counter[str] = Counter()
    names: dict[str, str] = {}
    for node in nodes:
        name = f"{node.window_number}{''.join(forks[node.window_id])}"
        taken[name] += 1
        names[node.window_id] = name if taken[name] == 1 else f"{name}.{taken[name]}"
    return names
