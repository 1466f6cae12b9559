"""One lock per key, kept only while somebody holds or awaits it."""

import asyncio
from weakref import WeakValueDictionary


class KeyedLocks:
    """Serialises work on the same thing: two versions of one source must not be written at once."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()

    def of(self, *key: str) -> asyncio.Lock:
        """Return the lock of ``key``; use it at once with ``async with``."""
        lock = self._locks.get(key)
        if lock is None:
            lock = asyncio.Lock()
            self._locks[key] = lock
        return lock
