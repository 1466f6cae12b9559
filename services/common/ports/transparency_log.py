"""A tenant's transparency log (RFC 9162): leaves, what is stored of the tree, and the head that was signed last.

A store of sessions keeps it, and appends the leaves of a change in the transaction that writes the change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final, Protocol

from services.common.merkle import Place

UNASSIGNED: Final = -1
"""The index of a leaf that is not in the log yet."""


@unique
class LeafKind(StrEnum):
    """What a leaf of the transparency log stands for."""

    WINDOW = "window"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class LogLeaf:
    """One leaf of a tenant's transparency log (RFC 9162): a committed window or an audit event; never changed.

    Attributes:
        record_id: window id or event id; a record has one leaf.
        position: the window's number, or the event's sequence.
        content_hmac: 64 hex digits, HMAC-SHA256 of the record's canonical content under the record's salt.
        leaf_hash: 32 bytes, SHA-256 over 0x00 and the leaf's canonical bytes.
        leaf_index: place in the tenant's log, from 0 and without gaps; the store assigns it when it appends.
    """

    session_id: str
    record_kind: LeafKind
    record_id: str
    position: int
    content_hmac: str
    leaf_hash: bytes
    leaf_index: int = UNASSIGNED


@dataclass(frozen=True, slots=True)
class LogRow:
    """A leaf as it is stored.

    Attributes:
        leaf: with its index and the hash that is stored for it.
        subtrees: hashes of the full subtrees that end with it, from the leaf's own on, joined.
    """

    leaf: LogLeaf
    subtrees: bytes


@dataclass(frozen=True, slots=True)
class KeptHead:
    """The largest head that was signed of a tenant's log (ADR 0099).

    Attributes:
        size, root: what was signed; 32 bytes of root.
        mac: 64 hex digits, HMAC over tenant, size and root under a key of the tenant's.
        key_version: of the master key that the MAC's key is derived from.
    """

    size: int
    root: bytes
    mac: str
    key_version: int


@dataclass(frozen=True, slots=True)
class LogState:
    """What a store holds of a tenant's log besides its leaves, as it is stored.

    Attributes:
        size, peaks: of the tree: number of leaves, hashes of its largest full subtrees, joined.
        head: ``None`` when none was kept.
    """

    size: int = 0
    peaks: bytes = b""
    head: KeptHead | None = None


class TransparencyLog(Protocol):
    """The Merkle tree over the leaves of each tenant, as ``services.common.merkle`` cuts it.

    A store appends to what holds together alone: the peaks are those that its leaves end, no leaf lies beyond them,
    and the tree is no smaller than the head that was kept. Otherwise a write is refused, LOG_INCONSISTENT.
    """

    async def tree_size(self, tenant_id: str) -> int:
        """Return the number of leaves."""
        ...

    async def tree_hashes(self, tenant_id: str, places: Sequence[Place]) -> list[bytes]:
        """Return the hash of the full subtree at each place, 32 bytes; no more than the places asked for is read.

        Raises:
            ValueError: a place is not a full subtree of the log.
            LogInconsistentError: LOG_INCONSISTENT: a leaf that must be there is not.
        """
        ...

    async def read_leaves(self, tenant_id: str, *, first: int, limit: int) -> list[LogLeaf]:
        """Return the leaves ``first`` up to ``first + limit``, exclusive, by index.

        One that is not there, or is not what a leaf is, is left out: whoever asks sees the gap.
        """
        ...

    async def keep_cosigned(self, tenant_id: str, size: int, note: str) -> None:
        """Keep a checkpoint that witnesses cosigned, in the place of one of the same or a smaller size.

        One that is lost with the power is asked for again; nothing waits for the disk because of it.
        """
        ...

    async def cosigned(self, tenant_id: str) -> str:
        """Return the kept checkpoint, as a signed note; empty without one."""
        ...

    async def find_leaves(
        self, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
    ) -> list[LogLeaf | None]:
        """Return the leaf of each record, by kind and id; ``None`` for one that is not in the log."""
        ...

    async def log_state(self, tenant_id: str) -> LogState:
        """Return size, peaks and kept head, read as one."""
        ...

    async def page_log(self, tenant_id: str, *, after: int, limit: int) -> list[LogRow]:
        """Return up to ``limit`` leaves above index ``after`` (-1 = from the first), by index."""
        ...

    async def keep_head(self, tenant_id: str, head: KeptHead) -> None:
        """Keep the head in the place of one that is no larger; a larger one stays. Durable; may use the reserve."""
        ...
