"""The composition of violation reports: who files them, who sends them, and the service that shows the dead ones."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.common.composition import Adapters
from services.common.rpc.server import ServedService
from services.common.settings import Settings, SettingsError
from services.gateway.clients.registry import StoredRegistry
from services.gateway.doors.grpc.violation_reports import violation_report_service
from services.gateway.reports.announcing import HeldAnnouncing
from services.gateway.reports.filing import ReportFiling
from services.gateway.reports.queueing import ReportQueue
from services.gateway.reports.sending import ReportSender

KEY_FILE: Final = "keys/violation-reports.key"


@dataclass(frozen=True, slots=True)
class OpenedReports:
    """What files violation reports and notices of held answers, and the service of those that nobody took."""

    filing: ReportFiling
    announcing: HeldAnnouncing
    service: ServedService


async def open_reports(settings: Settings, adapters: Adapters) -> OpenedReports:
    """Return what files reports, with reports being sent until the adapters close.

    Raises:
        SettingsError: reviews.notify names a group that there is not.
    """
    from services.common.adapters.http.report_endpoints import HttpReportEndpoints

    _check_groups(settings)
    store = await adapters.violation_reports()
    key_file = settings.reports.signing_key_file or Path(settings.store.data_dir) / KEY_FILE
    endpoints = HttpReportEndpoints(settings.reports, key_file, adapters.clock)
    registry = StoredRegistry(await adapters.credentials())
    sender = ReportSender(store, endpoints, adapters.clock, settings.reports)
    adapters.closing(sender.close)
    queue = ReportQueue(store, adapters.clock, settings.reports, sender.wake)
    if settings.reports.enabled:
        sender.start()
    return OpenedReports(
        ReportFiling(queue, registry),
        HeldAnnouncing(queue, settings.reviews.notify),
        violation_report_service(store, endpoints, adapters.clock, sender),
    )


async def build_violation_reports(settings: Settings, adapters: Adapters) -> ServedService:
    """Return ViolationReportService without the rest of the gateway; nothing is sent by this process."""
    from services.common.adapters.http.report_endpoints import HttpReportEndpoints

    key_file = settings.reports.signing_key_file or Path(settings.store.data_dir) / KEY_FILE
    endpoints = HttpReportEndpoints(settings.reports, key_file, adapters.clock)
    adapters.closing(endpoints.close)
    return violation_report_service(await adapters.violation_reports(), endpoints, adapters.clock)


def _check_groups(settings: Settings) -> None:
    known = settings.reports.groups
    problems = [
        f"GROUNDTRAIL_REVIEWS__NOTIFY: {tenant}: {group} is no group of GROUNDTRAIL_REPORTS__GROUPS"
        for tenant, group in settings.reviews.notify.items()
        if group not in known
    ]
    if problems:
        raise SettingsError(problems)
