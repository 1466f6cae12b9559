"""Transparency logs in lists, one per tenant."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from services.common.counting import counted
from services.common.errors import LogInconsistentError
from services.common.merkle import CompactRange, Place, check_full, ending_leaf
from services.common.ports.transparency_log import KeptHead, LeafKind, LogLeaf, LogRow, LogState


@dataclass(slots=True)
class _Log:
    leaves: list[LogLeaf] = field(default_factory=list)
    subtrees: list[tuple[bytes, ...]] = field(default_factory=list)
    tree: CompactRange = field(default_factory=CompactRange)
    indexes: dict[tuple[str, LeafKind, str], int] = field(default_factory=dict)
    of_session: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    head: KeptHead | None = None


class MemoryLogs:
    """The logs of all tenants."""

    def __init__(self) -> None:
        self._logs: defaultdict[str, _Log] = defaultdict(_Log)

    def holds(self, tenant_id: str, leaves: Sequence[LogLeaf]) -> bool:
        """Say whether one of the records has a leaf, or two of the leaves are of one record."""
        keys = [(leaf.session_id, leaf.record_kind, leaf.record_id) for leaf in leaves]
        known = self._logs[tenant_id].indexes
        return len(set(keys)) != len(keys) or any(key in known for key in keys)

    def check(self, tenant_id: str) -> None:
        """Refuse to append to a log that does not hold together.

        Raises:
            LogInconsistentError: LOG_INCONSISTENT.
        """
        log = self._logs[tenant_id]
        if log.head is not None and log.tree.size < log.head.size:
            raise LogInconsistentError.of(
                f"it has {counted(log.tree.size, 'leaf', 'leaves')}, fewer than the head that was kept"
            )
        if len(log.leaves) != log.tree.size:
            raise LogInconsistentError.of(
                f"it has {counted(len(log.leaves), 'leaf', 'leaves')}, its tree {log.tree.size}"
            )

    def append(self, tenant_id: str, leaves: Sequence[LogLeaf]) -> None:
        """Append the leaves and give them their indexes."""
        log = self._logs[tenant_id]
        log.tree, subtrees = log.tree.extend(leaf.leaf_hash for leaf in leaves)
        log.subtrees.extend(subtrees)
        for leaf in leaves:
            index = len(log.leaves)
            log.leaves.append(replace(leaf, leaf_index=index))
            log.indexes[leaf.session_id, leaf.record_kind, leaf.record_id] = index
            log.of_session[leaf.session_id].append(index)

    def of_session(self, tenant_id: str, session_id: str) -> tuple[LogLeaf, ...]:
        """Return the session's leaves, by index."""
        log = self._logs[tenant_id]
        return tuple([log.leaves[index] for index in log.of_session.get(session_id, ())])

    def state(self, tenant_id: str) -> LogState:
        """Return size, peaks and kept head."""
        log = self._logs[tenant_id]
        return LogState(log.tree.size, log.tree.to_bytes(), log.head)

    def rows(self, tenant_id: str, after: int, limit: int) -> list[LogRow]:
        """Return leaves as they are stored."""
        log, part = self._logs[tenant_id], slice(after + 1, after + 1 + limit)
        pairs = zip(log.leaves[part], log.subtrees[part], strict=True)
        return [LogRow(leaf, b"".join(subtrees)) for leaf, subtrees in pairs]

    def keep(self, tenant_id: str, head: KeptHead) -> None:
        """Keep the head unless a larger one is kept."""
        log = self._logs[tenant_id]
        if log.head is None or log.head.size <= head.size:
            log.head = head

    def tenants(self) -> list[str]:
        """Return the tenants that were asked about, sorted."""
        return sorted(self._logs)

    def after(self, tenant_id: str, index: int, limit: int) -> list[LogLeaf]:
        """Return up to ``limit`` leaves that follow one."""
        return self._logs[tenant_id].leaves[index + 1 : index + 1 + limit]

    def size(self, tenant_id: str) -> int:
        """Return the number of leaves."""
        return self._logs[tenant_id].tree.size

    def hashes(self, tenant_id: str, places: Sequence[Place]) -> list[bytes]:
        """Return the hashes of full subtrees; ValueError for what is none."""
        log = self._logs[tenant_id]
        check_full(places, log.tree.size)
        return [log.subtrees[ending_leaf(place)][place[0]] for place in places]

    def find(self, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]) -> list[LogLeaf | None]:
        """Return the leaves of records."""
        log = self._logs[tenant_id]
        found = [log.indexes.get((session_id, *record)) for record in records]
        return [None if index is None else log.leaves[index] for index in found]
