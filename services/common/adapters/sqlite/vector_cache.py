"""Every tenant's vectors in memory: loaded on first use, kept level with SQLite, indexed in the background.

Tenants never share a view or a graph. The cache holds nothing that SQLite does not hold, so it may be dropped at any
moment; what it says is checked against the tenant's change number before every search.
"""

import contextlib
import logging
import sqlite3
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

import numpy as np

from services.common.adapters.sqlite.tenant_indexes import GONE, GONE_SHARE, Mask, TenantIndex, TenantIndexes
from services.common.adapters.sqlite.vector_reads import first_view, next_view, trimmed
from services.common.adapters.sqlite.vector_view import VectorView
from services.common.settings.stores import StoreSettings

_LOG: Final = logging.getLogger(__name__)
_TAIL_ROWS: Final = 2_048
"""A tail longer than this, and than ``_TAIL_SHARE`` of the index, is moved into the index."""
_TAIL_SHARE: Final = 0.05


class _Tenant:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.view: VectorView | None = None
        self.building = False


class VectorCache:
    """Views of the tenants that are being searched.

    Args:
        dimension: length of every vector.
        settings: thresholds, graph parameters, memory.
        indexes: what proposes.
    """

    def __init__(self, dimension: int, settings: StoreSettings, indexes: TenantIndexes) -> None:
        self._dimension = dimension
        self._settings = settings
        self._indexes = indexes
        self._tenants: OrderedDict[int, _Tenant] = OrderedDict()
        self._lock = threading.Lock()
        self._erased: dict[int, int] = {}
        """Change of each tenant's last erasure."""
        self._stopping = threading.Event()
        self._builder = ThreadPoolExecutor(1, thread_name_prefix="index-builder")

    def view(self, connection: sqlite3.Connection, tenant_no: int, change: int) -> VectorView:
        """Return a view of the tenant at ``change`` or later.

        Args:
            connection: inside a read transaction that sees ``change``.
            tenant_no: the tenant.
            change: its change number.
        """
        tenant = self._tenant(tenant_no)
        view = tenant.view
        if view is None or view.change < change or _is_lost(view):
            with tenant.lock:
                view = self._caught_up(connection, tenant_no, change, tenant.view)
                tenant.view = view
            self._evict(tenant_no)
        if not tenant.building and self._build_due(view):
            self._start_build(tenant_no, tenant)
        return view

    def erased(self, tenant_no: int, change: int) -> None:
        """Have the tenant's index forget facts erased with a change; what was seen before it is not kept any more."""
        with self._lock:
            self._erased[tenant_no] = max(change, self._erased.get(tenant_no, 0))
        self._indexes.erased(tenant_no)

    async def forget(self, tenant_id: str) -> None:
        """Have whatever is outside of this process forget them; errors as ``TenantIndexes.forget``."""
        await self._indexes.forget(tenant_id)

    def close(self) -> None:
        """Stop building; idempotent."""
        self._stopping.set()
        self._builder.shutdown(cancel_futures=True)
        self._indexes.close()

    def _tenant(self, tenant_no: int) -> _Tenant:
        with self._lock:
            tenant = self._tenants.setdefault(tenant_no, _Tenant())
            self._tenants.move_to_end(tenant_no)
            return tenant

    def _caught_up(
        self, connection: sqlite3.Connection, tenant_no: int, change: int, view: VectorView | None
    ) -> VectorView:
        if view is None or _is_lost(view):
            saved = self._indexes.load(connection, tenant_no, self._dimension)
            fresh = first_view(connection, tenant_no, change, self._dimension, saved)
            if saved is not None:
                self._indexes.loaded(tenant_no, saved, fresh)
            return fresh
        if view.change >= change:
            return view
        later = next_view(connection, tenant_no, change, view)
        if later.gone_from_index > view.gone_from_index:
            gone = (later.statuses[: view.indexed] == GONE) & (view.statuses[: view.indexed] != GONE)
            self._indexes.left(tenant_no, view.numbers[: view.indexed][gone])
        return later

    def _evict(self, in_use: int) -> None:
        with self._lock:
            sizes = {number: one.view.memory_bytes for number, one in self._tenants.items() if one.view is not None}
            excess = sum(sizes.values()) - self._settings.vector_cache_bytes
            for number in list(self._tenants):
                if excess <= 0:
                    return
                if number != in_use and number in sizes:
                    excess -= sizes[number]
                    del self._tenants[number]

    def _build_due(self, view: VectorView) -> bool:
        waiting = len(view.numbers) - view.indexed
        if view.index is None:
            return waiting >= max(1, self._settings.exact_search_below)
        longest_tail = max(1, min(_TAIL_ROWS, self._settings.exact_search_below // 4), _TAIL_SHARE * view.indexed)
        return waiting >= longest_tail or view.gone_from_index > GONE_SHARE * view.indexed

    def _start_build(self, tenant_no: int, tenant: _Tenant) -> None:
        with tenant.lock:
            if tenant.building:
                return
            tenant.building = True
        with contextlib.suppress(RuntimeError):  # the store is closing
            self._builder.submit(self._build, tenant_no, tenant)

    def _build(self, tenant_no: int, tenant: _Tenant) -> None:
        try:
            erasures = self._indexes.erasures(tenant_no)
            view = tenant.view
            if view is None:
                return
            built = self._indexes.extended(tenant_no, view, self._dimension, self._stopping.is_set)
            if built is None:
                return
            index, kept = built
            with tenant.lock:
                current = tenant.view or view
                if not _extends(current, view):
                    return
                tenant.view = with_index(current, view, index, kept)
                # A build may begin after an erasure and know nothing of it: nobody has searched since.
                clean = tenant.view.gone_from_index == 0 and tenant.view.change >= self._erased.get(tenant_no, 0)
            if clean:
                with contextlib.suppress(OSError, RuntimeError):  # a cache: the next start builds it again
                    self._indexes.save(tenant_no, index, erasures)
        except Exception:  # noqa: BLE001 - searches go on without the index, only slower
            _LOG.exception("building a vector index failed", extra={"tenant_no": tenant_no})
        finally:
            tenant.building = False


def _is_lost(view: VectorView) -> bool:
    return view.index is not None and view.index.lost


def _extends(current: VectorView, view: VectorView) -> bool:
    """Say whether ``current`` has grown out of ``view``, and was not loaded anew since."""
    count = len(view.numbers)
    return current.indexed == view.indexed and np.array_equal(current.numbers[:count], view.numbers)


def with_index(current: VectorView, built_from: VectorView, index: TenantIndex, kept: Mask) -> VectorView:
    """Return ``current`` with an index that was built from an earlier view of it."""
    later = np.ones(len(current.numbers) - len(kept), dtype=np.bool_)
    slots = np.concatenate([kept, later])
    return replace(
        current,
        numbers=current.numbers[slots],
        statuses=current.statuses[slots],
        sources=current.sources[slots],
        communities=current.communities[slots],
        starts=current.starts[slots],
        ends=current.ends[slots],
        index=index,
        indexed=int(np.count_nonzero(kept)),
        tail=trimmed(current.tail, len(kept) - built_from.indexed),
    )
