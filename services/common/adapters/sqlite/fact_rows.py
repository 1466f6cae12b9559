"""Facts as rows: encoding, the changes a transaction makes, and reading records back.

Invariants: a DELETED fact has no content, location, entities, metadata, vector or words; every change that a vector
index must know of raises the tenant's change number and leaves it in the row or in ``removals``.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import numpy as np

from services.common.adapters.sqlite.access_counts import Accesses
from services.common.adapters.sqlite.fact_text import (
    IndexedText,
    add_text,
    create_text_table,
    purge_text,
    remove_text,
)
from services.common.adapters.sqlite.stored_entities import NO_ENTITIES, StoredEntities
from services.common.adapters.sqlite.values import (
    chunks,
    json_list,
    json_object,
    marks,
    micros,
    moment,
    optional_micros,
    optional_moment,
)
from services.common.adapters.stored_values import UNREADABLE, shown
from services.common.errors import UnreadableRecordError
from services.common.ports.facts import ERASED_HASH, FactRecord, FactStatus, Vectors, check_embedding

_STATUSES: Final = {status.value: status for status in FactStatus}
VECTOR_TYPE: Final = np.dtype("<f4")

_COLUMNS: Final = (
    "fact_id, status, source_id, community_label, content_hash, modified_us, ingested_us, ttl_us, access_count, "
    "last_accessed_us, importance_weight, embedding_model, source_location, entities, metadata, content, "
    "superseded_us, valid_from_us, valid_to_us"
)
SELECT_FACTS: Final = (
    f"SELECT facts.fact_no, vectors.embedding, {_COLUMNS} FROM facts LEFT JOIN vectors USING (fact_no) "  # noqa: S608
)
"""Start of every statement whose rows ``record`` reads."""


@dataclass(frozen=True, slots=True)
class FactRow:
    """An encoded fact: the values of ``_COLUMNS``, and its texts and vector unless it is a tombstone."""

    fact_id: str
    columns: tuple[Any, ...]
    texts: tuple[str, str] | None
    embedding: bytes | None


def encode(fact: FactRecord, dimension: int) -> FactRow:
    """Return the row of a fact.

    Raises:
        ValueError: the vector has another dimension, or a component that is no finite number.
    """
    check_embedding(fact, dimension)
    erased = fact.status is FactStatus.DELETED
    entities = [(entity.kind, entity.text, entity.start, entity.end) for entity in fact.entities]
    columns = (
        fact.fact_id,
        fact.status,
        fact.source_id,
        fact.community_label,
        ERASED_HASH if erased else fact.content_hash,
        micros(fact.modified_at),
        micros(fact.ingested_at),
        None if fact.ttl is None else fact.ttl // timedelta(microseconds=1),
        fact.access_count,
        optional_micros(fact.last_accessed_at),
        float(fact.importance_weight),
        fact.embedding_model,
        "" if erased else fact.source_location,
        "[]" if erased else json_list(entities),
        "{}" if erased else json_object(fact.metadata),
        "" if erased else fact.content,
        *(None if erased else optional_micros(time) for time in (fact.superseded_at, fact.valid_from, fact.valid_to)),
    )
    vector = None if erased else fact.embedding.astype(VECTOR_TYPE).tobytes()
    return FactRow(fact.fact_id, columns, None if erased else (fact.content, fact.source_location), vector)


def record(tenant_id: str, row: Sequence[Any], dimension: int, unwritten: Accesses | None = None) -> FactRecord:
    """Return the fact of a row of ``SELECT_FACTS``, with the accesses that are counted and not written yet.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE: it does not parse.
    """
    try:
        return _record(tenant_id, row, dimension, unwritten)
    except UNREADABLE:
        raise UnreadableRecordError("fact", shown(row[2]), "cannot be read: its row does not parse") from None


def _record(tenant_id: str, row: Sequence[Any], dimension: int, unwritten: Accesses | None) -> FactRecord:
    (_, embedding, fact_id, status, source_id, community, content_hash, modified, ingested, ttl, *rest) = row
    accesses, last_accessed, importance, model, location, entities, metadata, content, *times = rest
    superseded, valid_from, valid_to = times
    if unwritten is not None and status != FactStatus.DELETED:
        accesses, last_accessed = accesses + unwritten.times, unwritten.last_us
    return FactRecord(
        tenant_id=tenant_id,
        fact_id=fact_id,
        content=content,
        content_hash=content_hash,
        source_id=source_id,
        source_location=location,
        importance_weight=importance,
        ingested_at=moment(ingested),
        modified_at=moment(modified),
        status=_STATUSES[status],
        embedding=vector_of(embedding, dimension),
        embedding_model=model,
        community_label=community,
        access_count=accesses,
        last_accessed_at=optional_moment(last_accessed),
        ttl=None if ttl is None else timedelta(microseconds=ttl),
        entities=() if entities == NO_ENTITIES else StoredEntities(entities),
        metadata=json.loads(metadata) if metadata != "{}" else {},
        superseded_at=optional_moment(superseded),
        valid_from=optional_moment(valid_from),
        valid_to=optional_moment(valid_to),
    )


def vector_of(embedding: bytes | None, dimension: int) -> Vectors:
    """Return a read-only vector; zeros for a tombstone's."""
    if embedding is not None:
        return np.frombuffer(embedding, dtype=VECTOR_TYPE)
    zeros = np.zeros(dimension, dtype=VECTOR_TYPE)
    zeros.setflags(write=False)
    return zeros


