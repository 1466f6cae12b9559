"""Telling somebody outside that an answer waits for a person: a report of its own kind, on the same way (ADR 0148).

It is queued once the answer is held, signed, tried again and dead in the end as every report, and goes to a group that
the operator named. Ids, levels and directives; no word of query, answer or facts.
"""

from typing import Any, Final

from services.common.encoding import canonical_json, iso_micros
from services.common.errors import CrpError
from services.common.ports.reviews import ReviewRecord
from services.common.taxonomy import PROTOCOL_VERSION
from services.gateway.domain.command import Notice, derived_id
from services.gateway.domain.headers import audit_trail_uri
from services.gateway.reports.queueing import ReportQueue

HELD: Final = "REVIEW_HELD"
NOT_ANNOUNCED: Final = "REVIEW_NOT_ANNOUNCED"
EVERY_TENANT: Final = "*"


class HeldAnnouncing:
    """Queues what is told of held answers; ``HeldAnnouncements`` of the gateway's ports.

    Args:
        queue: of the reports.
        notify: names of the deployment's report groups by tenant; ``*`` is for every tenant without one of its own.
    """

    def __init__(self, queue: ReportQueue, notify: dict[str, str]) -> None:
        self._queue = queue
        self._notify = notify

    async def announce(self, review: ReviewRecord) -> tuple[Notice, ...]:
        """Queue what is told of a review, once, and return what the caller should know of it."""
        group = self._notify.get(review.tenant_id, self._notify.get(EVERY_TENANT, ""))
        if not group:
            return ()
        url = self._queue.settings.groups[group]
        if not self._queue.settings.enabled:
            return (Notice(NOT_ANNOUNCED, "this deployment sends no reports; nobody is told that the answer waits"),)
        report_id = derived_id(review.review_id, f"held/{url}")
        try:
            report = self._queue.report(review.tenant_id, report_id, url, _body(review, report_id))
            left_out = await self._queue.put([report])
        except CrpError as error:  # the answer is held: it waits with or without this
            return (Notice(NOT_ANNOUNCED, f"nobody is told that the answer waits: {error.reason.value}"),)
        return (Notice(NOT_ANNOUNCED, "nobody is told that the answer waits: the queue is full"),) if left_out else ()


def _body(review: ReviewRecord, report_id: str) -> bytes:
    told: dict[str, Any] = {
        "crp_version": PROTOCOL_VERSION,
        "event": HELD,
        "report_id": report_id,
        "review_id": review.review_id,
        "review_uri": f"/v1/reviews/{review.review_id}",
        "session_id": review.session_id,
        "window_id": review.window_id,
        "timestamp": iso_micros(review.created_at),
        "expire_time": iso_micros(review.expires_at),
        "reason": review.reason,
        "risk_level": review.risk_level,
        "directives_violated": [violation.directive for violation in review.violations],
        "audit_trail_uri": audit_trail_uri(review.session_id),
    }
    return canonical_json(told)
