"""Reading what a view needs from SQLite: everything once, then only what changed."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from services.common.adapters.sqlite.fact_rows import VECTOR_TYPE
from services.common.adapters.sqlite.tenant_indexes import GONE, TenantIndex
from services.common.adapters.sqlite.vector_view import NO_END, NO_START, STATUS_CODES, VectorView
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers

BLOCK_ROWS: Final = 4_096
"""Vectors in one block of a tail."""

_SLOTS: Final = """
    SELECT fact_no, status, source_id, community_label, superseded_us, valid_from_us, valid_to_us FROM facts
    WHERE tenant_no = ? AND status <> 'DELETED' ORDER BY fact_no
"""
_VECTORS: Final = """
    SELECT vectors.embedding FROM facts JOIN vectors USING (fact_no)
    WHERE tenant_no = ? AND fact_no > ? AND status <> 'DELETED' ORDER BY fact_no
"""
_CHANGES: Final = """
    SELECT facts.fact_no, status, source_id, community_label, superseded_us, valid_from_us, valid_to_us,
        vectors.embedding
    FROM facts LEFT JOIN vectors ON vectors.fact_no = facts.fact_no AND facts.fact_no > ?2
    WHERE tenant_no = ?1 AND change > ?3 ORDER BY facts.fact_no
