"""Reviews to messages, requests to decisions."""

from datetime import datetime
from typing import Final

from crp.dpe.v1 import inputs_pb2, report_pb2
from crp.gateway.v1 import dispatch_pb2, review_pb2
from crp.gateway.v1 import review_service_pb2 as pb
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.ports.reviews import HeldViolation, ReviewPlace, ReviewRecord, ReviewStatus
from services.common.rpc import enums
from services.common.rpc.enums import EnumTable
from services.common.rpc.idempotency import body_hash
from services.common.rpc.paging import invalid_page_token
from services.common.taxonomy import RiskLevel
from services.gateway import wire
from services.gateway.domain.outcome import Enforcement
from services.gateway.doors.grpc.convert import dispatch_response
from services.gateway.reviews.app import Decision, Looked

STATUSES: Final = EnumTable(review_pb2.ReviewStatus, ReviewStatus)


def decision(request: pb.DecideReviewRequest) -> Decision:
    """Return the decision of a valid request."""
    return Decision(
        request_id=request.request_id,
        body_hash=body_hash(request),
        review_id=request.review_id,
        status=STATUSES[request.decision],
        comment=request.comment,
        expected_version=request.expected_version,
    )


def looked(found: Looked) -> pb.GetReviewResponse:
    """Return what a viewer may see."""
    return pb.GetReviewResponse(
        review=review(found.review, found.comment),
        answer_text=found.text,
        response=None if found.result is None else dispatch_response(found.result),
        report=report_pb2.DpeReport.FromString(found.report_message) if found.report_message else None,
        query=inputs_pb2.AnalysisInputs.FromString(found.inputs_message).request.query,
    )


def review(record: ReviewRecord, comment: str = "") -> review_pb2.Review:
    """Return the message of a review."""
    return review_pb2.Review(
        review_id=record.review_id,
        status=STATUSES.number(record.status),
        session_id=record.session_id,
        window_id=record.window_id,
        report_id=record.report_id,
        reason=record.reason,
        risk_level=enums.RISK_LEVELS.number(RiskLevel(record.risk_level)),
        violations=[_violation(each) for each in record.violations],
        create_time=_timestamp(record.created_at),
        expire_time=_timestamp(record.expires_at),
        decide_time=_timestamp(record.decided_at),
        decided_by=record.decided_by,
        comment=comment,
        version=record.version,
        author=record.author,
    )


def place_text(record: ReviewRecord) -> str:
    """Return where a page ended, for its token."""
    return f"{record.created_at.isoformat()} {record.review_id}"


def place(text: str) -> ReviewPlace | None:
    """Read what ``place_text`` wrote; ``None`` for the first page.

    Raises:
        InvalidRequestError: PAGE_TOKEN_INVALID.
    """
    if not text:
        return None
    moment, _, review_id = text.partition(" ")
    try:
        created_at = datetime.fromisoformat(moment)
    except ValueError:
        raise invalid_page_token() from None
    if created_at.tzinfo is None:
        raise invalid_page_token()
    return ReviewPlace(created_at, review_id)


def _violation(each: HeldViolation) -> dispatch_pb2.PolicyViolation:
    return dispatch_pb2.PolicyViolation(
        directive=each.directive,
        violation_type=each.violation_type,
        description=each.description,
        enforcement=wire.ENFORCEMENTS.number(Enforcement(each.enforcement)),
        signal_missing=each.signal_missing,
    )


def _timestamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    made = Timestamp()
    made.FromDatetime(moment)
    return made
