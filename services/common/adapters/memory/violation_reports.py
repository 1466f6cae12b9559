"""``ViolationReportStore`` in a dictionary, for tests and as the reference of the contract suite."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from services.common.ports.receipts import RECEIPT_RETENTION
from services.common.ports.violation_reports import OutgoingReport, ReportState


class MemoryViolationReportStore:
    """Reports in one process's memory."""

    def __init__(self) -> None:
        self._reports: dict[tuple[str, str], OutgoingReport] = {}

    async def file(self, reports: Collection[OutgoingReport], most: int) -> int:
        """Queue what is new and fits."""
        if not reports:
            return 0
        now = max(report.created_at for report in reports)
        self._reports = {
            place: known
            for place, known in self._reports.items()
            if known.state is not ReportState.SENT or known.created_at > now - RECEIPT_RETENTION
        }
        room = most - sum(known.state is not ReportState.SENT for known in self._reports.values())
        fresh = [report for report in reports if _place(report) not in self._reports]
        for report in fresh[: max(0, room)]:
            self._reports[_place(report)] = report
        return len(fresh[max(0, room) :])

    async def take(self, now: datetime, until: datetime, limit: int, without: Collection[str]) -> list[OutgoingReport]:
        """Take what is due."""
        due = [
            report
            for report in self._reports.values()
            if report.state is ReportState.QUEUED and report.due_at <= now and report.host not in without
        ]
        longest: dict[str, OutgoingReport] = {}
        for report in sorted(due, key=lambda report: (report.due_at, report.report_id)):
            longest.setdefault(report.host, report)
        taken = list(longest.values())[:limit]
        for report in taken:
            self._reports[_place(report)] = replace(report, due_at=until)
        return taken

    async def settle(self, report: OutgoingReport) -> None:
        """Keep what became of an attempt."""
        if _place(report) in self._reports:
            self._reports[_place(report)] = report

    async def page_dead(self, tenant_id: str, *, after: str, limit: int) -> list[OutgoingReport]:
        """Return the next dead reports."""
        dead = [
            report
            for report in self._reports.values()
            if report.tenant_id == tenant_id and report.state is ReportState.DEAD and report.report_id > after
        ]
        return sorted(dead, key=lambda report: report.report_id)[:limit]

    async def replay(self, tenant_id: str, report_ids: Collection[str], now: datetime) -> int:
        """Queue dead reports anew."""
        dead = await self.page_dead(tenant_id, after="", limit=len(self._reports))
        chosen = [report for report in dead if not report_ids or report.report_id in report_ids]
        for report in chosen:
            again = replace(report, state=ReportState.QUEUED, attempts=0, due_at=now)
            self._reports[_place(report)] = again
        return len(chosen)

    async def counts(self) -> tuple[int, int]:
        """Count those that wait, and the dead."""
        states = [report.state for report in self._reports.values()]
        return states.count(ReportState.QUEUED), states.count(ReportState.DEAD)

    async def check(self) -> None:
        """Memory can always serve."""

    async def close(self) -> None:
        """Nothing to release."""


def _place(report: OutgoingReport) -> tuple[str, str]:
    return report.tenant_id, report.report_id
