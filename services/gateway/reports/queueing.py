"""The queue of reports as those see it who fill it."""

from collections.abc import Callable, Sequence
from datetime import datetime

from services.common.clock import Clock
from services.common.ports.violation_reports import OutgoingReport, ViolationReportStore
from services.common.settings.outgoing import host_of
from services.common.settings.reports import ReportSettings


class ReportQueue:
    """Queues reports.

    Args:
        store: of the queue.
        clock: the time.
        settings: the deployment's bounds and groups.
        filed: told when something was queued.
    """

    def __init__(
        self,
        store: ViolationReportStore,
        clock: Clock,
        settings: ReportSettings,
        filed: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._filed = filed
        self.settings = settings

    def now(self) -> datetime:
        """Return the time."""
        return self._clock.now()

    def report(self, tenant_id: str, report_id: str, url: str, body: bytes) -> OutgoingReport:
        """Return a report that is due now."""
        now = self._clock.now()
        return OutgoingReport(tenant_id, report_id, url, host_of(url), body, now, now)

    async def put(self, reports: Sequence[OutgoingReport]) -> int:
        """Queue what is not known yet, durably; return how many were not taken because it is full."""
        if not reports:
            return 0
        left_out = await self._store.file(reports, self.settings.max_queued)
        self._filed()
        return left_out
