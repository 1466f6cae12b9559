"""Who is served next when several tenants wait: the one that had least, so that those who always wait share equally.

``FairShares`` decides, ``FairTurns`` is a number of places that waiting callers take in that order. Both count work
(the cost that is told with it, in whatever unit the user of a queue chooses), not calls: a tenant with a hundred calls
gets no more than one with three. Properties:

* While two tenants both wait, what they were served differs by at most one item's cost.
* Who did not wait has saved nothing up: it joins at the share of those who are being served (start-time fair queueing).
* Within a tenant callers take turns by call, first come first served; what continues something begun goes first.
* A caller that goes away gives its place in the line, or the turn that it was just given, back.

Neither knows what is waited for: the door of a server (``rpc.admission``), requests to Triton, a thread's queue.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Collection, Hashable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from services.common.context import current_call

_REMEMBERED: Final = 256
"""Tenants that are away and had more than their share; beyond it those with least of it are forgotten."""


def current_tenant() -> str:
    """Return the tenant of the running call; empty outside of one."""
    try:
        return current_call().caller.tenant_id
    except LookupError:
        return ""


class FairShares:
    """How much each tenant has had; the next to be served is the one with least. Pure."""

    def __init__(self) -> None:
        self._had: dict[str, float] = {}
        self._present: dict[str, None] = {}  # the longest unserved first
        self._floor = 0.0

    def __contains__(self, tenant: str) -> bool:
        return tenant in self._present

    @property
    def waiting(self) -> Collection[str]:
        """Who waits, the one that was served longest ago first."""
        return self._present.keys()

    def join(self, tenant: str) -> None:
        """Note that the tenant waits; it starts at what the others had, or at what it had itself if that is more."""
        if tenant not in self._present:
            self._had[tenant] = max(self._had.get(tenant, 0.0), self._floor)
            self._present[tenant] = None

    def leave(self, tenant: str) -> None:
        """Note that the tenant waits no longer."""
        self._present.pop(tenant, None)

    def least(self) -> str:
        """Return the waiting tenant that has had least, of several the one that was served longest ago.

        Raises:
            ValueError: nobody waits.
        """
        return min(self._present, key=self._had.__getitem__)

    def least_of(self, tenants: Iterable[str]) -> str:
        """Return which of ``tenants`` (at least one) has had least, of several the first."""
        return min(tenants, key=lambda tenant: self._had.get(tenant, self._floor))

    def serve(self, tenant: str, cost: float) -> None:
        """Note that it is the tenant's turn to be served so much; nobody who comes now starts below where it was."""
        start = max(self._had.get(tenant, 0.0), self._floor)
        self._floor = self._had[tenant] = start
        self.charge(tenant, cost)

    def charge(self, tenant: str, cost: float) -> None:
        """Note that the tenant was served so much on another's turn, or more than was thought when it had its own."""
        self._had[tenant] = self._had.get(tenant, self._floor) + cost
        if tenant in self._present:
            del self._present[tenant]
            self._present[tenant] = None
        elif len(self._had) > len(self._present) + _REMEMBERED:
            self._forget()

    def _forget(self) -> None:
        away = sorted((had, tenant) for tenant, had in self._had.items() if tenant not in self._present)
        kept = [(had, tenant) for had, tenant in away if had > self._floor][-_REMEMBERED // 2 :]
        self._had = {tenant: self._had[tenant] for tenant in self._present} | {tenant: had for had, tenant in kept}


@dataclass(eq=False, slots=True)
class Turn:
    """A place that somebody holds; ``place`` is its number, which nobody else holds meanwhile."""

    tenant: str
    place: int


@dataclass(eq=False, slots=True)
class _Waiter:
    tenant: str
    cost: float
    caller: Hashable
    urgent: bool
    given: "asyncio.Future[Turn]"


@dataclass(eq=False, slots=True)
class _Line:
    """Who waits of one tenant."""

    urgent: deque[_Waiter] = field(default_factory=deque)
    callers: dict[Hashable, deque[_Waiter]] = field(default_factory=dict)
    count: int = 0

    def append(self, waiter: _Waiter) -> None:
        queue = self.urgent if waiter.urgent else self.callers.setdefault(waiter.caller, deque())
        queue.append(waiter)
        self.count += 1

    def pop(self) -> _Waiter:
        self.count -= 1
        if self.urgent:
            return self.urgent.popleft()
        caller = next(iter(self.callers))
        queue = self.callers.pop(caller)
        waiter = queue.popleft()
        if queue:
            self.callers[caller] = queue  # to the end of the line
        return waiter

    def discard(self, waiter: _Waiter) -> bool:
        queue = self.urgent if waiter.urgent else self.callers.get(waiter.caller, deque())
        if waiter not in queue:
            return False
        queue.remove(waiter)
        if not queue and not waiter.urgent:
            del self.callers[waiter.caller]
        self.count -= 1
        return True

    def drop(self, caller: Hashable) -> deque[_Waiter]:
        queue = self.callers.pop(caller, deque())
        self.count -= len(queue)
        return queue


class FairTurns:
    """Numbered places, taken in turns by tenant; belongs to one event loop.

    Args:
        places: how many may be held at once, at least 1.
        most_per_tenant: how many one tenant may hold at once; ``None`` = all.
    """

    def __init__(self, places: int, most_per_tenant: int | None = None) -> None:
        self._free = list(reversed(range(places)))
        self._most = most_per_tenant or places
        self._held: dict[str, int] = {}
        self._lines: dict[str, _Line] = {}
        self._shares = FairShares()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(line.count for line in self._lines.values())

    def is_free(self, tenant: str) -> bool:
        """Say whether the tenant would get a place without waiting."""
        return bool(self._free) and self._held.get(tenant, 0) < self._most

    @asynccontextmanager
    async def turn(
        self, tenant: str, cost: float, *, caller: Hashable = None, urgent: bool = False
    ) -> AsyncIterator[Turn]:
        """Wait for a place and hold it."""
        turn = await self.take(tenant, cost, caller=caller, urgent=urgent)
        try:
            yield turn
        finally:
            self.give(turn)

    async def take(self, tenant: str, cost: float, *, caller: Hashable = None, urgent: bool = False) -> Turn:
        """Wait for a place; whoever got one has to ``give`` it back.

        Args:
            tenant: whose turn it is to be.
            cost: the work that is to be done with it.
            caller: callers of one tenant take turns; equal ones wait in one line.
            urgent: goes before all others of the tenant.
        """
        if self.is_free(tenant):  # then nobody waits who could have it
            return self._grant(tenant, cost)
        waiter = _Waiter(tenant, cost, caller, urgent, asyncio.get_running_loop().create_future())
        self._lines.setdefault(tenant, _Line()).append(waiter)
        self._present(tenant)
        try:
            return await waiter.given
        except asyncio.CancelledError:
            self._withdraw(waiter)
            raise

    def give(self, turn: Turn) -> None:
        """Hand a place back: the next who waits gets it."""
        held = self._held[turn.tenant] - 1
        if held:
            self._held[turn.tenant] = held
        else:
            del self._held[turn.tenant]
        self._free.append(turn.place)
        self._present(turn.tenant)
        self._hand_out()

    def fail(self, tenant: str, caller: Hashable, error: Exception) -> None:
        """Let the caller's waits of the tenant end with ``error``; urgent ones go on waiting."""
        line = self._lines.get(tenant)
        for waiter in () if line is None else line.drop(caller):
            if not waiter.given.done():
                waiter.given.set_exception(error)
        self._present(tenant)

    def _grant(self, tenant: str, cost: float) -> Turn:
        self._shares.serve(tenant, cost)
        self._held[tenant] = self._held.get(tenant, 0) + 1
        return Turn(tenant, self._free.pop())

    def _hand_out(self) -> None:
        while self._free:
            try:
                tenant = self._shares.least()
            except ValueError:
                return
            waiter = self._lines[tenant].pop()
            if not waiter.given.done():
                waiter.given.set_result(self._grant(tenant, waiter.cost))
            self._present(tenant)

    def _present(self, tenant: str) -> None:
        """Keep with the shares whether the tenant waits and may have a place."""
        line = self._lines.get(tenant)
        if line is not None and not line.count:
            del self._lines[tenant]
            line = None
        if line is not None and self._held.get(tenant, 0) < self._most:
            self._shares.join(tenant)
        else:
            self._shares.leave(tenant)

    def _withdraw(self, waiter: _Waiter) -> None:
        if waiter.given.done() and not waiter.given.cancelled():  # given and cancelled in one step of the loop
            if waiter.given.exception() is None:
                self.give(waiter.given.result())
            return
        line = self._lines.get(waiter.tenant)
        if line is not None and line.discard(waiter):
            self._present(waiter.tenant)
