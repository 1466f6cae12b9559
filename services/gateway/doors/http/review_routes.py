"""``/v1/reviews``: the queue of answers that wait for a person, over HTTP (ADR 0148).

Whoever asked for an answer polls ``GET /v1/reviews/{review_id}`` and gets what ``POST /v1/dispatch`` would answer now:
202 while it waits, 200 with the answer once it was released, 451 once it was not. A reviewer gets 200.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from crp.gateway.v1 import dispatch_service_pb2 as dispatch
from crp.gateway.v1 import review_pb2
from crp.gateway.v1 import review_service_pb2 as pb
from crp.gateway.v1.review_service_pb2_grpc import ReviewServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from services.common.clock import Clock
from services.common.context import Role
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.calls import REFUSALS, RpcCalls, body, protocol_answer
from services.gateway.doors.http.guarded import Asked, Handler
from services.gateway.doors.http.message_schemas import MessageModels
from services.gateway.doors.http.parameters import filled, parameters
from services.gateway.doors.http.protocol import dispatched_headers

REVIEWS: Final = "/v1/reviews"
OUTCOME_STATUS: Final = {
    "answer": HTTPStatus.OK,
    "halted": HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS,
    "not_modified": HTTPStatus.NOT_MODIFIED,
    "held_for_review": HTTPStatus.ACCEPTED,
}
"""The status of what a dispatch came to."""
_ONE: Final = REVIEWS + "/{review_id}"
_SERVICE: Final = "crp.gateway.v1.ReviewService"
_ROLES: Final = {"ListReviews": Role.REVIEWER, "GetReview": Role.WRITER, "DecideReview": Role.REVIEWER}
_DECIDE_FORM: Final = MessageModels().request(pb.DecideReviewRequest)


class ReviewDecision(BaseModel):
    """Why, and which version of the review was looked at."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    comment: str = ""
    expected_version: int = 0


def outcome_headers(response: dispatch.DispatchResponse) -> dict[str, str]:
    """Return the headers of what a dispatch came to; of a held answer also where its review is."""
    headers = dispatched_headers(response)
    if response.HasField("held_for_review"):
        headers["Location"] = f"{REVIEWS}/{response.held_for_review.review_id}"
    return headers


class ReviewRoutes:
    """The endpoints.

    Args:
        reviews: of the service, over a channel that raises its own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        clock: the time in refusals.
    """

    forms: Sequence[type[BaseModel]] = (_DECIDE_FORM, ReviewDecision)
    """Schemas of the bodies."""

    def __init__(self, reviews: ReviewServiceStub, gate: CredentialGate, settings: HttpSettings, clock: Clock) -> None:
        self._settings = settings
        self._calls = RpcCalls(reviews, _SERVICE, _ROLES, gate, settings, clock)

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Reviews"])
        self._reading(router, REVIEWS, "ListReviews", pb.ListReviewsRequest, "The answers that wait, oldest first.")
        self._reading(router, _ONE, "GetReview", pb.GetReviewRequest, "One review, and what comes of its answer.")
        decided = {200: {"description": "The decided review, and what its caller gets now."}, **REFUSALS}
        router.add_api_route(
            f"{REVIEWS}:decide",
            self._calls.guarded("DecideReview", self._decide),
            methods=["POST"],
            responses=decided,
            openapi_extra=body(_DECIDE_FORM),
            summary="Release or reject a held answer.",
            operation_id="decide_review",
        )
        for word, decision in (
            ("approve", review_pb2.REVIEW_STATUS_APPROVED),
            ("reject", review_pb2.REVIEW_STATUS_REJECTED),
        ):
            extra = body(ReviewDecision)
            extra["parameters"] = [*extra["parameters"], *parameters(pb.GetReviewRequest, _ONE)[:1]]
            router.add_api_route(
                f"{_ONE}/{word}",
                self._calls.guarded("DecideReview", self._decided(decision)),
                methods=["POST"],
                responses=decided,
                openapi_extra=extra,
                summary=f"{word.capitalize()} a held answer.",
                operation_id=f"{word}_review",
            )
        return router

    def _reading(self, router: APIRouter, path: str, rpc: str, kind: type[Message], says: str) -> None:
        one = "{" in path
        responses: dict[int | str, dict[str, Any]] = {200: {"description": says}, **REFUSALS}
        if one:
            responses |= {202: {"description": "It waits."}, 451: {"description": "Withheld."}}
        router.add_api_route(
            path,
            self._calls.guarded(rpc, self._read(rpc, kind)),
            methods=["GET"],
            responses=responses,
            openapi_extra={"parameters": parameters(kind, path)},
            summary=says,
            operation_id="review" if one else "reviews",
        )

    def _read(self, rpc: str, kind: type[Message]) -> Handler:
        async def handler(request: Request, asked: Asked) -> Response:
            message = filled(kind, request)
            wait_s = getattr(message, "wait_ms", 0) / 1_000
            return await self._answer(request, asked, rpc, message, self._settings.call_timeout_s + wait_s)

        return handler

    async def _decide(self, request: Request, asked: Asked) -> Response:
        message = await self._calls.message(request, asked, _DECIDE_FORM, pb.DecideReviewRequest)
        return await self._answer(request, asked, "DecideReview", message)

    def _decided(self, decision: int) -> Handler:
        async def handler(request: Request, asked: Asked) -> Response:
            message = await self._calls.message(request, asked, ReviewDecision, pb.DecideReviewRequest)
            message.review_id, message.decision = request.path_params["review_id"], decision
            return await self._answer(request, asked, "DecideReview", message)

        return handler

    async def _answer(
        self, request: Request, asked: Asked, rpc: str, message: Message, timeout_s: float | None = None
    ) -> Response:
        found = await self._calls.call(request, asked, rpc, message, timeout_s)
        if isinstance(found, pb.GetReviewResponse) and found.HasField("response"):
            status = OUTCOME_STATUS[found.response.WhichOneof("outcome") or "answer"]
            return await protocol_answer(found, asked, status, outcome_headers(found.response))
        return await protocol_answer(found, asked)
