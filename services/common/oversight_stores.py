"""The stores of what people have to look at: answers that wait for a decision. A part of ``Adapters``."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from services.common.ports.reviews import ReviewStore
from services.common.settings import Settings

OVERSIGHT_FILE: Final = "oversight.db"

AdapterT = TypeVar("AdapterT")


class OversightStores:
    """Opens the stores once; every gateway of an installation shares their file."""

    settings: Settings

    if TYPE_CHECKING:

        def _path(self, name: str) -> Path: ...

        async def _once(self, name: str, build: Callable[[], Awaitable[AdapterT]]) -> AdapterT: ...

    async def reviews(self) -> ReviewStore:
        """Return the store of answers that wait for a person."""
        from services.common.adapters.sqlite.reviews import SqliteReviewStore

        return await self._once(
            "reviews", lambda: SqliteReviewStore.open(self._path(OVERSIGHT_FILE), self.settings.store)
        )
