"""The stores of what people have to look at: held answers, reports that nobody took. A part of ``Adapters``."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from services.common.ports.feedback import FeedbackStore
from services.common.ports.reviews import ReviewStore
from services.common.ports.violation_reports import ViolationReportStore
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

    async def violation_reports(self) -> ViolationReportStore:
        """Return the queue of violation reports, and its dead letters."""
        from services.common.adapters.sqlite.violation_reports import SqliteViolationReportStore as Store

        return await self._once(
            "violation_reports", lambda: Store.open(self._path(OVERSIGHT_FILE), self.settings.store)
        )

    async def feedback(self) -> FeedbackStore:
        """Return what people say about verdicts."""
        from services.common.adapters.sqlite.feedback import SqliteFeedbackStore

        return await self._once(
            "feedback", lambda: SqliteFeedbackStore.open(self._path(OVERSIGHT_FILE), self.settings.store)
        )
