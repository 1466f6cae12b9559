"""The stores of what people have to look at: held answers, reports that nobody took. A part of ``Adapters``."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from services.common.ports.feedback import FeedbackStore
from services.common.ports.reviews import ReviewStore
from services.common.ports.violation_reports import ViolationReportStore
from services.common.settings import Settings

if TYPE_CHECKING:
    from services.common.adapters.sqlite.database import Database

OVERSIGHT_FILE: Final = "oversight.db"

AdapterT = TypeVar("AdapterT")


class OversightStores:
    """Opens their file once; every gateway of an installation shares it."""

    settings: Settings

    if TYPE_CHECKING:

        def _path(self, name: str) -> Path: ...

        async def _once(self, name: str, build: Callable[[], Awaitable[AdapterT]]) -> AdapterT: ...

    async def _oversight(self) -> "Database":
        from services.common.adapters.sqlite.database import Database
        from services.common.adapters.sqlite.oversight_schema import OVERSIGHT_SCHEMA

        path = self._path(OVERSIGHT_FILE)
        return await self._once("oversight", lambda: Database.open(path, OVERSIGHT_SCHEMA, self.settings.store))

    async def reviews(self) -> ReviewStore:
        """Return the store of answers that wait for a person."""
        from services.common.adapters.sqlite.reviews import SqliteReviewStore

        return SqliteReviewStore(await self._oversight())

    async def violation_reports(self) -> ViolationReportStore:
        """Return the queue of violation reports, and its dead letters."""
        from services.common.adapters.sqlite.violation_reports import SqliteViolationReportStore

        return SqliteViolationReportStore(await self._oversight())

    async def feedback(self) -> FeedbackStore:
        """Return what people say about verdicts."""
        from services.common.adapters.sqlite.feedback import SqliteFeedbackStore

        return SqliteFeedbackStore(await self._oversight())
