"""How Python values become properties: moments as integer microseconds, ids as keys of one width.

A key is what nodes are found and told apart by. Neo4j cannot index a text of more than some 8,000 bytes, and an id may
be any text, so that a key is a digest of tenant and id; the id itself stands beside it. Every part is preceded by its
length, so that no two lists of parts give one key.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

Properties: TypeAlias = dict[str, Any]
"""Of one node or relationship, by name."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SORTED: Final = 500


def key(*parts: str) -> str:
    """Return 64 hex digits that stand for these parts, and for no others."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()


def sort_key(text: str) -> str:
    """Return the start of an id, which an index keeps in order; ties are broken by the whole id."""
    return text[:_SORTED]


def micros(moment: datetime) -> int:
    """Return microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """Read what ``micros`` wrote."""
    return _EPOCH + value * _MICROSECOND
