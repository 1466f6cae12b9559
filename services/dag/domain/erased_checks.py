"""What an erasure left against the digests in its event, and what an ended session's last event says was broken.

ADR 0055; SPEC-004 §16.4.
"""

from services.common.ports.sessions import AuditEventRecord
from services.common.taxonomy import WindowStatus
from services.dag.domain import chain
from services.dag.domain.remains import report_digest, window_digest
from services.dag.domain.view import is_adopted
from services.dag.domain.walk import BadRecordError, Walk, computed, parsed
from services.dag.domain.window_checks import check_hmac


def check_erased(walk: Walk, event: AuditEventRecord, name: str) -> None:
    """Data is missing exactly where a later event of the chain says that it was erased."""
    if event.sequence >= walk.erased_at:
        if event.data_sha256:
            raise BadRecordError("event", name, "says that its data was erased, and no later event does")
    elif event.data:
        raise BadRecordError("event", name, "holds data although the session was erased")


def check_remains(walk: Walk) -> None:
    """Compare what an erasure left with the digests in its event, and recompute the windows' HMACs (ADR 0055)."""
    expected: dict[str, str] = walk.erasure["windows"]
    for window_id in expected:
        if window_id not in walk.dag.by_id:
            raise BadRecordError("window", window_id, "is missing: the erasure's event holds it, the store does not")
    for window in walk.dag.windows:
        name = window.window_id
        if window.response_text:
            raise BadRecordError("window", name, "holds a response although the session was erased")
        found = computed("window", name, window_digest, window, walk.dag.edges_into(name))
        if not chain.same(found, expected.get(name, "")):
            raise BadRecordError("window", name, "or an edge into it differs from what the erasure left")
        if window.status is WindowStatus.COMMITTED and not is_adopted(window):
            check_hmac(walk, window)
            walk.windows_verified += 1
    _check_erased_reports(walk)
    check_said(walk)


def check_said(walk: Walk) -> None:
    """Say again what the session's last event says was broken when it was erased or closed (§16.4).

    The incident's event is chained to what was left, so that nothing else may be wrong by now.
    """
    fault = walk.erasure.get("fault_before")
    if fault is not None:
        detail = "did not verify when the session was erased"
        raise BadRecordError(fault["record_kind"], fault["record_id"], detail)
    incident = parsed("session", walk.stored.snapshot.session.session_id, walk.session_text)
    if "record_kind" in incident:
        named = (incident["record_kind"], incident.get("record_id", ""))
        raise BadRecordError(*named, "did not verify when the session was closed")


def _check_erased_reports(walk: Walk) -> None:
    expected: dict[str, str] = walk.erasure["reports"]
    for report in walk.stored.reports:
        name = report.report_id
        if report.body or report.inputs:
            raise BadRecordError("report", name, "holds content although the session was erased")
        if not chain.same(computed("report", name, report_digest, report), expected.get(name, "")):
            raise BadRecordError("report", name, "differs from what the erasure left")
    held = {report.report_id for report in walk.stored.reports}
    for name in expected:
        if name not in held:
            raise BadRecordError("report", name, "is missing")
