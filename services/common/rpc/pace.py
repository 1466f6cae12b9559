"""How much work the process does in a second, measured by the calls that compute.

Tenants share the process equally, and so do the calls of one: of a second in which n tenants compute, one of k calls
of a tenant has 1 / (n k). A call that did u units in d such seconds shows a pace of u / d. Sums of units and of seconds
decay with each call, so that the last ten or so count, long calls more than short ones. A call that computed alone
tells only what one caller gets, which is less than what the process can do: it counts until calls have computed side
by side.

Units are estimates, and one tenant's long analyses take longer for each than another's short ones: what is promised
to a tenant is reckoned by what its own calls showed where that is less.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_KEPT: Final = 0.9
"""What is left of the sums after another call."""
_SIDE_BY_SIDE: Final = 1.5
"""Calls that compute on average, from which on a call tells the pace of the process."""
_LEAST_S: Final = 1e-3
_REMEMBERED: Final = 256
"""Tenants whose own pace is kept, those whose calls ended last."""


@dataclass(frozen=True, slots=True)
class Begun:
    """When a call of a tenant began to compute, and what a call of that tenant had had of the process by then."""

    tenant: str
    at: float
    had_s: float


@dataclass(slots=True)
class _Sums:
    units: float = 0.0
    seconds: float = 0.0

    @property
    def pace(self) -> float | None:
        return self.units / self.seconds if self.seconds else None

    def add(self, units: float, seconds: float) -> None:
        self.units = self.units * _KEPT + units
        self.seconds = self.seconds * _KEPT + seconds


class Pace:
    """Measures; one writer, the event loop.

    Args:
        now: seconds of a clock that never goes back.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._computing: Counter[str] = Counter()  # calls by tenant
        self._had_s: dict[str, float] = {}  # seconds of the process that one call of a tenant which computes has had
        self._counted_at = now()
        self._alone = _Sums()
        self._beside = _Sums()
        self._own: dict[str, _Sums] = {}  # of calls beside others; who ended a call last stands last

    @property
    def units_per_s(self) -> float | None:
        """Units that the process does in a second; ``None`` while nothing was measured."""
        return self._beside.pace or self._alone.pace

    def units_per_s_of(self, tenant: str) -> float | None:
        """Return the units of a tenant's calls that the process does in a second, where they take longer than others'.

        As ``units_per_s`` where they do not, or where nothing of the tenant was measured.
        """
        whole, sums = self.units_per_s, self._own.get(tenant)
        own = sums.pace if sums is not None else None
        return whole if whole is None or own is None else min(whole, own)

    def done(self, begun: Begun) -> float:
        """Return the units that a call which computes has done by now; 0 while nothing was measured."""
        self._count()
        return (self.units_per_s_of(begun.tenant) or 0.0) * self._had(begun)

    def begin(self, tenant: str = "") -> Begun:
        """Note that a call of the tenant begins to compute."""
        self._count()
        self._computing[tenant] += 1
        return Begun(tenant, self._counted_at, self._had_s.setdefault(tenant, 0.0))

    def end(self, begun: Begun, units: float, *, done: bool) -> None:
        """Note that a call ends; what was not ``done`` tells nothing."""
        self._count()
        tenant, had_s = begun.tenant, max(self._had(begun), _LEAST_S)
        self._computing[tenant] -= 1
        if not self._computing[tenant]:
            del self._computing[tenant], self._had_s[tenant]
        if not done:
            return
        if (self._counted_at - begun.at) / had_s < _SIDE_BY_SIDE:
            self._alone.add(units, had_s)
            return
        self._beside.add(units, had_s)
        own = self._own.pop(tenant, _Sums())
        own.add(units, had_s)
        self._own[tenant] = own
        if len(self._own) > _REMEMBERED:
            del self._own[next(iter(self._own))]

    def _had(self, begun: Begun) -> float:
        return self._had_s[begun.tenant] - begun.had_s

    def _count(self) -> None:
        now = self._now()
        for tenant, calls in self._computing.items():
            self._had_s[tenant] += (now - self._counted_at) / (len(self._computing) * calls)
        self._counted_at = now
