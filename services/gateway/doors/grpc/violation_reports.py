"""ViolationReportService over gRPC: the dead letters of violation reports, for administrators."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import structlog
from crp.gateway.v1 import violation_report_pb2, violation_report_service_pb2_grpc
from crp.gateway.v1 import violation_report_service_pb2 as pb
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.clock import Clock
from services.common.context import Role, current_call
from services.common.ports.violation_reports import OutgoingReport, ReportEndpoints, ViolationReportStore
from services.common.rpc.paging import decode_page, encode_page_token
from services.common.rpc.server import ServedService
from services.common.rpc.validation import Violations
from services.gateway.reports.sending import ReportSender

SERVICE_NAME: Final = "crp.gateway.v1.ViolationReportService"
ROLES: Final = {"ListDeadReports": Role.ADMIN, "ReplayReports": Role.ADMIN, "GetReportKey": Role.ADMIN}
MAX_IDS: Final = 1_000
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class ViolationReportServicer(violation_report_service_pb2_grpc.ViolationReportServiceServicer):
    """The three RPCs."""

    def __init__(
        self, store: ViolationReportStore, endpoints: ReportEndpoints, clock: Clock, wake: Callable[[], None]
    ) -> None:
        self._store = store
        self._endpoints = endpoints
        self._clock = clock
        self._wake = wake
        self._log = structlog.get_logger("groundtrail.admin")

    async def ListDeadReports(self, request: pb.ListDeadReportsRequest, context: Any) -> pb.ListDeadReportsResponse:  # noqa: ARG002, N802
        """List the tenant's dead reports."""
        tenant_id = current_call().caller.tenant_id
        bound = ("ListDeadReports", tenant_id)
        page = decode_page(request.page_size, request.page_token, bound)
        found = await self._store.page_dead(tenant_id, after=page.after, limit=page.limit + 1)
        more = encode_page_token(found[page.limit - 1].report_id, bound) if len(found) > page.limit else ""
        reports = [_message(each) for each in found[: page.limit]]
        return pb.ListDeadReportsResponse(reports=reports, next_page_token=more)

    async def ReplayReports(self, request: pb.ReplayReportsRequest, context: Any) -> pb.ReplayReportsResponse:  # noqa: ARG002, N802
        """Queue dead reports anew."""
        ids = list(request.report_ids)
        found = Violations()
        found.require_request_id(request.request_id)
        found.require(len(ids) <= MAX_IDS, "report_ids", f"must be at most {MAX_IDS}")
        for index, report_id in enumerate(ids[:MAX_IDS]):
            found.require(_UUID.fullmatch(report_id), f"report_ids[{index}]", "must be a UUID in lower case")
        found.raise_if_any()
        replayed = await self._store.replay(current_call().caller.tenant_id, ids, self._clock.now())
        self._log.info("violation reports replayed", replayed=replayed, request_id=request.request_id)
        self._wake()
        return pb.ReplayReportsResponse(replayed=replayed)

    async def GetReportKey(self, request: pb.GetReportKeyRequest, context: Any) -> pb.GetReportKeyResponse:  # noqa: ARG002, N802
        """Return the public key that reports are signed with."""
        return pb.GetReportKeyResponse(key=await self._endpoints.key())


def violation_report_service(
    store: ViolationReportStore, endpoints: ReportEndpoints, clock: Clock, sender: ReportSender | None = None
) -> ServedService:
    """Return ViolationReportService ready to be served; without a sender what is replayed waits for one."""
    wake = sender.wake if sender else _nobody
    servicer = ViolationReportServicer(store, endpoints, clock, wake)
    return ServedService(
        name=SERVICE_NAME,
        register=partial(violation_report_service_pb2_grpc.add_ViolationReportServiceServicer_to_server, servicer),
        roles=ROLES,
        check=store.check,
        metrics=sender,
    )


def _nobody() -> None:
    """Nobody sends in this process."""


def _message(report: OutgoingReport) -> violation_report_pb2.DeadReport:
    created = Timestamp()
    created.FromDatetime(report.created_at)
    return violation_report_pb2.DeadReport(
        report_id=report.report_id,
        url=report.url,
        body=report.body.decode(),
        create_time=created,
        attempts=report.attempts,
        problem=report.problem,
    )
