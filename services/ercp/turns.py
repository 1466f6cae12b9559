"""Calls about one trace wait for each other within this process, so that a twin meets what the first one wrote."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from weakref import WeakValueDictionary

from services.common.context import current_call


class Turns:
    """A lock for each trace that a call is about, for as long as one is."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def turn(self, trace_id: str) -> AsyncIterator[None]:
        """Wait until no other call of this tenant is about the trace."""
        lock = self._locks.setdefault((current_call().caller.tenant_id, trace_id), asyncio.Lock())
        async with lock:
            yield