"""
_SUPERSEDED: Final = 4
_VALID_FROM: Final = 5
_VALID_TO: Final = 6
_EMBEDDING: Final = 7
"""Columns of ``_SLOTS`` and ``_CHANGES``."""
_REMOVALS: Final = "SELECT fact_no FROM removals WHERE tenant_no = ? AND change > ?"


def first_view(
    connection: sqlite3.Connection, tenant_no: int, change: int, dimension: int, saved: TenantIndex | None
) -> VectorView:
    """Return the view of a tenant that is not in memory.

    Args:
        connection: inside a read transaction that sees ``change``.
        tenant_no: the tenant.
        change: its change number.
        dimension: length of a vector.
        saved: an index from an earlier run; used as far as it knows the first facts.
    """
    rows = connection.execute(_SLOTS, (tenant_no,)).fetchall()
    numbers = np.array([row[0] for row in rows], dtype=np.int64)
    sources: dict[str, int] = {}
    communities: dict[str, int] = {}
    starts, ends = _times(rows)
    index = None if saved is None else saved.leading(numbers)
    indexed = 0 if index is None else len(index)
    after = int(numbers[indexed - 1]) if indexed else 0
    return VectorView(
        change=change,
        numbers=numbers,
        statuses=np.array([STATUS_CODES[row[1]] for row in rows], dtype=np.int8),
        sources=np.array([sources.setdefault(row[2], len(sources)) for row in rows], dtype=np.int32),
        communities=np.array([communities.setdefault(row[3], len(communities)) for row in rows], dtype=np.int32),
        starts=starts,
        ends=ends,
        is_timed=_is_timed(starts, ends),
        source_codes=sources,
        community_codes=communities,
        index=index,
        indexed=indexed,
        tail=tuple(_blocks(connection.execute(_VECTORS, (tenant_no, after)), dimension)),
    )


def next_view(connection: sqlite3.Connection, tenant_no: int, change: int, view: VectorView) -> VectorView:
    """Return ``view`` brought up to ``change``."""
    last = int(view.numbers[-1]) if len(view.numbers) else 0
    rows = connection.execute(_CHANGES, (tenant_no, last, view.change)).fetchall()
    known = [row for row in rows if row[0] <= last]
    fresh = [row for row in rows if row[0] > last and row[_EMBEDDING] is not None]
    removed = [row[0] for row in connection.execute(_REMOVALS, (tenant_no, view.change))]
    return _grown(_changed(replace(view, change=change), known, removed), fresh)


def trimmed(tail: Sequence[Vectors], rows: int) -> tuple[Vectors, ...]:
    """Return the tail without its first ``rows`` vectors."""
    kept: list[Vectors] = []
    for block in tail:
        if rows < len(block):
            kept.append(block[rows:])
        rows = max(0, rows - len(block))
    return tuple(kept)


def _changed(view: VectorView, rows: Sequence[Sequence[Any]], removed: Sequence[int]) -> VectorView:
    if not rows and not removed:
        return view
    statuses, communities, ends = view.statuses.copy(), view.communities.copy(), view.ends.copy()
    starts, present = _times(rows)
    codes = dict(view.community_codes)
    slots = _slots(view.numbers, [row[0] for row in rows])
    for slot, row, end in zip(slots, rows, present.tolist(), strict=True):
        if slot >= 0:  # a fact that is in place begins when it did: another validity is another row
            ends[slot] = end
            statuses[slot] = STATUS_CODES.get(row[1], GONE)
            communities[slot] = codes.setdefault(row[3], len(codes))
    gone = np.array(_slots(view.numbers, removed), dtype=np.int64)
    statuses[gone[gone >= 0]] = GONE
    is_timed = view.is_timed or _is_timed(starts, present)
    return replace(
        view, statuses=statuses, communities=communities, community_codes=codes, ends=ends, is_timed=is_timed
    )


def _grown(view: VectorView, rows: Sequence[Sequence[Any]]) -> VectorView:
    if not rows:
        return view
    sources, communities = dict(view.source_codes), dict(view.community_codes)
    statuses = np.array([STATUS_CODES[row[1]] for row in rows], dtype=np.int8)
    source_codes = np.array([sources.setdefault(row[2], len(sources)) for row in rows], dtype=np.int32)
    labels = np.array([communities.setdefault(row[3], len(communities)) for row in rows], dtype=np.int32)
    starts, ends = _times(rows)
    return replace(
        view,
        numbers=np.concatenate([view.numbers, np.array([row[0] for row in rows], dtype=np.int64)]),
        statuses=np.concatenate([view.statuses, statuses]),
        sources=np.concatenate([view.sources, source_codes]),
        communities=np.concatenate([view.communities, labels]),
        starts=np.concatenate([view.starts, starts]),
        ends=np.concatenate([view.ends, ends]),
        is_timed=view.is_timed or _is_timed(starts, ends),
        source_codes=sources,
        community_codes=communities,
        tail=_appended(view.tail, _matrix([row[_EMBEDDING] for row in rows])),
    )


def _times(rows: Sequence[Sequence[Any]]) -> tuple[Numbers, Numbers]:
    """Return when the facts of rows begin and cease to hold."""
    starts = [NO_START if row[_VALID_FROM] is None else row[_VALID_FROM] for row in rows]
    ends = [
        NO_END if row[_SUPERSEDED] is None and row[_VALID_TO] is None
        else min(end for end in (row[_SUPERSEDED], row[_VALID_TO]) if end is not None)
        for row in rows
    ]  # fmt: skip
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)


def _is_timed(starts: Numbers, ends: Numbers) -> bool:
    return bool((starts != NO_START).any() or (ends != NO_END).any())


def _slots(numbers: Numbers, wanted: Sequence[int]) -> list[int]:
    """Return the slot of each fact number, -1 for one without."""
    if not wanted or not len(numbers):
        return [-1] * len(wanted)
    sought = np.array(wanted, dtype=np.int64)
    places = np.minimum(np.searchsorted(numbers, sought), len(numbers) - 1)
    slots: list[int] = np.where(numbers[places] == sought, places, -1).tolist()
    return slots


def _matrix(embeddings: Sequence[bytes]) -> Vectors:
    return np.frombuffer(b"".join(embeddings), dtype=VECTOR_TYPE).reshape(len(embeddings), -1)


def _blocks(rows: Iterable[tuple[bytes]], dimension: int) -> list[Vectors]:
    blocks: list[Vectors] = []
    pending: list[bytes] = []
    for (embedding,) in rows:
        pending.append(embedding)
        if len(pending) == BLOCK_ROWS:
            blocks.append(_matrix(pending).reshape(-1, dimension))
            pending = []
    if pending:
        blocks.append(_matrix(pending).reshape(-1, dimension))
    return blocks


def _appended(tail: tuple[Vectors, ...], block: Vectors) -> tuple[Vectors, ...]:
    if tail and len(tail[-1]) < BLOCK_ROWS:  # many small additions do not become many small blocks
        return (*tail[:-1], np.concatenate([tail[-1], block]))
    return (*tail, block)
