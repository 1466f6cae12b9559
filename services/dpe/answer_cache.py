"""What models said of texts before, kept for the tenant that asked (ADR 0041).

Keys are SHA-256 digests of tenant, model fingerprint and texts, so that no text is kept for the key's sake and a new
model finds nothing of an old one. Invariants: an entry is found only under the tenant that made it; what is kept never
exceeds ``max_bytes``; room is taken from the tenant that holds most, so that a tenant within its share keeps what it
has whatever the others do. Belongs to one event loop.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from services.dpe.domain.models import ModelRole

ENTRY_BYTES: Final = 256
"""What an entry takes besides its value: digest, links, wrappers."""
_SEPARATOR_BYTES: Final = 8


@dataclass(slots=True)
class CacheCounts:
    """How often something was there (``hits``) or had to be computed (``misses``), per distinct thing asked."""

    hits: int = 0
    misses: int = 0


@dataclass(slots=True)
class _Shelf:
    """One tenant's entries, the one that was used longest ago first; each with its size in bytes."""

    entries: "OrderedDict[bytes, tuple[Any, int]]" = field(default_factory=OrderedDict)
    size: int = 0


class AnswerCache:
    """Remembers answers per tenant, the least recently used go first.

    Args:
        max_bytes: most that is kept, over all tenants, by a careful estimate; 0 = nothing is.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._shelves: dict[str, _Shelf] = {}
        self.counts: dict[ModelRole, CacheCounts] = {role: CacheCounts() for role in ModelRole}

    @property
    def size_bytes(self) -> int:
        """What is kept now, by the same estimate as the bound."""
        return self._size

    @property
    def entries(self) -> int:
        """How many answers are kept now."""
        return sum(len(shelf.entries) for shelf in self._shelves.values())

    def find(
        self, tenant: str, role: ModelRole, keys: Sequence[bytes], is_fresh: Callable[[Any], bool] = lambda _: True
    ) -> dict[int, Any]:
        """Return what is known, by position in ``keys``, and count hits and misses; what is not fresh is not known."""
        found: dict[int, Any] = {}
        shelf = self._shelves.get(tenant)
        if shelf is not None:
            for position, key in enumerate(keys):
                entry = shelf.entries.get(key)
                if entry is not None and is_fresh(entry[0]):
                    shelf.entries.move_to_end(key)
                    found[position] = entry[0]
        counted = self.counts[role]
        counted.hits += len(found)
        counted.misses += len(keys) - len(found)
        return found

    def keep(self, tenant: str, answers: Mapping[bytes, tuple[Any, int]]) -> None:
        """Remember answers, each with the bytes that its value takes; one beyond the bound is not kept."""
        if not self._max_bytes or not answers:
            return
        shelf = self._shelves.setdefault(tenant, _Shelf())
        for key, (value, size) in answers.items():
            self._drop(shelf, key)
            shelf.entries[key] = (value, size + ENTRY_BYTES)
            shelf.size += size + ENTRY_BYTES
            self._size += size + ENTRY_BYTES
        self._make_room()

    def _make_room(self) -> None:
        while self._size > self._max_bytes:
            tenant, shelf = max(self._shelves.items(), key=lambda item: item[1].size)
            share = self._max_bytes // len(self._shelves)
            while shelf.entries and self._size > self._max_bytes and shelf.size > share:
                self._drop(shelf, next(iter(shelf.entries)))
            if not shelf.entries:
                del self._shelves[tenant]

    def _drop(self, shelf: _Shelf, key: bytes) -> None:
        _, size = shelf.entries.pop(key, (None, 0))
        shelf.size -= size
        self._size -= size


def cache_keys(tenant: str, fingerprint: str, asked: Iterable[Sequence[str]]) -> list[bytes]:
    """Return the key of each thing that is asked: a digest of tenant, fingerprint and its texts, in order.

    Every text goes in with its length, so that no two lists of texts share a key but by a collision of SHA-256.
    """
    start = sha256()
    for text in (tenant, fingerprint):
        _add(start, text)
    keys = []
    for texts in asked:
        digest = start.copy()
        for text in texts:
            _add(digest, text)
        keys.append(digest.digest())
    return keys


def _add(digest: Any, text: str) -> None:
    data = text.encode("utf-8", errors="surrogatepass")
    digest.update(len(data).to_bytes(_SEPARATOR_BYTES, "big"))
    digest.update(data)
