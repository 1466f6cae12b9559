"""``ReviewStore`` in a dictionary, for tests and as the reference of the contract suite."""

from dataclasses import replace
from datetime import datetime

from services.common.adapters.review_faults import reused_decision, stale_review
from services.common.ports.reviews import ReviewFilter, ReviewPlace, ReviewRecord, ReviewStatus


class MemoryReviewStore:
    """Reviews in one process's memory."""

    def __init__(self) -> None:
        self._reviews: dict[tuple[str, str], ReviewRecord] = {}

    async def add(self, review: ReviewRecord) -> ReviewRecord:
        """Keep the review, or return the one that stands."""
        return self._reviews.setdefault((review.tenant_id, review.review_id), review)

    async def get(self, tenant_id: str, review_id: str) -> ReviewRecord | None:
        """Return the review or ``None``."""
        return self._reviews.get((tenant_id, review_id))

    async def find_decision(self, tenant_id: str, decision_id: str) -> ReviewRecord | None:
        """Return the review that this request decided about."""
        of_tenant = (review for (tenant, _), review in self._reviews.items() if tenant == tenant_id and decision_id)
        return next((review for review in of_tenant if review.decision_id == decision_id), None)

    async def change(self, review: ReviewRecord) -> None:
        """Replace the review."""
        place = (review.tenant_id, review.review_id)
        present = self._reviews.get(place)
        if present is None or present.version != review.version - 1:
            raise stale_review(review.review_id)
        other = await self.find_decision(review.tenant_id, review.decision_id)
        if other is not None and other.review_id != review.review_id:
            raise reused_decision(review.decision_id)
        self._reviews[place] = review

    async def page(
        self, tenant_id: str, wanted: ReviewFilter, *, after: ReviewPlace | None, limit: int
    ) -> list[ReviewRecord]:
        """Return the next reviews."""
        found = [
            review
            for (tenant, _), review in self._reviews.items()
            if tenant == tenant_id
            and (after is None or _place(review) > (after.created_at, after.review_id))
            and wanted.session_id in {"", review.session_id}
            and wanted.status in {None, _status(review, wanted)}
        ]
        return [replace(review, held=b"") for review in sorted(found, key=_place)[:limit]]

    async def check(self) -> None:
        """Memory can always serve."""

    async def close(self) -> None:
        """Nothing to release."""


def _place(review: ReviewRecord) -> tuple[datetime, str]:
    return review.created_at, review.review_id


def _status(review: ReviewRecord, wanted: ReviewFilter) -> ReviewStatus:
    late = review.status is ReviewStatus.PENDING and review.expires_at <= wanted.now
    return ReviewStatus.EXPIRED if late else review.status
