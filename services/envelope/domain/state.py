"""The state hash of a tenant's knowledge (SPEC-003 §11.3; ADR 0006), and an index that keeps it cheap.

The hash is over sorted texts, so it is computed anew for every state; what the index saves is everything before that:
reading entries, writing them as texts, sorting them. A write costs the index what was written, not what is there.
"""

import hashlib
from bisect import bisect_left, insort
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Final

from services.common.encoding import SHA256_PREFIX, iso_micros
from services.common.ports.fact_changes import StateChanges, StateKnown, StateRow
from services.common.ports.facts import FactStatus

_RESORT_SHARE: Final = 0.1
"""Share of a community's entries above which sorting it anew is cheaper than moving one entry after the other."""


@lru_cache(maxsize=4096)
def _moment(value: datetime) -> str:
    """Return the moment as text; the facts of one batch share theirs."""
    return iso_micros(value)


def state_entry(fact_id: str, content_hash: str, modified_at: datetime, status: FactStatus) -> str:
    """Return one entry: ``fact_id:content_hash:modified_at:status``."""
    return f"{fact_id}:{content_hash}:{_moment(modified_at)}:{status.value}"


def state_hash(entries: Iterable[str], epoch: int, embedding_model: str) -> str:
    """Return ``sha256:`` and 64 hex digits over sorted entries, the clustering's epoch and the model, joined by ``|``.

    Args:
        entries: what ``state_entry`` gave, in any order.
        epoch: number of the clustering; 0 = never clustered.
        embedding_model: fingerprint of the model in use.
    """
    text = "|".join([*sorted(entries), f"epoch:{epoch}", f"model:{embedding_model}"])
    return SHA256_PREFIX + hashlib.sha256(text.encode()).hexdigest()


class _Community:
    """The entries of one community by fact number, and sorted once somebody has asked for them."""

    __slots__ = ("_sorted", "_unsorted", "entries")

    def __init__(self) -> None:
        self.entries: dict[int, str] = {}
        self._sorted: list[str] | None = None
        self._unsorted: list[tuple[bool, str]] = []

    def put(self, number: int, entry: str) -> None:
        self.drop(number)
        self.entries[number] = entry
        self._unsorted.append((True, entry))

    def drop(self, number: int) -> None:
        entry = self.entries.pop(number, None)
        if entry is not None:
            self._unsorted.append((False, entry))

    def ordered(self) -> list[str]:
        if self._sorted is None or len(self._unsorted) > _RESORT_SHARE * len(self.entries):
            self._sorted = sorted(self.entries.values())
        else:
            for is_new, entry in self._unsorted:
                if is_new:
                    insort(self._sorted, entry)
                else:
                    del self._sorted[bisect_left(self._sorted, entry)]
        self._unsorted = []
        return self._sorted


class StateIndex:
    """The entries of one tenant, by community, as of one change of the store."""

    def __init__(self) -> None:
        self.known = StateKnown()
        self.touched = 0
        self.arrived = -1
        self._communities: dict[str, _Community] = {}
        self._places: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._places)

    def apply(self, changes: StateChanges, wanted: frozenset[str] | None) -> None:
        """Become level with the store; afterwards the communities ``wanted`` are known, ``None`` = all.

        ``touched`` counts the entries that this and former calls moved: the work that writes have caused. ``arrived``
        is the last change by which, for all that was told, a fact of any community may have become retrievable; it
        only grows, and what was seen at one number is no longer the whole when the number is another (ADR 0111).
        """
        is_active = any(row.entry.status is FactStatus.ACTIVE for row in changes.changed)
        if changes.starts_over or is_active or (changes.added and changes.change > self.known.change):
            self.arrived = max(self.arrived, changes.change)
        known = frozenset[str]() if changes.starts_over else self.known.communities
        if changes.starts_over:
            self._communities, self._places = {}, {}
        known = None if known is None or wanted is None else known | wanted
        for number in changes.removed:
            self._drop(number)
        for row in changes.changed:
            self._drop(row.number)
            if known is None or row.community in known:
                self._put(row)
        for row in changes.added:
            self._drop(row.number)
            self._put(row)
        self.touched += len(changes.removed) + len(changes.changed) + len(changes.added)
        self.known = StateKnown(changes.change, known)

    def knows(self, communities: frozenset[str] | None) -> bool:
        """Say whether the entries of these communities are here; ``None`` = of all."""
        known = self.known.communities
        return known is None or (communities is not None and communities <= known)

    def size(self, communities: frozenset[str] | None) -> int:
        """Return how many entries these communities have."""
        if communities is None:
            return len(self._places)
        return sum(len(self._communities[name].entries) for name in communities if name in self._communities)

    def entries(self, communities: frozenset[str] | None) -> list[str]:
        """Return the entries of known communities, sorted; ``None`` = of all."""
        chosen = (
            self._communities if communities is None else [name for name in communities if name in self._communities]
        )
        merged: list[str] = []
        for name in sorted(chosen, key=lambda name: -len(self._communities[name].entries)):
            merged.extend(self._communities[name].ordered())
        merged.sort()  # runs that are sorted are merged, not sorted anew
        return merged

    def _put(self, row: StateRow) -> None:
        fact = row.entry
        entry = state_entry(fact.fact_id, fact.content_hash, fact.modified_at, fact.status)
        self._communities.setdefault(row.community, _Community()).put(row.number, entry)
        self._places[row.number] = row.community

    def _drop(self, number: int) -> None:
        community = self._places.pop(number, None)
        if community is not None:
            self._communities[community].drop(number)
