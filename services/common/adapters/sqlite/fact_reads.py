"""What one tenant's facts are asked for, inside one read transaction."""

import operator
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.sqlite.access_counts import Accesses
from services.common.adapters.sqlite.fact_rows import (
    SELECT_FACTS,
    VECTOR_TYPE,
    record,
    tenant_change,
    tenant_number,
)
from services.common.adapters.sqlite.fact_text import filter_condition, rank_text
from services.common.adapters.sqlite.values import chunks, json_list, marks, micros, moment
from services.common.ports.facts import FactFilter, FactHit, FactRecord, FactStatus, StateEntry, Vectors
from services.common.ports.vector_engine import Numbers

_BLOCK_ROWS: Final = 4_096
_FACT_ID: Final = 2
"""Column of ``SELECT_FACTS``."""
_NO_TENANT: Final = -1
"""A tenant that has written nothing: matches no row."""


class FactReads:
    """Reads of one tenant.

    Args:
        connection: inside a transaction.
        tenant_id: the tenant; one that is not known has no facts.
        dimension: length of a vector.
        accesses: those that were counted and are not in the file yet.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        tenant_id: str,
        dimension: int,
        accesses: Mapping[str, Accesses] = MappingProxyType({}),
    ) -> None:
        self.connection = connection
        self.tenant_no = tenant_number(connection, tenant_id)
        self._tenant_id = tenant_id
        self._key = _NO_TENANT if self.tenant_no is None else self.tenant_no
        self._dimension = dimension
        self._accesses = accesses

    def change(self) -> int:
        """Return the tenant's change number."""
        return tenant_change(self.connection, self._key)

    def by_ids(self, fact_ids: Sequence[str]) -> list[FactRecord]:
        """Return the facts that are not DELETED, in the given order."""
        found: dict[str, FactRecord] = {}
        for some in chunks(list(dict.fromkeys(fact_ids))):
            condition = f"WHERE tenant_no = ? AND status <> 'DELETED' AND fact_id IN ({marks(some)})"
            for fact in self._facts(condition, (self._key, *some)):
                found[fact.fact_id] = fact
        return [found[fact_id] for fact_id in fact_ids if fact_id in found]

    def page(self, where: FactFilter, after: str, limit: int) -> list[FactRecord]:
        """Return the next facts by id."""
        condition, values = filter_condition(where)
        ordered = f"WHERE tenant_no = ? AND fact_id > ? {condition} ORDER BY fact_id LIMIT ?"
        return self._facts(ordered, (self._key, after, *values, limit))

    def by_text(self, query: str, where: FactFilter, limit: int) -> list[FactHit]:
        """Return the best facts by BM25."""
        if self.tenant_no is None:
            return []
        best = rank_text(self.connection, self.tenant_no, query, where, limit)
        rows = self.rows([number for number, _ in best])
        return [FactHit(self.fact(rows[number]), score) for number, score in best]

    def ids_of_source(self, source_id: str) -> list[str]:
        """Return the source's facts that are not DELETED, ordered."""
        statement = (
            "SELECT fact_id FROM facts WHERE tenant_no = ? AND source_id = ? AND status <> 'DELETED' ORDER BY fact_id"
        )
        return [row[0] for row in self.connection.execute(statement, (self._key, source_id))]

    def next_turn(self, after: datetime) -> datetime | None:
        """Return the next moment at which a fact begins to hold, or ends to."""
        found = [
            self.connection.execute(
                f"SELECT min({column}) FROM facts WHERE tenant_no = ? AND {column} > ? AND status = 'ACTIVE'",  # noqa: S608
                (self._key, micros(after)),
            ).fetchone()[0]
            for column in ("valid_from_us", "valid_to_us", "superseded_us")
        ]
        return min((moment(turn) for turn in found if turn is not None), default=None)

    def count(self, where: FactFilter) -> int:
        """Count matching facts."""
        condition, values = filter_condition(where)
        statement = f"SELECT count(*) FROM facts WHERE tenant_no = ? {condition}"  # noqa: S608
        counted: int = self.connection.execute(statement, (self._key, *values)).fetchone()[0]
        return counted

    def state(self, communities: Sequence[str]) -> list[StateEntry]:
        """Return the entries of the state hash, ordered by fact id."""
        condition, values = filter_condition(FactFilter(communities=tuple(communities), statuses=()))
        rows = self.connection.execute(
            "SELECT fact_id, content_hash, modified_us, status FROM facts "  # noqa: S608
            f"WHERE tenant_no = ? {condition} ORDER BY fact_id",
            (self._key, *values),
        )
        statuses = {status.value: status for status in FactStatus}
        return [StateEntry(row[0], row[1], moment(row[2]), statuses[row[3]]) for row in rows]

    def embeddings(self, after: str) -> tuple[list[str], Vectors]:
        """Return the next block of retrievable facts' ids and vectors."""
        condition, values = filter_condition(FactFilter())
        rows = self.connection.execute(
            "SELECT fact_id, vectors.embedding FROM facts JOIN vectors USING (fact_no) "  # noqa: S608
            f"WHERE tenant_no = ? AND fact_id > ? {condition} ORDER BY fact_id LIMIT ?",
            (self._key, after, *values, _BLOCK_ROWS),
        ).fetchall()
        blob = b"".join(row[1] for row in rows)
        return [row[0] for row in rows], np.frombuffer(blob, dtype=VECTOR_TYPE).reshape(-1, self._dimension)

    def touch(self, accesses: Mapping[str, Accesses]) -> None:
        """Add to the facts' counted accesses; needs a write transaction."""
        self.connection.executemany(
            "UPDATE facts SET access_count = access_count + ?, last_accessed_us = ? "
            "WHERE tenant_no = ? AND fact_id = ? AND status <> 'DELETED'",
            ((counted.times, counted.last_us, self._key, fact_id) for fact_id, counted in accesses.items()),
        )

    def rows(self, numbers: Sequence[int]) -> dict[int, Sequence[Any]]:
        """Return rows by fact number, in one statement."""
        condition = "WHERE facts.fact_no IN (SELECT value FROM json_each(?))"
        return {row[0]: row for row in self.connection.execute(SELECT_FACTS + condition, (json_list(numbers),))}

    def fact(self, row: Sequence[Any]) -> FactRecord:
        """Return the record of a row."""
        return record(self._tenant_id, row, self._dimension, self._accesses.get(row[_FACT_ID]))

    def vectors(self, rows: Sequence[Sequence[Any]]) -> NDArray[np.float64]:
        """Return the vectors of rows, one below the other; zeros for a tombstone's."""
        nothing = bytes(VECTOR_TYPE.itemsize * self._dimension)
        blob = b"".join(nothing if row[1] is None else row[1] for row in rows)
        return np.frombuffer(blob, dtype=VECTOR_TYPE).reshape(-1, self._dimension).astype(np.float64)

    def vectors_of(self, numbers: Numbers) -> Vectors:
        """Return the vectors of facts by ascending number, one below the other."""
        statement = "SELECT embedding FROM vectors WHERE fact_no IN (SELECT value FROM json_each(?)) ORDER BY fact_no"
        blob = b"".join(row[0] for row in self.connection.execute(statement, (json_list(numbers.tolist()),)))
        return np.frombuffer(blob, dtype=VECTOR_TYPE).reshape(-1, self._dimension)

    def _facts(self, condition: str, values: Sequence[Any]) -> list[FactRecord]:
        return [self.fact(row) for row in self.connection.execute(SELECT_FACTS + condition, values)]


