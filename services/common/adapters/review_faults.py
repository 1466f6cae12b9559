"""What the stores of reviews refuse, in one wording."""

from services.common.errors import ConflictError, ErrorReason, PreconditionError


def stale_review(review_id: str) -> ConflictError:
    """Return the ETAG_STALE error of a review that was changed meanwhile."""
    text = "the review was changed meanwhile; read it again"
    return ConflictError(ErrorReason.ETAG_STALE, text, review_id=review_id)


def reused_decision(decision_id: str) -> PreconditionError:
    """Return the REQUEST_ID_REUSED error of a decision under the id of another one."""
    text = "request_id was used for another decision; take a fresh UUID"
    return PreconditionError(ErrorReason.REQUEST_ID_REUSED, text, request_id=decision_id, rpc="DecideReview")
