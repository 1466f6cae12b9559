"""How much work the process does in a second, measured by the calls that compute.

A call that did u units in d seconds, while n computed on average, shows a pace of u / d * n. Sums of units and of
seconds decay with each call, so that the last ten or so count, long calls more than short ones. A call that computed
alone tells only what one caller gets, which is less than what the process can do: it counts until calls have computed
side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_KEPT: Final = 0.9
"""What is left of the sums after another call."""
_SIDE_BY_SIDE: Final = 1.5
"""Calls that compute on average, from which on a call tells the pace of the process."""
_LEAST_S: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Begun:
    """When a call began to compute, and how many call seconds had been computed by then."""

    at: float
    call_seconds: float


@dataclass(slots=True)
class _Sums:
    units: float = 0.0
    seconds: float = 0.0

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
        self._computing = 0
        self._call_seconds = 0.0
        self._counted_at = now()
        self._alone = _Sums()
        self._beside = _Sums()

    @property
    def units_per_s(self) -> float | None:
        """Units that the process does in a second; ``None`` while nothing was measured."""
        sums = self._beside if self._beside.seconds else self._alone
        return sums.units / sums.seconds if sums.seconds else None

    def begin(self) -> Begun:
        """Note that a call begins to compute."""
        self._count()
        self._computing += 1
        return Begun(self._counted_at, self._call_seconds)

    def end(self, begun: Begun, units: float, *, done: bool) -> None:
        """Note that it ends; what was not ``done`` tells nothing."""
        self._count()
        self._computing -= 1
        if not done:
            return
        seconds = max(self._counted_at - begun.at, _LEAST_S)
        beside = max((self._call_seconds - begun.call_seconds) / seconds, 1.0)
        (self._beside if beside >= _SIDE_BY_SIDE else self._alone).add(units, seconds / beside)

    def _count(self) -> None:
        now = self._now()
        self._call_seconds += (now - self._counted_at) * self._computing
        self._counted_at = now
