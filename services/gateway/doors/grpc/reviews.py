"""ReviewService over gRPC: check, convert, call the app, convert back."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from crp.gateway.v1 import review_service_pb2 as pb
from crp.gateway.v1 import review_service_pb2_grpc

from services.common.context import Role, current_call
from services.common.rpc.paging import decode_page, encode_page_token
from services.common.rpc.server import ServedService
from services.gateway.doors.grpc import review_convert as convert
from services.gateway.doors.grpc import review_validate as validate
from services.gateway.doors.grpc.convert import dispatch_response
from services.gateway.reviews.app import ReviewApp

SERVICE_NAME: Final = "crp.gateway.v1.ReviewService"
ROLES: Final = {"ListReviews": Role.REVIEWER, "GetReview": Role.WRITER, "DecideReview": Role.REVIEWER}
_MS: Final = 1_000
_PAGE: Final = 100


class ReviewServicer(review_service_pb2_grpc.ReviewServiceServicer):
    """The three RPCs."""

    def __init__(self, app: ReviewApp) -> None:
        self._app = app

    async def ListReviews(self, request: pb.ListReviewsRequest, context: Any) -> pb.ListReviewsResponse:  # noqa: ARG002, N802
        """List the tenant's reviews, oldest first."""
        validate.list_reviews(request)
        caller = current_call().caller
        bound = ("ListReviews", caller.tenant_id, str(request.status), request.session_id)
        page = decode_page(request.page_size or _PAGE, request.page_token, bound)
        status = convert.STATUSES.get(request.status)
        after = convert.place(page.after)
        found = await self._app.page(caller, status, request.session_id, after=after, limit=page.limit + 1)
        more = encode_page_token(convert.place_text(found[page.limit - 1]), bound) if len(found) > page.limit else ""
        reviews = [convert.review(each) for each in found[: page.limit]]
        return pb.ListReviewsResponse(reviews=reviews, next_page_token=more)

    async def GetReview(self, request: pb.GetReviewRequest, context: Any) -> pb.GetReviewResponse:  # noqa: ARG002, N802
        """Return a review, to a reviewer or to whoever asked for the answer."""
        validate.get_review(request)
        found = await self._app.look(current_call().caller, request.review_id, request.wait_ms / _MS)
        return convert.looked(found)

    async def DecideReview(self, request: pb.DecideReviewRequest, context: Any) -> pb.DecideReviewResponse:  # noqa: ARG002, N802
        """Release or reject a held answer."""
        validate.decide_review(request)
        decided, result = await self._app.decide(current_call().caller, convert.decision(request))
        review = convert.review(decided.review, decided.comment)
        return pb.DecideReviewResponse(review=review, response=dispatch_response(result))


def review_service(app: ReviewApp, listening: Callable[[str, frozenset[str]], None] | None = None) -> ServedService:
    """Return ReviewService ready to be served; ``listening`` is told where."""
    servicer = ReviewServicer(app)
    return ServedService(
        name=SERVICE_NAME,
        register=partial(review_service_pb2_grpc.add_ReviewServiceServicer_to_server, servicer),
        roles=ROLES,
        check=app.check,
        listening=listening,
    )
