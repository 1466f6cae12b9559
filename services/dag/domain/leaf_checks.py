"""A session's records and its leaves in the transparency log, compared both ways (ADR 0099).

The leaves of a session stand in the log in the order of its events, a window before the event that commits it. Each
one's kind, id and position are those of its record, its hash is that of its own bytes, and the salted hash in it is
that of the record's content. After an erasure, when content and salts are gone, the rest still is.
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Final

from services.common.encoding import canonical_json, iso_micros, sha256_hex
from services.common.ports.sessions import AuditEventRecord, LeafKind, LogLeaf, WindowRecord
from services.dag.domain.events import OwnEvent
from services.dag.domain.leaves import LEAF_VERSION, SALT_BYTES, committed_node

_NODE: Final = ',"node":'
_UNUSABLE: Final = (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError)


@dataclass(frozen=True, slots=True)
class LeafFault:
    """The first leaf that does not fit: id of its record, and what does not hold."""

    record_id: str
    detail: str


@dataclass(frozen=True, slots=True)
class _Expected:
    """A record that must have a leaf; ``event`` is the event itself, or the one that commits the window."""

    kind: LeafKind
    record_id: str
    event: AuditEventRecord


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison found.

    Attributes:
        fault: the first leaf that does not fit.
        older: records at the beginning that have no leaf because an earlier version wrote them.
    """

    fault: LeafFault | None
    older: int = 0


def compare_leaves(
    leaves: Sequence[LogLeaf],
    events: Sequence[AuditEventRecord],
    windows: Mapping[str, WindowRecord],
    since: int | None,
) -> Compared:
    """Compare the leaves that the log has of a session with its events and committed windows.

    Args:
        leaves: by index, as they are stored.
        events: the whole chain, recomputed.
        windows: by id, with their salts; compared with the events before.
        since: sequence of the first event that must have a leaf; ``None`` = nothing was promised.
    """
    expected = _expected(events)
    older = _older(leaves, expected, since)
    wanted = expected[older:]
    for place, one in enumerate(wanted):
        leaf = leaves[place] if place < len(leaves) else None
        if leaf is None or leaf.record_id != one.record_id or leaf.record_kind != one.kind:
            return Compared(_misplaced(leaves, wanted, place))
        detail = _unfit(leaf, one, windows.get(one.event.window_id))
        if detail:
            return Compared(LeafFault(one.record_id, detail))
    if len(leaves) > len(wanted):
        return Compared(_orphan(leaves[len(wanted)]))
    return Compared(None, older)


def leaf_text(leaf: LogLeaf) -> str:
    """Return the leaf's canonical text, as ``leaf_bytes`` writes it.

    Raises:
        ValueError, TypeError: a field is of another type than a leaf's.
    """
    q = encode_basestring
    if type(leaf.position) is not int:
        raise TypeError
    return (
        f'{{"content_hmac":{q(leaf.content_hmac)},"position":{leaf.position},"record_id":{q(leaf.record_id)}'
        f',"record_kind":{q(leaf.record_kind)},"session_id":{q(leaf.session_id)},"version":{LEAF_VERSION}}}'
    )


def fits_its_hash(leaf: LogLeaf) -> bool:
    """Say whether the stored hash is that of the leaf's bytes (RFC 9162 §2.1.1)."""
    try:
        return hashlib.sha256(b"\x00" + leaf_text(leaf).encode()).digest() == leaf.leaf_hash
    except _UNUSABLE:
        return False


def event_text(event: AuditEventRecord) -> str:
    """Return the canonical text of an event's leaf content, as ``event_loggable`` writes it."""
    q = encode_basestring
    return (
        f'{{"data_sha256":"{sha256_hex(event.data)}","event_id":{q(event.event_id)},"event_type":{q(event.event_type)}'
        f',"hmac":{q(event.hmac)},"sequence":{event.sequence},"session_id":{q(event.session_id)}'
        f',"timestamp":"{iso_micros(event.timestamp)}","window_id":{q(event.window_id)}}}'
    )


def _expected(events: Sequence[AuditEventRecord]) -> list[_Expected]:
    """Return what must have a leaf, in order (``leaves.logged_records``)."""
    expected: list[_Expected] = []
    for event in events:
        if event.event_type == OwnEvent.DISPATCH_COMPLETED:
            expected.append(_Expected(LeafKind.WINDOW, event.window_id, event))
        expected.append(_Expected(LeafKind.EVENT, event.event_id, event))
    return expected


def _older(leaves: Sequence[LogLeaf], expected: Sequence[_Expected], since: int | None) -> int:
    """Return how many records at the beginning have no leaf and need none."""
    free = len(expected)
    if since is not None:
        free = next((place for place, one in enumerate(expected) if one.event.sequence >= since), free)
    if not free or not leaves:
        return free
    first = (leaves[0].record_kind, leaves[0].record_id)
    return next((place for place in range(free) if (expected[place].kind, expected[place].record_id) == first), free)


def _misplaced(leaves: Sequence[LogLeaf], wanted: Sequence[_Expected], place: int) -> LeafFault:
    """Tell an orphan from a missing leaf and from one that stands elsewhere."""
    known = {(one.kind, one.record_id) for one in wanted}
    if place < len(leaves) and (leaves[place].record_kind, leaves[place].record_id) not in known:
        return _orphan(leaves[place])
    one = wanted[place]
    if (one.kind, one.record_id) in {(leaf.record_kind, leaf.record_id) for leaf in leaves}:
        return LeafFault(one.record_id, "stands out of order in the log")
    return LeafFault(one.record_id, f"is missing: the log has no leaf of this {one.kind}")


def _orphan(leaf: LogLeaf) -> LeafFault:
    text = f"at index {leaf.leaf_index} of the log is of no record of the session: a record is missing, or was replaced"
    return LeafFault(str(leaf.record_id), text)


def _unfit(leaf: LogLeaf, one: _Expected, window: WindowRecord | None) -> str:
    """Return what of the leaf does not fit its record; empty when all does."""
    of_window = one.kind is LeafKind.WINDOW
    position = one.event.sequence if not of_window else None if window is None else window.window_number
    if leaf.position != position:
        return "has another position than its record"
    if not fits_its_hash(leaf):
        return "has a hash that is not that of its content"
    if not one.event.data:
        return ""  # erased, and said so by a later event: neither content nor salt is left
    try:
        salt = window.salt if of_window and window is not None else one.event.salt
        if len(salt) != SALT_BYTES:
            return "cannot be checked: its record has no salt"
        texts = _node_texts(one.event) if of_window else (event_text(one.event).encode(),)
        held = any(hmac.digest(salt, text, "sha256").hex() == leaf.content_hmac for text in texts)
    except _UNUSABLE:
        held = False
    return "" if held else "has a salted hash that is not that of its record"


def _node_texts(event: AuditEventRecord) -> Iterator[bytes]:
    """Yield the canonical node of the window that the event commits: cut out of the data, then written anew.

    The data is canonical JSON of which the node is the last member, so that the cut is the node; what is not so fits no
    salted hash and goes the longer way.
    """
    yield event.data[event.data.index(_NODE) + len(_NODE) : -1].encode()
    yield canonical_json(committed_node(event))
