"""Stored reports, read for the running call."""

import grpc
from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1 import session_service_pb2_grpc
from crp.dpe.v1 import claim_pb2

from services.common.errors import FieldViolation, InvalidRequestError
from services.gateway.ports import JudgedClaim


class GrpcReportReads:
    """``ReportReads`` over ``crp.dag.v1.SessionService``."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = session_service_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]

    async def claim(self, report_id: str, claim_id: str) -> JudgedClaim:
        """Return the verdict on a claim of a stored report."""
        found: dag.GetReportResponse = await self._stub.GetReport(dag.GetReportRequest(report_id=report_id))
        for claim in found.report.claims:
            if claim.claim_id == claim_id:
                name = claim_pb2.ClaimVerdict.Name(claim.verdict)
                return JudgedClaim(found.summary.session_id, name.removeprefix("CLAIM_VERDICT_"))
        text = f"must be a claim of the report, which has {len(found.report.claims)}"
        raise InvalidRequestError.of(FieldViolation("claim_id", text))
