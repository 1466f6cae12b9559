"""Many may read or one may change; who wants to change goes first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """One tenant's reads, and the moment at which a write of it becomes visible."""

    def __init__(self) -> None:
        self._readers = 0
        self._changing = 0
        self._held = False
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Enter beside other readers; not to be nested."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._changing)
            self._readers += 1
        try:
            yield
        finally:
            await self._leave()

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Wait until every reader has left and keep others out."""
        async with self._changed:
            self._changing += 1
            try:
                await self._changed.wait_for(lambda: not self._readers and not self._held)
            except BaseException:
                self._changing -= 1
                self._changed.notify_all()
                raise
            self._held = True
        try:
            yield
        finally:
            async with self._changed:
                self._held = False
                self._changing -= 1
                self._changed.notify_all()

    async def _leave(self) -> None:
        async with self._changed:
            self._readers -= 1
            self._changed.notify_all()
