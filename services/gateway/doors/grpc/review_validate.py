"""Checking ReviewService requests; every violation of a request is reported at once."""

import re
from typing import Final

from crp.gateway.v1 import review_pb2
from crp.gateway.v1 import review_service_pb2 as pb

from services.common.rpc.validation import Violations

MAX_COMMENT_CHARS: Final = 4_096
MAX_WAIT_MS: Final = 600_000
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SESSION: Final = re.compile(r"crp_sess_[A-Za-z0-9]{16,32}")
_DECISIONS: Final = frozenset({review_pb2.REVIEW_STATUS_APPROVED, review_pb2.REVIEW_STATUS_REJECTED})


def list_reviews(request: pb.ListReviewsRequest) -> None:
    """Check a ListReviews request; raises InvalidRequestError."""
    found = Violations()
    known = request.status in review_pb2.ReviewStatus.values()
    found.require(known, "status", "must be PENDING, APPROVED, REJECTED or EXPIRED, or unset")
    named = not request.session_id or _SESSION.fullmatch(request.session_id)
    found.require(named, "session_id", "must be crp_sess_ and 16 to 32 alphanumerics, or empty")
    found.raise_if_any()


def get_review(request: pb.GetReviewRequest) -> None:
    """Check a GetReview request; raises InvalidRequestError."""
    found = Violations()
    _review_id(found, request.review_id)
    found.require(request.wait_ms <= MAX_WAIT_MS, "wait_ms", f"must be at most {MAX_WAIT_MS}")
    found.raise_if_any()


def decide_review(request: pb.DecideReviewRequest) -> None:
    """Check a DecideReview request; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    _review_id(found, request.review_id)
    found.require(request.decision in _DECISIONS, "decision", "must be APPROVED or REJECTED")
    sound = len(request.comment.strip()) > 0 and len(request.comment) <= MAX_COMMENT_CHARS
    found.require(sound, "comment", f"must be 1 to {MAX_COMMENT_CHARS} characters")
    found.require(request.expected_version, "expected_version", "must be the version of the review, from 1")
    found.raise_if_any()


def _review_id(found: Violations, review_id: str) -> None:
    found.require(_UUID.fullmatch(review_id), "review_id", "must be a UUID in lower case")
