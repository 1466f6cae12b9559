"""Calls that change one session queue in this process instead of racing for the version guard.

The guard stays what keeps two processes apart; a queue only saves what the loser of a race would compute for nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class SessionQueues:
    """One queue for each session that is being changed."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, tenant_id: str, session_id: str) -> AsyncIterator[bool]:
        """Wait for the session's turn; yields whether another call was before this one."""
        lock = self._locks.setdefault((tenant_id, session_id), asyncio.Lock())
        waited = lock.locked()
        async with lock:
            yield waited
