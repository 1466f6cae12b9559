"""Stored reports, read for the running call."""

from collections.abc import AsyncIterator
from typing import Final

import grpc
from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1 import session_service_pb2_grpc
from crp.dpe.v1 import claim_pb2

from services.common.errors import FieldViolation, InvalidRequestError
from services.common.rpc import enums
from services.common.taxonomy import QualityTier
from services.gateway.clients.provenance import report_summary
from services.gateway.ports import JudgedClaim, StoredSignals

_PAGE: Final = 200


class GrpcReportReads:
    """``ReportReads`` over ``crp.dag.v1.SessionService``."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = session_service_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]

    async def signals(self) -> AsyncIterator[list[StoredSignals]]:
        """Yield what policies read, a page of at most 200 at a time."""
        request = dag.ListReportsRequest(page_size=_PAGE, with_signals=True)
        while True:
            page: dag.ListReportsResponse = await self._stub.ListReports(request)
            yield [
                StoredSignals(
                    one.session_id,
                    one.window_id,
                    one.report_id,
                    report_summary(one.signals) if one.HasField("signals") else None,
                )
                for one in page.reports
            ]
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return

    async def tiers(self, session_id: str) -> dict[str, QualityTier]:
        """Return the tiers of a session's committed windows."""
        found: dag.GetDagResponse = await self._stub.GetDag(dag.GetDagRequest(session_id=session_id))
        tiers = enums.QUALITY_TIERS
        return {each.window_id: tiers[each.quality_tier] for each in found.windows if each.quality_tier in tiers}

    async def claim(self, report_id: str, claim_id: str) -> JudgedClaim:
        """Return the verdict on a claim of a stored report."""
        found: dag.GetReportResponse = await self._stub.GetReport(dag.GetReportRequest(report_id=report_id))
        for claim in found.report.claims:
            if claim.claim_id == claim_id:
                name = claim_pb2.ClaimVerdict.Name(claim.verdict)
                return JudgedClaim(found.summary.session_id, name.removeprefix("CLAIM_VERDICT_"))
        text = f"must be a claim of the report, which has {len(found.report.claims)}"
        raise InvalidRequestError.of(FieldViolation("claim_id", text))
