"""Accesses that were counted and are not written yet.

An envelope of a hundred facts would otherwise rewrite a hundred rows before it is answered. Counts are best effort:
they are written together, at most a second late, and what a crash takes with it is a second of them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Accesses(NamedTuple):
    """How often a fact was accessed, and when last, in microseconds since 1970."""

    times: int
    last_us: int


class AccessCounts:
    """Counts by tenant and fact; changed on the event loop only, read by any thread."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, Accesses]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, tenant_id: str, fact_ids: Sequence[str], at_us: int) -> None:
        """Count one access of each fact."""
        tenant = self._waiting.setdefault(tenant_id, {})
        for fact_id in dict.fromkeys(fact_ids):
            tenant[fact_id] = Accesses(tenant[fact_id].times + 1 if fact_id in tenant else 1, at_us)

    def of(self, tenant_id: str) -> Mapping[str, Accesses]:
        """Return what waits for the tenant."""
        return self._waiting.get(tenant_id, {})

    def take(self, tenant_id: str) -> Mapping[str, Accesses]:
        """Return what waits for the tenant and forget it: it is about to be written."""
        return self._waiting.pop(tenant_id, {})

    def take_all(self) -> Mapping[str, Mapping[str, Accesses]]:
        """Return what waits for every tenant and forget it."""
        taken, self._waiting = self._waiting, {}
        return taken
