"""The mean of the last values and the drop of a line fitted through them, at constant cost for each value.

Sums are kept as whole numbers of 2**-40, exact under addition and subtraction: after a million values they are what
they would be if they were taken anew, and the same values give the same sums wherever a window began.
"""

from collections import deque
from typing import Final

_SCALE: Final = 2**40


class SlidingMean:
    """The mean of the last ``size`` values, each 0.0-1.0."""

    def __init__(self, size: int) -> None:
        self._values: deque[int] = deque(maxlen=size)
        self._sum = 0

    def add(self, value: float) -> float | None:
        """Take in a value; return the mean, or ``None`` until there are as many as it is taken over."""
        scaled = round(value * _SCALE)
        size = self._values.maxlen or 1
        if len(self._values) == size:
            self._sum -= self._values[0]
        self._values.append(scaled)
        self._sum += scaled
        return self._sum / (size * _SCALE) if len(self._values) == size else None


class SlidingTrend:
    """How far a line fitted by least squares through the last ``size`` values, each 0.0-1.0, drops from first to last.

    With positions 0 … n-1 the slope is 12·(Σ i·y - (n-1)/2·Σ y) / (n·(n²-1)), and the drop is -slope·(n-1).
    """

    def __init__(self, size: int) -> None:
        self._values: deque[int] = deque(maxlen=size)
        self._sum = 0
        self._moment = 0
        """The sum of each value times its position in the window."""

    def add(self, value: float) -> float | None:
        """Take in a value; return the drop (negative where values rise), or ``None`` until the window is full."""
        scaled = round(value * _SCALE)
        size = self._values.maxlen or 2
        if len(self._values) == size:
            first = self._values[0]
            self._sum -= first
            self._moment -= self._sum  # every value that stays moves one place to the front
            position = size - 1
        else:
            position = len(self._values)
        self._values.append(scaled)
        self._sum += scaled
        self._moment += position * scaled
        if len(self._values) < size:
            return None
        doubled = 2 * self._moment - (size - 1) * self._sum
        return -6 * doubled / (size * (size + 1) * _SCALE)
