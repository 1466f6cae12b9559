"""What proposes a tenant's nearest facts, and who builds it: graphs of our own, or an engine (ADR 0031, ADR 0129)."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.sqlite.hnsw import HnswIndex
from services.common.adapters.sqlite.index_files import IndexFiles
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers, Proposals
from services.common.settings.stores import StoreSettings

if TYPE_CHECKING:
    from services.common.adapters.sqlite.vector_view import VectorView

Mask: TypeAlias = NDArray[np.bool_]

GONE: Final = -1
"""Status code of a slot whose fact was removed, replaced or erased."""
GONE_SHARE: Final = 0.10
"""Share of an index's facts that may be gone before it is freed of them."""


class TenantIndex(Protocol):
    """Proposes among the leading facts of one tenant; never changed after it is published."""

    def __len__(self) -> int:
        """Return how many facts it proposes among."""
        ...

    @property
    def memory_bytes(self) -> int:
        """Memory of this process that it takes."""
        ...

    @property
    def lost(self) -> bool:
        """Whether it no longer has what it should; then it is loaded anew."""
        ...

    def search(self, queries: Vectors, limit: int) -> Sequence[Proposals] | None:
        """Return up to ``limit`` candidates per query; ``None`` when it cannot be asked now."""
        ...

    def vectors(self, numbers: Numbers) -> Vectors | None:
        """Return the vectors of facts in it, about; ``None`` when they are better read from the store."""
        ...

    def leading(self, numbers: Numbers) -> Self | None:
        """Return what it can propose among the first of a tenant's facts; ``None`` when it does not know these."""
        ...


class TenantIndexes(Protocol):
    """The indexes of all tenants of a store. Tenants are numbers."""

    def load(self, connection: sqlite3.Connection, tenant_no: int, dimension: int) -> TenantIndex | None:
        """Return what an earlier process left; ``None`` when there is none, or none that can be trusted.

        Args:
            connection: inside a read transaction.
            tenant_no: the tenant.
            dimension: length of every vector.
        """
        ...

    def loaded(self, tenant_no: int, saved: TenantIndex, view: "VectorView") -> None:
        """Learn what became of what was loaded: the view that it was fitted into."""
        ...

    def left(self, tenant_no: int, numbers: Numbers) -> None:
        """Learn that facts in the index are no more."""
        ...

    def erased(self, tenant_no: int) -> None:
        """Forget what this process keeps of erased facts."""
        ...

    async def forget(self, tenant_id: str) -> None:
        """Have others forget, for good, what is erased; also what an erasure that was broken off has left.

        Raises:
            VectorEngineError: they could not be destroyed now; to be called again.
        """
        ...

    def erasures(self, tenant_no: int) -> int:
        """Return a number that grows with every erasure; ``save`` wants the one from before the build."""
        ...

    def extended(
        self, tenant_no: int, view: "VectorView", dimension: int, stopping: Callable[[], bool]
    ) -> tuple[TenantIndex, Mask] | None:
        """Return an index over all of the view's facts and which slots are in it; ``None`` when ``stopping``."""
        ...

    def save(self, tenant_no: int, index: TenantIndex, erasures: int) -> None:
        """Keep it for the next process unless something was erased since ``erasures``."""
        ...

    def close(self) -> None:
        """Let go of everything; idempotent."""
        ...


class Graphs:
    """HNSW graphs of our own, kept in files beside the database.

    Args:
        files: where graphs outlive the process.
        settings: of the graphs.
    """

    def __init__(self, files: IndexFiles, settings: StoreSettings) -> None:
        self._files = files
        self._settings = settings

    def load(self, connection: sqlite3.Connection, tenant_no: int, dimension: int) -> HnswIndex | None:  # noqa: ARG002 - of the port
        """Return the graph of the tenant's file."""
        return self._files.load(tenant_no, dimension)

    def loaded(self, tenant_no: int, saved: TenantIndex, view: "VectorView") -> None:  # noqa: ARG002 - of the port
        """Remove a file that no longer fits."""
        if view.index is None:
            self._files.forget(tenant_no)

    def left(self, tenant_no: int, numbers: Numbers) -> None:  # noqa: ARG002 - of the port
        """Remove the file: it still holds them."""
        self._files.forget(tenant_no)

    def erased(self, tenant_no: int) -> None:
        """Remove the file."""
        self._files.forget(tenant_no)

    async def forget(self, tenant_id: str) -> None:
        """Need nothing: there are no others."""

    def erasures(self, tenant_no: int) -> int:
        """Return how often a file was removed."""
        return self._files.erasures(tenant_no)

    def extended(
        self,
        tenant_no: int,  # noqa: ARG002 - of the port
        view: "VectorView",
        dimension: int,
        stopping: Callable[[], bool],
    ) -> tuple[HnswIndex, Mask] | None:
        """Extend the present graph, or build it anew when too much of it is gone."""
        kept = view.statuses != GONE
        waiting = kept[view.indexed :]
        tail = np.concatenate([np.empty((0, dimension), dtype=np.float32), *view.tail])[waiting]
        numbers = view.numbers[view.indexed :][waiting]
        start = view.index if isinstance(view.index, HnswIndex) else None
        if start is None or view.gone_from_index > GONE_SHARE * view.indexed:
            alive = view.numbers[: view.indexed][kept[: view.indexed]]
            if start is not None and len(alive):
                tail = np.concatenate([start.vectors(alive), tail])
                numbers = np.concatenate([alive, numbers])
            start = HnswIndex.empty(dimension, self._settings)
        else:
            kept[: view.indexed] = True
        index = start.extended(numbers, tail, self._settings, stopping)
        return None if index is None else (index, kept)

    def save(self, tenant_no: int, index: TenantIndex, erasures: int) -> None:
        """Write the file."""
        if isinstance(index, HnswIndex):
            self._files.save(tenant_no, index, erasures)

    def close(self) -> None:
        """Have nothing open."""
