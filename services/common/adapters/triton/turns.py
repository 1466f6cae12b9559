"""Who may send the next request: at most so many at once, and callers take turns.

A caller with hundreds of texts waits in line once for each request, so that a short question of another caller is
passed on after at most one request of every other caller, and nothing starves.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class RequestTurns:
    """Numbered places for requests in flight; belongs to one event loop.

    Args:
        places: how many requests may be in flight at once, at least 1.
    """

    def __init__(self, places: int) -> None:
        self._free = list(range(places))
        self._waiting: dict[Hashable, deque[asyncio.Future[int]]] = {}

    @asynccontextmanager
    async def turn(self, caller: Hashable) -> AsyncIterator[int]:
        """Wait for a place and hold it; yields its number, which nobody else holds meanwhile."""
        place = await self._take(caller)
        try:
            yield place
        finally:
            self._give(place)

    async def _take(self, caller: Hashable) -> int:
        if self._free:  # then nobody waits: a place that becomes free goes to who waits
            return self._free.pop()
        turn: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # given and cancelled in one step of the loop
                self._give(turn.result())
            else:
                self._leave(caller, turn)
            raise

    def _give(self, place: int) -> None:
        """Hand a place to the caller whose turn it is, or keep it."""
        while self._waiting:
            caller = next(iter(self._waiting))
            turns = self._waiting.pop(caller)
            turn = turns.popleft()
            if turns:
                self._waiting[caller] = turns  # to the end of the line
            if not turn.done():
                turn.set_result(place)
                return
        self._free.append(place)

    def _leave(self, caller: Hashable, turn: "asyncio.Future[int]") -> None:
        turns = self._waiting.get(caller)
        if turns is None or turn not in turns:
            return
        turns.remove(turn)
        if not turns:
            del self._waiting[caller]
