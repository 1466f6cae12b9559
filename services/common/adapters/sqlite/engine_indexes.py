"""Tenants' vectors in an engine: it proposes, SQLite's vectors decide (ADR 0129).

A collection holds one tenant's vectors under their fact numbers, nothing else: no text, no name of a tenant. What an
engine cannot do now costs time, never an answer. An erasure is done once the engine has destroyed the vectors too.

Two rules keep an engine level with several processes that use one store. Vectors are sent, and those of erased facts
destroyed, under a lock of the tenant, and what is sent is looked up in SQLite under that lock: a build that began
before an erasure sends nothing of what was erased. What the engine holds too much of is destroyed only when SQLite,
read then, does not know it: another process may just have sent it.
"""

import asyncio
import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from services.common.adapters.sqlite.database import Database
from services.common.adapters.sqlite.engine_debts import Debt, alive, debt_of, hold, is_held, latest_of, settle
from services.common.adapters.sqlite.engine_index import AskedEngine, EngineIndex
from services.common.adapters.sqlite.private_files import DIRECTORY_MODE, FILE_MODE
from services.common.adapters.sqlite.tenant_indexes import GONE, Mask, TenantIndex
from services.common.adapters.sqlite.writer import WriteTraits
from services.common.errors import CrpError
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers, VectorEngineError

if TYPE_CHECKING:
    from services.common.adapters.sqlite.vector_view import VectorView

ResultT = TypeVar("ResultT")
_BLOCK: Final = 512
"""Vectors sent at a time: what a service that is stopping, or an erasure, waits for."""
_REMOVED: Final = 10_000
"""Vectors destroyed by one request."""
_STORE_CHARS: Final = 16
_VOUCHING: Final = 512
"""Latest numbers among which a fact is sought whose vector shows that the engine's are of this store."""
_SAME: Final = 1e-3
"""How far a vector's score with itself may be from 1."""
_SETTLING: Final = WriteTraits(best_effort=True)


