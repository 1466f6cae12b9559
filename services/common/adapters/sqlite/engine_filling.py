"""Filling an engine with a tenant's vectors at once, and proving that it holds them (ADR 0186).

A server sends vectors as searches ask for them, and believes an engine on one vector's word. Here every vector is read
back: what the engine lacks or has otherwise is sent, what it has too much of is destroyed.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.sqlite.engine_indexes import EngineIndexes
from services.common.adapters.sqlite.fact_rows import VECTOR_TYPE, tenant_number
from services.common.encoding import SHA256_PREFIX
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers
from services.common.ports.vector_holding import HeldVectors

_BLOCK: Final = 512
_SAME: Final = 1e-4
"""How far two unit vectors may be apart that are the same but for an engine's scaling."""
_LIVING: Final = """
    SELECT fact_no, fact_id, embedding FROM facts JOIN vectors USING (fact_no)
    WHERE tenant_no = ? AND fact_no > ? AND status <> 'DELETED' ORDER BY fact_no LIMIT ?
"""


class EngineFilling:
    """Compares an engine with the facts, block by block; methods block.

    Args:
        indexes: the store's collections in the engine.
        dimension: length of every vector.
    """

    def __init__(self, indexes: EngineIndexes, dimension: int) -> None:
        self._indexes = indexes
        self._dimension = dimension

    def fill(self, tenant_id: str) -> int:
        """Have the engine hold the vectors of all of a tenant's facts and nothing else; return how many were sent.

        Raises:
            VectorEngineError: it did not do it; what was done stays, the same call goes on.
            CrpError: as of the database.
        """
        tenant_no = self._number(tenant_id)
        if tenant_no is None:
            return 0
        self._indexes.begin(tenant_no)
        held, sent = self._indexes.numbers(tenant_no), 0
        alive = [np.empty(0, dtype=np.int64)]
        for numbers, _, exact in self._blocks(tenant_no):
            alive.append(numbers)
            there = numbers[np.isin(numbers, held)]
            missing = ~self._right(numbers, exact, *self._indexes.stored(tenant_no, there))
            if missing.any():
                self._indexes.send(tenant_no, numbers[missing], exact[missing])
                sent += int(missing.sum())
        self._indexes.destroy(tenant_no, np.setdiff1d(held, np.concatenate(alive)))
        return sent

    def held(self, tenant_id: str) -> HeldVectors | None:
        """Read back what the engine has and compare it with the facts; errors as ``fill``."""
        tenant_no = self._number(tenant_id)
        if tenant_no is None:
            return None
        of_facts: list[bytes] = []
        of_engine: list[bytes] = []
        for numbers, ids, exact in self._blocks(tenant_no):
            known, kept = self._indexes.stored(tenant_no, numbers)
            right = self._right(numbers, exact, known, kept)
            rows = {number: row for row, number in enumerate(known.tolist())}
            for place, (number, fact_id) in enumerate(zip(numbers.tolist(), ids, strict=True)):
                of_facts.append(_digest(fact_id, exact[place]))
                if number in rows:
                    of_engine.append(_digest(fact_id, exact[place] if right[place] else kept[rows[number]]))
        count = len(self._indexes.numbers(tenant_no))
        return HeldVectors(self._indexes.engine_name, len(of_facts), count, (_whole(of_facts), _whole(of_engine)))

    def _number(self, tenant_id: str) -> int | None:
        return self._indexes.read(lambda connection: tenant_number(connection, tenant_id))

    def _blocks(self, tenant_no: int) -> Iterator[tuple[Numbers, list[str], Vectors]]:
        after = 0
        while True:
            rows = self._indexes.read(lambda c, after=after: _living(c, tenant_no, after))  # type: ignore[misc]
            if not rows:
                return
            numbers = np.array([row[0] for row in rows], dtype=np.int64)
            exact = np.frombuffer(b"".join(row[2] for row in rows), dtype=VECTOR_TYPE)
            yield numbers, [row[1] for row in rows], exact.reshape(-1, self._dimension)
            after = int(numbers[-1])

    def _right(self, numbers: Numbers, exact: Vectors, known: Numbers, kept: Vectors) -> NDArray[np.bool_]:
        """Say of each number whether the engine gave back its vector, but for its length."""
        found = np.zeros(len(numbers), dtype=np.bool_)
        if not len(known):
            return found
        order = np.argsort(known)
        places = order[np.minimum(np.searchsorted(known, numbers, sorter=order), len(known) - 1)]
        there = known[places] == numbers
        apart = np.linalg.norm(_units(kept[places]) - _units(exact), axis=1)
        right: NDArray[np.bool_] = there & (apart <= _SAME)
        return right


def _living(connection: sqlite3.Connection, tenant_no: int, after: int) -> list[tuple[int, str, bytes]]:
    return connection.execute(_LIVING, (tenant_no, after, _BLOCK)).fetchall()


def _units(vectors: Vectors) -> NDArray[np.float64]:
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    units: NDArray[np.float64] = exact / np.where(lengths == 0.0, 1.0, lengths)
    return units


def _digest(fact_id: str, vector: Vectors) -> bytes:
    name = fact_id.encode()
    return hashlib.sha256(b"%d:%b" % (len(name), name) + vector.astype(VECTOR_TYPE).tobytes()).digest()


def _whole(digests: list[bytes]) -> str:
    return SHA256_PREFIX + hashlib.sha256(b"".join(sorted(digests))).hexdigest()
