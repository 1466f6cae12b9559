"""``FeedbackStore`` in a dictionary, for tests and as the reference of the contract suite."""

from services.common.ports.feedback import FeedbackRecord


class MemoryFeedbackStore:
    """Feedback in one process's memory."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], FeedbackRecord] = {}

    async def put(self, feedback: FeedbackRecord) -> None:
        """Keep it."""
        self._kept[feedback.tenant_id, feedback.feedback_id] = feedback

    async def page(self, tenant_id: str, report_id: str, *, after: str, limit: int) -> list[FeedbackRecord]:
        """Return the next by id."""
        found = [
            one
            for (tenant, feedback_id), one in self._kept.items()
            if tenant == tenant_id and feedback_id > after and report_id in {"", one.report_id}
        ]
        return sorted(found, key=lambda one: one.feedback_id)[:limit]

    async def check(self) -> None:
        """Memory can always serve."""

    async def close(self) -> None:
        """Nothing to release."""
