"""What changed in a tenant's facts since one of its writes (``ports.fact_changes``, ADR 0084).

The number of a tenant's last complete write is its change number. Every row holds the number of the write that made
it, so that Milvus itself says what is new or changed since; ``journal`` says when facts were removed without a trace.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from services.common.adapters.milvus.database import Row
from services.common.adapters.milvus.fact_rows import (
    NO_END,
    NO_START,
    STATE_FIELDS,
    community_of,
    digest,
    fact_id_of,
    outline,
    state_entry,
)
from services.common.adapters.milvus.reads import FactReads
from services.common.ports.fact_changes import FactOutline, StateChanges, StateKnown, StateRow
from services.common.ports.facts import FactFilter

MOST_CHANGES: Final = 10_000
"""Changes that are told one by one; beyond it the reader starts over with the communities that it wants."""
FIELDS: Final = (*STATE_FIELDS, "community")
_MOST_LABELS: Final = 100_000
_MOST_TENANTS: Final = 10_000


class Labels:
    """Communities' labels by their digests, which are what Milvus can filter by; a digest's label never changes."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def learn(self, labels: Iterable[str]) -> None:
        """Remember labels; when there are too many, the former ones are forgotten and will be read again."""
        if len(self._known) > _MOST_LABELS:
            self._known.clear()
        self._known.update((digest(label), label) for label in {"", *labels})

    async def of(self, rows: Sequence[Row], reads: FactReads) -> Mapping[str, str]:
        """Return the labels of rows' communities; those that are not known are read from one row of each."""
        self.learn(())
        missing = {row["community"]: row["key"] for row in rows if row["community"] not in self._known}
        if missing:
            bodies = await reads.bodies(sorted(missing.values()))
            self.learn(map(community_of, bodies))
        return self._known


class Turns:
    """The moments at which facts' validity begins or ends, by tenant, read anew when the tenant was written to."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, list[int]]] = {}

    async def of(self, reads: FactReads) -> list[int]:
        """Return them in microseconds, ascending."""
        tenant, batch = reads.view.tenant, reads.view.standing.batch
        known = self._known.get(tenant)
        if known is None or known[0] != batch:
            rows = await reads.limited()
            found = {row[field] for row in rows for field in ("starts_us", "ends_us")} - {NO_START, NO_END}
            if len(self._known) >= _MOST_TENANTS:
                self._known.clear()
            known = self._known[tenant] = (batch, sorted(found))
        return known[1]


async def state_changes(
    reads: FactReads, labels: Labels, known: StateKnown, communities: frozenset[str] | None
) -> StateChanges:
    """Return how the entries of known communities changed, and all entries of the others that are wanted."""
    labels.learn((known.communities or frozenset()) | (communities or frozenset()))
    standing = reads.view.standing
    starts_over = known.change < standing.removed or known.change < 0
    changed: list[Row] = []
    if not starts_over and known.change < standing.batch:
        changed = await reads.since(known.change, FIELDS, MOST_CHANGES + 1)
        starts_over = len(changed) > MOST_CHANGES
    if starts_over:
        known, changed = StateKnown(), []
    added = await _added(reads, known, communities)
    if known.communities is None or communities is None:  # else those of others are only to be told apart from these
        names = await labels.of([*changed, *added], reads)
    else:
        names = await labels.of((), reads)
    # Writing a hundred thousand entries as Python objects takes longer than the event loop should stand still.
    rows = await asyncio.to_thread(lambda: [_state_rows(some, names) for some in (changed, added)])
    return StateChanges(standing.batch, starts_over, removed=(), changed=rows[0], added=rows[1])


def outlines(rows: Iterable[Row]) -> list[FactOutline]:
    """Return the outlines of rows of ``OUTLINE_FIELDS``."""
    return list(map(outline, rows))


async def _added(reads: FactReads, known: StateKnown, communities: frozenset[str] | None) -> list[Row]:
    if known.communities is None:
        return []
    wanted = None if communities is None else sorted(communities - known.communities)
    if wanted is not None and not wanted:
        return []
    return await reads.all(FactFilter(communities=tuple(wanted or ()), statuses=()), FIELDS)


def _state_rows(rows: Iterable[Row], names: Mapping[str, str]) -> list[StateRow]:
    return [StateRow(_number(row), names.get(row["community"], row["community"]), state_entry(row)) for row in rows]


def _number(row: Row) -> int:
    """Return a fact's number, the same in all its versions: its id as one number."""
    return int.from_bytes(b"\1" + fact_id_of(row["key"]).encode("utf-8", "surrogatepass"))
