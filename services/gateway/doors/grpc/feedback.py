"""FeedbackService over gRPC: what people say about verdicts."""

import re
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import structlog
from crp.dpe.v1 import claim_pb2
from crp.gateway.v1 import feedback_pb2, feedback_service_pb2_grpc
from crp.gateway.v1 import feedback_service_pb2 as pb
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.clock import Clock
from services.common.context import Role, current_call
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.ports.feedback import FeedbackRecord, FeedbackStore
from services.common.rpc.paging import decode_page, encode_page_token
from services.common.rpc.server import ServedService
from services.common.rpc.validation import Violations
from services.gateway.ports import ReportReads

SERVICE_NAME: Final = "crp.gateway.v1.FeedbackService"
ROLES: Final = {"GiveFeedback": Role.WRITER, "ListFeedback": Role.READER}
_CLAIM: Final = re.compile(r"c[1-9][0-9]{0,6}")
_ID: Final = re.compile(r"[\x21-\x7e]{1,128}")
_PREFIX: Final = "CLAIM_VERDICT_"
_NAMESPACE: Final = uuid.UUID("6d0f5a0e-9f0b-4c55-8f0a-3c1d2b7e4f60")


class FeedbackServicer(feedback_service_pb2_grpc.FeedbackServiceServicer):
    """The two RPCs."""

    def __init__(self, store: FeedbackStore, reports: ReportReads, clock: Clock) -> None:
        self._store = store
        self._reports = reports
        self._clock = clock
        self._log = structlog.get_logger("groundtrail")

    async def GiveFeedback(self, request: pb.GiveFeedbackRequest, context: Any) -> pb.GiveFeedbackResponse:  # noqa: ARG002, N802
        """Keep whether the verdict on a claim was right."""
        _check(request)
        caller = current_call().caller
        claim = await self._reports.claim(request.report_id, request.claim_id)
        expected = claim_pb2.ClaimVerdict.Name(request.expected_verdict) if request.expected_verdict else ""
        record = FeedbackRecord(
            tenant_id=caller.tenant_id,
            feedback_id=str(uuid.uuid5(_NAMESPACE, f"{request.report_id}\n{request.claim_id}\n{caller.subject}")),
            report_id=request.report_id,
            session_id=claim.session_id,
            claim_id=request.claim_id,
            verdict=claim.verdict,
            right=request.judgement == feedback_pb2.JUDGEMENT_RIGHT,
            expected=expected.removeprefix(_PREFIX),
            given_by=caller.subject,
            given_at=self._clock.now(),
        )
        if record.expected and record.expected == record.verdict:
            raise InvalidRequestError.of(FieldViolation("expected_verdict", "must not be the verdict itself"))
        await self._store.put(record)
        self._log.info("feedback given", report_id=record.report_id, claim_id=record.claim_id, right=record.right)
        return pb.GiveFeedbackResponse(feedback=_message(record))

    async def ListFeedback(self, request: pb.ListFeedbackRequest, context: Any) -> pb.ListFeedbackResponse:  # noqa: ARG002, N802
        """List feedback."""
        found = Violations()
        named = not request.report_id or _ID.fullmatch(request.report_id)
        found.require(named, "report_id", "must be a report's id, or empty")
        found.raise_if_any()
        tenant_id = current_call().caller.tenant_id
        bound = ("ListFeedback", tenant_id, request.report_id)
        page = decode_page(request.page_size, request.page_token, bound)
        kept = await self._store.page(tenant_id, request.report_id, after=page.after, limit=page.limit + 1)
        more = encode_page_token(kept[page.limit - 1].feedback_id, bound) if len(kept) > page.limit else ""
        return pb.ListFeedbackResponse(feedback=[_message(one) for one in kept[: page.limit]], next_page_token=more)


def feedback_service(
    store: FeedbackStore,
    reports: ReportReads,
    clock: Clock,
    listening: Callable[[str, frozenset[str]], None] | None = None,
) -> ServedService:
    """Return FeedbackService ready to be served; ``listening`` is told where."""
    servicer = FeedbackServicer(store, reports, clock)
    return ServedService(
        name=SERVICE_NAME,
        register=partial(feedback_service_pb2_grpc.add_FeedbackServiceServicer_to_server, servicer),
        roles=ROLES,
        check=store.check,
        listening=listening,
    )


def _check(request: pb.GiveFeedbackRequest) -> None:
    found = Violations()
    found.require_request_id(request.request_id)
    found.require(_ID.fullmatch(request.report_id), "report_id", "must be a report's id")
    found.require(_CLAIM.fullmatch(request.claim_id), "claim_id", 'must be "c" and the number of a claim')
    known = request.judgement in {feedback_pb2.JUDGEMENT_RIGHT, feedback_pb2.JUDGEMENT_WRONG}
    found.require(known, "judgement", "must be RIGHT or WRONG")
    if request.expected_verdict:
        wrong = request.judgement == feedback_pb2.JUDGEMENT_WRONG
        found.require(wrong, "expected_verdict", "stands beside WRONG alone")
        sound = request.expected_verdict in claim_pb2.ClaimVerdict.values()
        found.require(sound, "expected_verdict", "must be a verdict of the contract")
    found.raise_if_any()


def _message(record: FeedbackRecord) -> feedback_pb2.Feedback:
    given = Timestamp()
    given.FromDatetime(record.given_at)
    return feedback_pb2.Feedback(
        feedback_id=record.feedback_id,
        report_id=record.report_id,
        session_id=record.session_id,
        claim_id=record.claim_id,
        verdict=f"{_PREFIX}{record.verdict}",
        judgement=feedback_pb2.JUDGEMENT_RIGHT if record.right else feedback_pb2.JUDGEMENT_WRONG,
        expected_verdict=f"{_PREFIX}{record.expected}" if record.expected else None,
        given_by=record.given_by,
        give_time=given,
    )
