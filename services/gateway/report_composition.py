"""The composition of violation reports: who files them, who sends them, and the service that shows the dead ones."""

from pathlib import Path
from typing import Final

from services.common.composition import Adapters
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.gateway.clients.registry import StoredRegistry
from services.gateway.doors.grpc.violation_reports import violation_report_service
from services.gateway.reports.filing import ReportFiling
from services.gateway.reports.sending import ReportSender

KEY_FILE: Final = "keys/violation-reports.key"


async def open_reports(settings: Settings, adapters: Adapters) -> tuple[ReportFiling, ServedService]:
    """Return what files reports and the service of the dead ones, with reports being sent until the adapters close."""
    from services.common.adapters.http.report_endpoints import HttpReportEndpoints

    store = await adapters.violation_reports()
    key_file = settings.reports.signing_key_file or Path(settings.store.data_dir) / KEY_FILE
    endpoints = HttpReportEndpoints(settings.reports, key_file, adapters.clock)
    registry = StoredRegistry(await adapters.credentials())
    sender = ReportSender(store, endpoints, adapters.clock, settings.reports)
    adapters.closing(sender.close)
    filing = ReportFiling(store, registry, adapters.clock, settings.reports, sender.wake)
    if settings.reports.enabled:
        sender.start()
    return filing, violation_report_service(store, endpoints, adapters.clock, sender)


async def build_violation_reports(settings: Settings, adapters: Adapters) -> ServedService:
    """Return ViolationReportService without the rest of the gateway; nothing is sent by this process."""
    from services.common.adapters.http.report_endpoints import HttpReportEndpoints

    key_file = settings.reports.signing_key_file or Path(settings.store.data_dir) / KEY_FILE
    endpoints = HttpReportEndpoints(settings.reports, key_file, adapters.clock)
    adapters.closing(endpoints.close)
    return violation_report_service(await adapters.violation_reports(), endpoints, adapters.clock)