def tenant_number(connection: sqlite3.Connection, tenant_id: str) -> int | None:
    """Return the tenant's number; ``None`` while it has written nothing."""
    row = connection.execute("SELECT tenant_no FROM tenants WHERE tenant_id = ?", (tenant_id,)).fetchone()
    return row[0] if row else None


def tenant_ids(connection: sqlite3.Connection) -> list[str]:
    """Return the ids of all tenants that have facts, tombstones included, ordered."""
    statement = "SELECT tenant_id FROM tenants WHERE tenant_no IN (SELECT tenant_no FROM facts) ORDER BY tenant_id"
    return [row[0] for row in connection.execute(statement)]


def tenant_change(connection: sqlite3.Connection, tenant_no: int) -> int:
    """Return the tenant's change number."""
    change: int = connection.execute("SELECT change FROM tenants WHERE tenant_no = ?", (tenant_no,)).fetchone()[0]
    return change


class FactChanges:
    """The changes of one tenant in one write transaction, under one new change number.

    Args:
        connection: inside a write transaction.
        tenant_id: created when it is new.
    """

    def __init__(self, connection: sqlite3.Connection, tenant_id: str) -> None:
        self.connection = connection
        known = tenant_number(connection, tenant_id)
        self.tenant_no = self._create_tenant(tenant_id) if known is None else known
        connection.execute("UPDATE tenants SET change = change + 1 WHERE tenant_no = ?", (self.tenant_no,))
        self._change = tenant_change(connection, self.tenant_no)

    @property
    def number(self) -> int:
        """The tenant's change number with this transaction."""
        return self._change

    def replace(self, rows: Sequence[FactRow]) -> None:
        """Insert facts, or put them in the place of those with the same ids."""
        latest = {row.fact_id: row for row in rows}
        self.remove(list(latest))
        first = self._next_fact_number()
        numbered = list(enumerate(latest.values(), first))
        self.connection.executemany(
            f"INSERT INTO facts (fact_no, tenant_no, change, {_COLUMNS}) "  # noqa: S608
            f"VALUES (?, ?, ?, {marks(_COLUMNS.split(','))})",
            ((number, self.tenant_no, self._change, *row.columns) for number, row in numbered),
        )
        self.connection.executemany(
            "INSERT INTO vectors VALUES (?, ?)",
            ((number, row.embedding) for number, row in numbered if row.embedding is not None),
        )
        texts = ((number, *row.texts) for number, row in numbered if row.texts is not None)
        add_text(self.connection, self.tenant_no, texts)

    def remove(self, fact_ids: Sequence[str]) -> int:
        """Remove facts, tombstones too, and return how many there were."""
        found = self._find(fact_ids, "")
        remove_text(self.connection, self.tenant_no, _with_words(found))
        numbers = [(number,) for number, *_ in found]
        self.connection.executemany(
            "INSERT INTO removals VALUES (?, ?, ?)", ((self.tenant_no, self._change, number) for (number,) in numbers)
        )
        self.connection.executemany("DELETE FROM facts WHERE fact_no = ?", numbers)
        return len(found)

    def set_status(self, fact_ids: Sequence[str], status: FactStatus, modified_us: int) -> int:
        """Set the status of facts that have another one and are not DELETED; return how many."""
        if status is FactStatus.DELETED:
            return self.tombstone(fact_ids, modified_us)
        return sum(
            self.connection.execute(
                "UPDATE facts SET status = ?, modified_us = ?, change = ? WHERE tenant_no = ? "  # noqa: S608
                f"AND status NOT IN (?, 'DELETED') AND fact_id IN ({marks(some)})",
                (status, modified_us, self._change, self.tenant_no, status, *some),
            ).rowcount
            for some in chunks(list(dict.fromkeys(fact_ids)))
        )

    def supersede(self, fact_ids: Sequence[str], ended_us: int, modified_us: int) -> int:
        """Mark facts as replaced that have not ended and are not DELETED, ACTIVE ones as STALE if they end now.

        Returns how many.
        """
        over = "STALE" if ended_us <= modified_us else "ACTIVE"
        return sum(
            self.connection.execute(
                "UPDATE facts SET superseded_us = ?, modified_us = ?, change = ?, "  # noqa: S608
                "status = CASE status WHEN 'ACTIVE' THEN ? ELSE status END WHERE tenant_no = ? "
                "AND (superseded_us IS NULL OR superseded_us > ?) "
                f"AND status <> 'DELETED' AND fact_id IN ({marks(some)})",
                (ended_us, modified_us, self._change, over, self.tenant_no, modified_us, *some),
            ).rowcount
            for some in chunks(list(dict.fromkeys(fact_ids)))
        )

    def reinstate(self, fact_ids: Sequence[str], modified_us: int) -> int:
        """Take the mark off facts that have it, STALE ones become ACTIVE; return how many."""
        return sum(
            self.connection.execute(
                "UPDATE facts SET superseded_us = NULL, modified_us = ?, change = ?, "  # noqa: S608
                "status = CASE status WHEN 'STALE' THEN 'ACTIVE' ELSE status END WHERE tenant_no = ? "
                f"AND superseded_us IS NOT NULL AND fact_id IN ({marks(some)})",
                (modified_us, self._change, self.tenant_no, *some),
            ).rowcount
            for some in chunks(list(dict.fromkeys(fact_ids)))
        )

    def tombstone(self, fact_ids: Sequence[str], modified_us: int) -> int:
        """Destroy content, location, entities, metadata, vectors and words; leave DELETED rows; return how many."""
        found = self._find(fact_ids, "AND status <> 'DELETED'")
        if not found:
            return 0
        numbers = [(number,) for number, *_ in found]
        self.connection.executemany("DELETE FROM vectors WHERE fact_no = ?", numbers)  # frees what follows needs
        self.connection.executemany(
            "UPDATE facts SET content = '', content_hash = ?, source_location = '', entities = '[]', metadata = '{}', "
            "superseded_us = NULL, valid_from_us = NULL, valid_to_us = NULL, "
            "status = 'DELETED', modified_us = ?, change = ? WHERE fact_no = ?",
            ((ERASED_HASH, modified_us, self._change, number) for (number,) in numbers),
        )
        remove_text(self.connection, self.tenant_no, _with_words(found))
        purge_text(self.connection, self.tenant_no)
        return len(found)

    def set_communities(self, labels: Iterable[tuple[str, str]]) -> int:
        """Set labels from (fact id, label) pairs; return how many changed."""
        return self.connection.executemany(
            "UPDATE facts SET community_label = ?1, change = ?2 "
            "WHERE tenant_no = ?3 AND fact_id = ?4 AND community_label <> ?1",
            ((label, self._change, self.tenant_no, fact_id) for fact_id, label in labels),
        ).rowcount

    def _create_tenant(self, tenant_id: str) -> int:
        cursor = self.connection.execute("INSERT INTO tenants (tenant_id) VALUES (?)", (tenant_id,))
        tenant_no: int = cursor.lastrowid or 0
        create_text_table(self.connection, tenant_no)
        return tenant_no

    def _next_fact_number(self) -> int:
        row = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'facts'").fetchone()
        return row[0] + 1 if row else 1

    def _find(self, fact_ids: Sequence[str], condition: str) -> list[tuple[int, str, str, str]]:
        found: list[tuple[int, str, str, str]] = []
        for some in chunks(fact_ids):
            found += self.connection.execute(
                "SELECT fact_no, status, content, source_location FROM facts "  # noqa: S608
                f"WHERE tenant_no = ? AND fact_id IN ({marks(some)}) {condition}",
                (self.tenant_no, *some),
            )
        return found


def _with_words(found: Iterable[tuple[int, str, str, str]]) -> list[IndexedText]:
    return [(number, content, place) for number, status, content, place in found if status != FactStatus.DELETED]
