"""A session's records and its leaves in the transparency log, compared both ways (ADR 0099).

The leaves of a session stand in the log in the order of its events, a window before the event that commits it. Each
one's kind, id and position are those of its record, its hash is that of its own bytes, and the salted hash in it is
that of the record's content. After an erasure, when content and salts are gone, the rest still is.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Final, TypeAlias

from services.common.encoding import canonical_json, iso_micros
from services.common.ports.sessions import AuditEventRecord, WindowRecord
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.dag.domain.events import OwnEvent
from services.dag.domain.leaves import LEAF_VERSION, SALT_BYTES, committed_node

_NODE: Final = ',"node":'
_Expected: TypeAlias = tuple[LeafKind, str, AuditEventRecord, str]
"""A record that must have a leaf: kind, id, the event itself or the one that commits the window, the event's digest."""
_UNUSABLE: Final = (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError)


@dataclass(frozen=True, slots=True)
class LeafFault:
    """The first leaf that does not fit: id of its record, or its index where that has none, and what does not hold."""

    record_id: str
    detail: str


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison found.

    Attributes:
        fault: the first leaf that does not fit.
        older: records at the beginning that have no leaf because an earlier version wrote them.
    """

    fault: LeafFault | None
    older: int = 0


@dataclass(frozen=True, slots=True)
class Records:
    """A session's records, recomputed.

    Attributes:
        events: the whole chain.
        digests: SHA-256 of each event's data, 64 hex digits.
        windows: by id, with their salts.
    """

    events: Sequence[AuditEventRecord]
    digests: Sequence[str]
    windows: Mapping[str, WindowRecord]


def compare_leaves(leaves: Sequence[LogLeaf], records: Records, since: int | None) -> Compared:
    """Compare the leaves that the log has of a session with its events and committed windows.

    Args:
        leaves: by index, as they are stored.
        records: what they must be of.
        since: sequence of the first event that must have a leaf; ``None`` = nothing was promised.
    """
    expected = _expected(records)
    older = _older(leaves, expected, since)
    wanted = expected[older:] if older else expected
    session = encode_basestring(records.events[0].session_id) if records.events else ""
    held = len(leaves)
    for place, one in enumerate(wanted):
        leaf = leaves[place] if place < held else None
        window = records.windows.get(one[2].window_id) if one[0] is LeafKind.WINDOW else None
        if leaf is not None and _is_same(leaf, one, window, session):
            continue
        if leaf is None or leaf.record_id != one[1] or leaf.record_kind != one[0]:
            return Compared(_misplaced(leaves, wanted, place))
        detail = _unfit(leaf, one, window)
        if detail:
            return Compared(LeafFault(one[1], detail))
    if held > len(wanted):
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


def event_text(event: AuditEventRecord, data_sha256: str) -> str:
    """Return the canonical text of an event's leaf content, as ``event_loggable`` writes it."""
    q = encode_basestring
    return (
        f'{{"data_sha256":"{data_sha256}","event_id":{q(event.event_id)},"event_type":{q(event.event_type)}'
        f',"hmac":{q(event.hmac)},"sequence":{event.sequence},"session_id":{q(event.session_id)}'
        f',"timestamp":"{iso_micros(event.timestamp)}","window_id":{q(event.window_id)}}}'
    )


def _expected(records: Records) -> list[_Expected]:
    """Return what must have a leaf, in order (``leaves.logged_records``)."""
    expected: list[_Expected] = []
    for event, digest in zip(records.events, records.digests, strict=True):
        if event.event_type == OwnEvent.DISPATCH_COMPLETED:
            expected.append((LeafKind.WINDOW, event.window_id, event, digest))
        expected.append((LeafKind.EVENT, event.event_id, event, digest))
    return expected


def _older(leaves: Sequence[LogLeaf], expected: Sequence[_Expected], since: int | None) -> int:
    """Return how many records at the beginning have no leaf and need none."""
    free = len(expected)
    if since is not None:
        free = next((place for place, (_, _, event, _) in enumerate(expected) if event.sequence >= since), free)
    if not free or not leaves:
        return free
    first = (leaves[0].record_kind, leaves[0].record_id)
    return next((place for place in range(free) if expected[place][:2] == first), free)


def _is_same(leaf: LogLeaf, one: _Expected, window: WindowRecord | None, session: str) -> bool:
    """Say whether the leaf is the record's, computed anew from the record alone: the common case, decided fast.

    Whatever is not is told by the longer way, field by field.
    """
    kind, record_id, event, digest = one
    if not event.data:
        return False
    try:
        if window is not None:
            position, salt = window.window_number, window.salt
            content = event.data[event.data.index(_NODE) + len(_NODE) : -1]
        else:
            position, salt, content = event.sequence, event.salt, event_text(event, digest)
        mac = hmac.digest(salt, content.encode(), "sha256").hex()
        text = (
            f'{{"content_hmac":"{mac}","position":{position},"record_id":{encode_basestring(record_id)}'
            f',"record_kind":"{kind}","session_id":{session},"version":{LEAF_VERSION}}}'
        )
        named = (leaf.record_id, leaf.record_kind, leaf.position, leaf.content_hmac)
        if named != (record_id, kind, position, mac) or leaf.session_id != event.session_id or len(salt) != SALT_BYTES:
            return False
        return leaf.leaf_hash == hashlib.sha256(b"\x00" + text.encode()).digest()
    except _UNUSABLE:
        return False


def _misplaced(leaves: Sequence[LogLeaf], wanted: Sequence[_Expected], place: int) -> LeafFault:
    """Tell an orphan from a missing leaf and from one that stands elsewhere."""
    known = {one[:2] for one in wanted}
    if place < len(leaves) and (leaves[place].record_kind, leaves[place].record_id) not in known:
        return _orphan(leaves[place])
    kind, record_id = wanted[place][:2]
    if (kind, record_id) in {(leaf.record_kind, leaf.record_id) for leaf in leaves}:
        return LeafFault(record_id, "stands out of order in the log")
    return LeafFault(record_id, f"is missing: the log has no leaf of this {kind}")


def name_of(leaf: LogLeaf) -> str:
    """Name a leaf by the id in it, or by its place in the log where no id can be read."""
    return (leaf.record_id if type(leaf.record_id) is str else "") or _index(leaf)


def _index(leaf: LogLeaf) -> str:
    return str(leaf.leaf_index) if type(leaf.leaf_index) is int else "?"


def _orphan(leaf: LogLeaf) -> LeafFault:
    text = f"at index {_index(leaf)} of the log is of no record of the session: a record is missing, or was replaced"
    return LeafFault(name_of(leaf), text)


def _unfit(leaf: LogLeaf, one: _Expected, window: WindowRecord | None) -> str:
    """Return what of the leaf does not fit its record; empty when all does."""
    kind, _, event, digest = one
    of_window = kind is LeafKind.WINDOW
    position = event.sequence if not of_window else None if window is None else window.window_number
    if leaf.position != position:
        return "has another position than its record"
    if not fits_its_hash(leaf):
        return "has a hash that is not that of its content"
    if not event.data:
        return ""  # erased, and said so by a later event: neither content nor salt is left
    try:
        salt = window.salt if window is not None else event.salt
        if len(salt) != SALT_BYTES:
            return "cannot be checked: its record has no salt"
        content = canonical_json(committed_node(event)) if of_window else event_text(event, digest).encode()
        held = hmac.digest(salt, content, "sha256").hex() == leaf.content_hmac
    except _UNUSABLE:
        held = False
    return "" if held else "has a salted hash that is not that of its record"