class EngineIndexes:
    """The collections of one store in an engine.

    Args:
        asked: the engine that holds them; closed with this.
        store_id: of the database, so that stores can share an engine.
        directory: where the tenants' locks are.
        database: the store's file.
    """

    def __init__(self, asked: AskedEngine, store_id: str, directory: Path, database: Database) -> None:
        self._asked = asked
        self._engine = asked.engine
        self._store = store_id[:_STORE_CHARS]
        self._directory = directory
        self._database = database
        self._chores = ThreadPoolExecutor(1, thread_name_prefix="engine-removals")

    def collection(self, tenant_no: int) -> str:
        """Return the name of a tenant's collection."""
        return f"groundtrail-{self._store}-{tenant_no}"

    def load(self, connection: sqlite3.Connection, tenant_no: int, dimension: int) -> EngineIndex | None:  # noqa: ARG002 - of the port
        """Return what the engine holds."""
        if self._asked.resting or not is_held(connection, tenant_no):
            return None
        try:
            numbers = self._engine.numbers(self.collection(tenant_no))
            self._asked.listed(self.collection(tenant_no))
            if not len(numbers) or not self._vouched(tenant_no, latest_of(connection, tenant_no, numbers[-_VOUCHING:])):
                return None
        except VectorEngineError as error:
            self._asked.failed("list", error)
            return None
        return EngineIndex(self._asked, self.collection(tenant_no), numbers)

    def loaded(self, tenant_no: int, saved: TenantIndex, view: "VectorView") -> None:
        """Destroy what the engine holds of facts that are no more."""
        if isinstance(saved, EngineIndex):
            self.left(tenant_no, np.setdiff1d(saved.known, view.numbers))

    def left(self, tenant_no: int, numbers: Numbers) -> None:
        """Destroy vectors of facts that are no more, soon, or when the tenant is loaded the next time."""
        if len(numbers):
            with contextlib.suppress(RuntimeError):  # the store is closing
                self._chores.submit(self._remove_if_possible, tenant_no, numbers)

    def erased(self, tenant_no: int) -> None:
        """Need nothing: ``forget`` does it."""

    async def forget(self, tenant_id: str) -> None:
        """Have the engine destroy the vectors of everything that is erased, removed or replaced.

        Raises:
            VectorEngineError: it did not; to be called again.
        """
        owed = await self._database.read(lambda connection: debt_of(connection, tenant_id))
        if owed is None or not len(owed.numbers):
            return
        await asyncio.to_thread(self._pay, owed)
        with contextlib.suppress(CrpError):  # the next erasure pays it once more
            await self._database.write(lambda connection: settle(connection, owed), _SETTLING)

    def erasures(self, tenant_no: int) -> int:  # noqa: ARG002 - of the port
        """Return 0: nothing is kept in files."""
        return 0

    def extended(
        self, tenant_no: int, view: "VectorView", dimension: int, stopping: Callable[[], bool]
    ) -> tuple[EngineIndex, Mask] | None:
        """Send the engine what it does not hold, and have it destroy what is gone."""
        if self._asked.resting:
            return None
        kept = view.statuses != GONE
        waiting = kept[view.indexed :]
        tail = np.concatenate([np.empty((0, dimension), dtype=np.float32), *view.tail])[waiting]
        fresh = view.numbers[view.indexed :][waiting]
        gone = view.numbers[: view.indexed][~kept[: view.indexed]]
        try:
            if view.index is None:
                missing = ~np.isin(fresh, self._begun(tenant_no, fresh, tail))
                fresh, tail = fresh[missing], tail[missing]
            for start in range(0, len(fresh), _BLOCK):
                if stopping():
                    return None
                self.send(tenant_no, fresh[start : start + _BLOCK], tail[start : start + _BLOCK])
        except VectorEngineError as error:
            self._asked.failed("add", error)
            return None
        self._remove_if_possible(tenant_no, gone)
        return EngineIndex(self._asked, self.collection(tenant_no), view.numbers[kept]), kept

    def save(self, tenant_no: int, index: TenantIndex, erasures: int) -> None:
        """Need nothing: the engine keeps it."""

    @property
    def engine_name(self) -> str:
        """Name of the engine."""
        return self._engine.name

    def read(self, job: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        """Read the store's file; blocks."""
        return self._database.read_now(job)

    def begin(self, tenant_no: int) -> None:
        """Write down that the engine gets vectors of the tenant: from now on an erasure asks for their destruction."""
        self._database.write_now(lambda connection: hold(connection, tenant_no))

    def numbers(self, tenant_no: int) -> Numbers:
        """Return what the engine has of a tenant.

        Raises:
            VectorEngineError: it did not tell; so do the three below.
        """
        return self._engine.numbers(self.collection(tenant_no))

    def stored(self, tenant_no: int, numbers: Numbers) -> tuple[Numbers, Vectors]:
        """Return the vectors that the engine has under numbers."""
        return self._engine.stored(self.collection(tenant_no), numbers)

    def send(self, tenant_no: int, numbers: Numbers, vectors: Vectors) -> None:
        """Give the engine vectors of facts that live; of those that were erased meanwhile it gets none."""
        with self._alone(tenant_no):
            there = self._database.read_now(lambda connection: alive(connection, tenant_no, numbers))
            if there.any():
                self._engine.add(self.collection(tenant_no), numbers[there], vectors[there])

    def destroy(self, tenant_no: int, numbers: Numbers) -> None:
        """Have the engine destroy what is of no fact any more."""
        with self._alone(tenant_no):
            there = self._database.read_now(lambda connection: alive(connection, tenant_no, numbers))
            gone = numbers[~there]
            for start in range(0, len(gone), _REMOVED):
                self._engine.remove(self.collection(tenant_no), gone[start : start + _REMOVED])

    def close(self) -> None:
        """Close the engine."""
        self._chores.shutdown(cancel_futures=True)
        with contextlib.suppress(VectorEngineError):
            self._engine.close()

    def _begun(self, tenant_no: int, fresh: Numbers, vectors: Vectors) -> Numbers:
        """Write down that the engine gets vectors of the tenant; return what it has already, and rightly so."""
        self.begin(tenant_no)
        held = self._engine.numbers(self.collection(tenant_no))
        good = np.flatnonzero(np.isin(fresh, held))
        if len(good) and not self._vouched(tenant_no, (int(fresh[good[-1]]), vectors[good[-1]])):
            good = good[:0]
        self._remove_if_possible(tenant_no, np.setdiff1d(held, fresh))
        return fresh[good]

    def _vouched(self, tenant_no: int, latest: tuple[int, Vectors] | None) -> bool:
        """Say whether the engine's vectors are those of this file's facts.

        A file that was brought back from a copy gives new facts numbers that the engine knows of others. They would be
        the latest of those that it knows, so the latest one tells: it is what is nearest to its own vector.
        """
        if latest is None:
            return False
        number, vector = latest
        (found,) = self._engine.nearest(self.collection(tenant_no), vector.reshape(1, -1), _VOUCHING)
        same = np.abs(found.scores - float(vector @ vector)) <= _SAME
        return number in found.numbers[same].tolist()

    def _pay(self, owed: Debt) -> None:
        with self._alone(owed.tenant_no):
            try:
                for start in range(0, len(owed.numbers), _REMOVED):
                    self._engine.remove(self.collection(owed.tenant_no), owed.numbers[start : start + _REMOVED])
            except VectorEngineError as error:
                self._asked.failed("erase", error)
                raise

    def _remove_if_possible(self, tenant_no: int, numbers: Numbers) -> None:
        if not len(numbers) or self._asked.resting:
            return
        with contextlib.suppress(CrpError), self._alone(tenant_no):
            there = self._database.read_now(lambda connection: alive(connection, tenant_no, numbers))
            try:
                self._engine.remove(self.collection(tenant_no), numbers[~there])
            except VectorEngineError as error:
                self._asked.failed("remove", error)

    @contextlib.contextmanager
    def _alone(self, tenant_no: int) -> Iterator[None]:
        """Keep other threads and processes from changing the tenant's collection."""
        self._directory.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
        path = self._directory / f"{tenant_no}.engine"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
