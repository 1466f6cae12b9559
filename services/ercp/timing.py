"""How a bound of its own shortens the time that a call has left."""

import asyncio

from services.common.concurrency import remaining_s


class Stopwatch:
    """The time of one run: its own bound, and the caller's deadline less what is kept back to answer.

    Args:
        limit_s: longest time of the run, in seconds.
        reserve_s: of the caller's deadline, kept back.
    """

    def __init__(self, limit_s: float, reserve_s: float) -> None:
        now = asyncio.get_running_loop().time()
        whole = remaining_s()
        self._until = now + (limit_s if whole is None else min(limit_s, whole - reserve_s))

    def left(self) -> float:
        """Return the seconds left; 0.0 or less when the time is up."""
        return self._until - asyncio.get_running_loop().time()
