"""Tenants' vectors in an engine: it proposes, SQLite's vectors decide (ADR 0129).

A collection holds one tenant's vectors under their fact numbers, nothing else: no text, no name of a tenant. What an
engine cannot do now costs time, never an answer. An erasure is noted in a file before it is made and counts as done
once the engine has destroyed the vectors; what broke off is made good at the next look at the tenant.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from services.common.adapters.sqlite.private_files import DIRECTORY_MODE, made_private
from services.common.adapters.sqlite.tenant_indexes import GONE, Mask, TenantIndex
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers, Proposals, VectorEngine, VectorEngineError

if TYPE_CHECKING:
    from services.common.adapters.sqlite.vector_view import VectorView

_LOG: Final = logging.getLogger(__name__)
_BLOCK: Final = 512
"""Vectors sent at a time: what a service that is stopping waits for."""
_STORE_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class EngineIndex:
    """What an engine holds of one tenant's leading facts.

    Attributes:
        engine: that is asked.
        collection: of the tenant.
        known: fact numbers that are proposed among, ascending; the engine may hold more.
    """

    engine: VectorEngine
    collection: str
    known: Numbers

    def __len__(self) -> int:
        return len(self.known)

    @property
    def memory_bytes(self) -> int:
        """Memory of the numbers; the vectors are elsewhere."""
        return self.known.nbytes

    def search(self, queries: Vectors, limit: int) -> Sequence[Proposals] | None:
        """Ask the engine; facts that came after this index are for the tail."""
        try:
            found = self.engine.nearest(self.collection, queries, min(limit, len(self.known)))
        except VectorEngineError as error:
            _LOG.warning("a vector engine did not answer", extra={"engine": self.engine.name, "why": str(error)})
            return None
        return [self._kept(one) for one in found]

    def vectors(self, numbers: Numbers) -> Vectors | None:  # noqa: ARG002 - of the port
        """Leave them to SQLite, which has them exactly."""
        return None

    def leading(self, numbers: Numbers) -> Self | None:
        """Return the index over the first facts that the engine holds without a gap."""
        held = np.isin(numbers, self.known)
        first = len(numbers) if held.all() else int(np.argmin(held))
        return type(self)(self.engine, self.collection, numbers[:first]) if first else None

    def _kept(self, proposals: Proposals) -> Proposals:
        keep = np.isin(proposals.numbers, self.known)
        return Proposals(proposals.numbers[keep], proposals.scores[keep])


class EngineIndexes:
    """The collections of one store in an engine.

    Args:
        engine: that holds them; closed with this.
        store_id: of the database, so that stores can share an engine.
        directory: where erasures are noted that are not done yet.
    """

    def __init__(self, engine: VectorEngine, store_id: str, directory: Path) -> None:
        self._engine = engine
        self._store = store_id[:_STORE_CHARS]
        self._directory = directory
        self._lock = threading.Lock()
        self._erased: dict[int, set[int]] = {}
        """Facts that were erased since the start: a build that began before may send them once more."""

    def collection(self, tenant_no: int) -> str:
        """Return the name of a tenant's collection."""
        return f"groundtrail-{self._store}-{tenant_no}"

    def load(self, tenant_no: int, dimension: int) -> EngineIndex | None:  # noqa: ARG002 - of the port
        """Return what the engine holds."""
        collection = self.collection(tenant_no)
        try:
            numbers = self._engine.numbers(collection)
        except VectorEngineError as error:
            _LOG.warning("a vector engine did not answer", extra={"engine": self._engine.name, "why": str(error)})
            return None
        return EngineIndex(self._engine, collection, numbers) if len(numbers) else None

    def loaded(self, tenant_no: int, saved: TenantIndex, view: "VectorView") -> None:
        """Destroy what the engine holds of facts that are no more."""
        if isinstance(saved, EngineIndex):
            self._remove_if_possible(tenant_no, np.setdiff1d(saved.known, view.numbers))
            self._path(tenant_no).unlink(missing_ok=True)

    def left(self, tenant_no: int, numbers: Numbers) -> None:
        """Destroy vectors of facts that are no more, now or at the next start."""
        self._remove_if_possible(tenant_no, numbers)

    def erasing(self, tenant_no: int) -> None:
        """Note it in a file."""
        self._directory.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
        made_private(self._path(tenant_no))

    def erased(self, tenant_no: int, numbers: Numbers, alive: Numbers | None) -> None:
        """Destroy vectors of erased facts."""
        path, collection = self._path(tenant_no), self.collection(tenant_no)
        with self._lock:
            self._erased.setdefault(tenant_no, set()).update(numbers.tolist())
        if alive is not None and path.exists():
            numbers = np.setdiff1d(self._engine.numbers(collection), alive)
        if len(numbers):
            self._engine.remove(collection, numbers)
        path.unlink(missing_ok=True)

    def erasures(self, tenant_no: int) -> int:  # noqa: ARG002 - of the port
        """Return 0: nothing is kept in files."""
        return 0

    def extended(
        self, tenant_no: int, view: "VectorView", dimension: int, stopping: Callable[[], bool]
    ) -> tuple[EngineIndex, Mask] | None:
        """Send the engine what it does not hold, and have it destroy what is gone."""
        kept = view.statuses != GONE
        waiting = kept[view.indexed :]
        tail = np.concatenate([np.empty((0, dimension), dtype=np.float32), *view.tail])[waiting]
        fresh = view.numbers[view.indexed :][waiting]
        collection = self.collection(tenant_no)
        for start in range(0, len(fresh), _BLOCK):
            if stopping():
                return None
            self._engine.add(collection, fresh[start : start + _BLOCK], tail[start : start + _BLOCK])
        with self._lock:
            erased = np.array(sorted(self._erased.get(tenant_no, ())), dtype=np.int64)
        gone = view.numbers[: view.indexed][~kept[: view.indexed]]
        self._remove_if_possible(tenant_no, np.union1d(gone, np.intersect1d(fresh, erased)))
        return EngineIndex(self._engine, collection, view.numbers[kept]), kept

    def save(self, tenant_no: int, index: TenantIndex, erasures: int) -> None:
        """Need nothing: the engine keeps it."""

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()

    def _remove_if_possible(self, tenant_no: int, numbers: Numbers) -> None:
        if not len(numbers):
            return
        try:
            self._engine.remove(self.collection(tenant_no), numbers)
        except VectorEngineError as error:
            _LOG.warning("a vector engine kept what is gone", extra={"engine": self._engine.name, "why": str(error)})

    def _path(self, tenant_no: int) -> Path:
        return self._directory / f"{tenant_no}.erasing"