def ranked(
    facts: FactReads, units: NDArray[np.float64], candidates: Sequence[Numbers], limit: int
) -> list[list[FactHit]]:
    """Return for each query its best candidates by exact cosine, ties by fact id.

    A score is summed in double precision, one fact at a time, so that it does not depend on which other facts were
    compared with it, and equal vectors always have equal scores.
    """
    rows = facts.rows(sorted({number for numbers in candidates for number in numbers.tolist()}))
    if not rows:
        return [[] for _ in candidates]
    ordered = sorted(rows.values(), key=operator.itemgetter(_FACT_ID))  # so that equal scores stay in the order of ids
    places = {row[0]: place for place, row in enumerate(ordered)}
    matrix = facts.vectors(ordered)
    records: dict[int, FactRecord] = {}
    results = []
    for unit, numbers in zip(units, candidates, strict=True):
        known = np.array(sorted(places[number] for number in numbers.tolist()), dtype=np.intp)
        scores = np.sum(matrix[known] * unit, axis=1)
        best = np.argsort(-scores, kind="stable")[:limit]
        hits = []
        for place, score in zip(known[best].tolist(), scores[best].tolist(), strict=True):
            if place not in records:
                records[place] = facts.fact(ordered[place])
            hits.append(FactHit(records[place], score))
        results.append(hits)
    return results
