"""What a stored row must be to count as a leaf of the log: one that somebody changed is no leaf, and breaks nothing."""

from typing import Any

from services.common.merkle import HASH_BYTES
from services.common.ports.transparency_log import LeafKind, LogLeaf

_KINDS = {kind.value: kind for kind in LeafKind}


def leaf_of(row: "tuple[Any, Any, Any, Any, Any, Any, Any]") -> LogLeaf | None:
    """Return the leaf, or ``None`` when a value is not of its kind.

    Args:
        row: session id, record kind, record id, position, content HMAC, the subtrees that the leaf ends, leaf index.
    """
    session_id, kind, record_id, position, content_hmac, subtrees, index = row
    texts = all(isinstance(text, str) for text in (session_id, kind, record_id, content_hmac))
    numbers = all(isinstance(number, int) and number >= 0 for number in (position, index))
    if not texts or not numbers or kind not in _KINDS or not isinstance(subtrees, bytes | bytearray):
        return None
    if len(subtrees) < HASH_BYTES:
        return None
    return LogLeaf(session_id, _KINDS[kind], record_id, position, content_hmac, bytes(subtrees[:HASH_BYTES]), index)
