"""Token vectors of facts, kept by content in bounded memory, each tenant apart (ADR 0067).

Vectors are rounded to float16 before anybody uses them, so that a fact scores the same from the cache and without it.
What belongs to an erased source is dropped with the tenant's whole share (``forget``).
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

TokenVectors = NDArray[np.float16]


@dataclass(slots=True)
class _Share:
    """One tenant's vectors, the least recently used first."""

    vectors: "OrderedDict[str, TokenVectors]" = field(default_factory=OrderedDict)
    size_bytes: int = 0


class TokenVectorCache:
    """Least recently used goes first: within a tenant by fact, among tenants by tenant. Belongs to the event loop.

    Args:
        tenant_bytes: most that one tenant's vectors take; 0 keeps nothing.
        total_bytes: most that all take.
    """

    def __init__(self, tenant_bytes: int, total_bytes: int) -> None:
        self._tenant_bytes = min(tenant_bytes, total_bytes)
        self._total_bytes = total_bytes
        self._shares: OrderedDict[str, _Share] = OrderedDict()
        self._size_bytes = 0

    @property
    def size_bytes(self) -> int:
        """What the vectors take now."""
        return self._size_bytes

    def get(self, tenant_id: str, keys: Iterable[str]) -> dict[str, TokenVectors]:
        """Return the vectors that are kept of these contents."""
        share = self._shares.get(tenant_id)
        if share is None:
            return {}
        self._shares.move_to_end(tenant_id)
        found: dict[str, TokenVectors] = {}
        for key in keys:
            vectors = share.vectors.get(key)
            if vectors is not None:
                share.vectors.move_to_end(key)
                found[key] = vectors
        return found

    def put(self, tenant_id: str, vectors: Mapping[str, NDArray[np.float32]]) -> dict[str, TokenVectors]:
        """Keep what there is room for; return all of them as they are kept."""
        rounded = {key: value.astype(np.float16) for key, value in vectors.items()}
        share = self._shares.setdefault(tenant_id, _Share())
        self._shares.move_to_end(tenant_id)
        for key, value in rounded.items():
            if value.nbytes <= self._tenant_bytes and key not in share.vectors:
                share.vectors[key] = value
                self._grow(share, value.nbytes)
        while share.size_bytes > self._tenant_bytes:
            self._drop_oldest(share)
        while self._size_bytes > self._total_bytes:
            oldest_id, oldest = next(iter(self._shares.items()))
            self._drop_oldest(oldest)
            if not oldest.vectors:
                del self._shares[oldest_id]
        return rounded

    def forget(self, tenant_id: str) -> None:
        """Drop everything of a tenant: something of it was erased."""
        share = self._shares.pop(tenant_id, None)
        if share is not None:
            self._size_bytes -= share.size_bytes

    def _drop_oldest(self, share: _Share) -> None:
        _, value = share.vectors.popitem(last=False)
        self._grow(share, -value.nbytes)

    def _grow(self, share: _Share, size_bytes: int) -> None:
        share.size_bytes += size_bytes
        self._size_bytes += size_bytes
