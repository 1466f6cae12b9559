"""Which writes are complete, so that each is seen whole or not at all, although Milvus has no transactions.

Every write of a tenant is a batch with a number of its own, one higher than the one before. It goes

1. ``open``: an entry that says that batch n is being written;
2. the new rows, with ``batch = n``; no read sees a batch above the last complete one;
3. ``done``: an entry with the tenant's totals. This one small write is the moment at which the batch counts;
4. the rows that the new ones replace are deleted, then the entry ``open`` and the ``done`` of the batch before.

Since every row says which write made it, what changed since a write is found by that number. Only facts that a write
removed without a trace cannot be: before ``done`` such a write adds an entry ``removed``, the last of which stays, and
whoever knows the facts as of an earlier write starts over (ADR 0084).

What a crash leaves is found when the tenant is used again: ``open`` without ``done``, the batch's rows are deleted and
its number is put out of use for ever (``void``), because a request that was given up may still arrive; ``open`` with
``done``, step 4 is repeated. A tenant's ``done`` and ``void`` entries stay.

Entries are never changed, only added and deleted. Two processes that write one tenant take turns: each adds its
``open`` and then looks; whoever sees another's gives way, so that at most one goes on. One that is left for
``LEASE_S`` belongs to a process that died.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from services.common.adapters.milvus.database import Row
from services.common.adapters.milvus.fact_rows import NOTHING, Weight
from services.common.adapters.milvus.schema import bare

LEASE_S: Final = 60.0
"""Seconds after which another process may take an open batch for abandoned, and before which its own must be done."""
OPEN: Final = "open"
DONE: Final = "done"
VOID: Final = "void"
REMOVED: Final = "removed"
FIELDS: Final = ("key", "batch", "state", "writer", "facts", "words", "at_us")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; ``at_us`` is when it was made, by the clock of the process that did."""

    key: str
    batch: int
    state: str
    writer: str
    weight: Weight
    at_us: int

    @staticmethod
    def of(row: Row) -> "Entry":
        """Read a row of ``FIELDS``."""
        weight = Weight(row["facts"], row["words"])
        return Entry(row["key"], row["batch"], row["state"], row["writer"], weight, row["at_us"])


@dataclass(frozen=True, slots=True)
class Standing:
    """What a tenant's journal says.

    Attributes:
        batch: the last complete one; 0 = none.
        weight: the tenant's totals after it.
        voided: entries of numbers that are out of use.
        unfinished: complete batches whose step 4 may not be.
        pending: entries of batches that are not complete.
        superseded: keys of entries that are of no more use.
        removed: the last complete batch that removed facts without a trace; 0 = none.
    """

    batch: int = 0
    weight: Weight = NOTHING
    voided: tuple[Entry, ...] = ()
    unfinished: tuple[Entry, ...] = ()
    pending: tuple[Entry, ...] = ()
    superseded: tuple[str, ...] = ()
    removed: int = 0

    @property
    def void(self) -> tuple[int, ...]:
        """Numbers that are out of use, ascending."""
        return tuple(sorted({one.batch for one in self.voided}))

    @property
    def next_batch(self) -> int:
        """The number of the next write."""
        return max((self.batch, *self.void)) + 1

    def condition(self, tenant: str) -> str:
        """Return the expression that holds for rows of the tenant (given by its digest) that may be seen."""
        hidden = [number for number in self.void if number <= self.batch]
        without = f" and batch not in {hidden}" if hidden else ""
        return f'tenant == "{tenant}" and status < 4 and batch <= {self.batch}{without}'


def read(rows: Iterable[Row]) -> Standing:
    """Return what a tenant's entries say together."""
    entries = [Entry.of(row) for row in rows]
    voided = tuple(one for one in entries if one.state == VOID)
    void = {one.batch for one in voided}
    done = [entry for entry in entries if entry.state == DONE and entry.batch not in void]
    opened = [entry for entry in entries if entry.state == OPEN]
    numbers = {entry.batch for entry in done}
    last = max(done, key=lambda entry: entry.batch, default=None)
    batch = last.batch if last else 0
    removing = {entry.batch: entry.key for entry in entries if entry.state == REMOVED}
    removed = max((number for number in removing if number <= batch and number not in void), default=0)
    outdated = [key for number, key in removing.items() if number in void or number < removed]
    return Standing(
        batch=batch,
        weight=last.weight if last else NOTHING,
        voided=voided,
        unfinished=tuple(entry for entry in opened if entry.batch in numbers),
        pending=tuple(entry for entry in opened if entry.batch not in numbers),
        superseded=(*outdated, *(one.key for one in entries if one.state == DONE and one.batch != batch)),
        removed=removed,
    )


def entry(tenant: str, batch: int, state: str, writer: str, weight: Weight, at_us: int) -> Row:
    """Return the row of a new entry."""
    return bare(
        {
            "key": entry_key(tenant, batch, state, writer),
            "tenant": tenant,
            "batch": batch,
            "state": state,
            "writer": writer,
            "facts": weight.facts,
            "words": weight.words,
            "at_us": at_us,
        }
    )


def entry_key(tenant: str, batch: int, state: str, writer: str) -> str:
    """Return an entry's key; only open ones are their writer's own."""
    return f"{tenant}.{batch:016x}.{state}" + (f".{writer}" if state == OPEN else "")
