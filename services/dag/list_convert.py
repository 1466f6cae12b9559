"""Between lists of sessions and the messages of ``crp.dag.v1``; no decisions."""

from datetime import UTC, datetime
from typing import Final, cast

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.errors import UnreadableRecordError
from services.common.ports.session_lists import ListedSession, SessionFilter
from services.common.ports.sessions import SessionRecord, SessionStatus
from services.dag import convert

_STATUS: Final = "SESSION_STATUS_"
_UNUSABLE: Final = (ValueError, TypeError, OverflowError, UnreadableRecordError)
"""What a message raises for a field of another type or range: a row that was changed."""


def session_filter(request: pb.ListSessionsRequest) -> SessionFilter:
    """Return what a ListSessionsRequest asks."""
    status = dag_pb2.SessionStatus.Name(request.status).removeprefix(_STATUS)
    return SessionFilter(
        status=SessionStatus(status) if request.status else None,
        opened_since=_moment(request, "opened_since"),
        opened_until=_moment(request, "opened_until"),
        updated_since=_moment(request, "updated_since"),
        updated_until=_moment(request, "updated_until"),
        parent_session_id=request.agent_session_parent,
    )


def filter_text(request: pb.ListSessionsRequest) -> str:
    """Return the request without its page, which a page token is bound to."""
    bare = pb.ListSessionsRequest()
    bare.CopyFrom(request)
    bare.ClearField("page_size")
    bare.ClearField("page_token")
    return bare.SerializeToString(deterministic=True).hex()


def summary(listed: ListedSession) -> pb.SessionSummary:
    """Return a session in brief; of one that cannot be read, or told, the id alone."""
    if listed.record.status is SessionStatus.UNREADABLE:
        return _unreadable(listed.session_id)
    try:
        return _summary(listed, listed.record)
    except _UNUSABLE:
        return _unreadable(listed.session_id)


def _summary(listed: ListedSession, record: SessionRecord) -> pb.SessionSummary:
    session = convert.session(record, None)
    session.window_count = listed.window_count
    if listed.least_budget is not None:  # no window has more left than those before it: the ends have the least
        session.safety_budget = min(record.budget_ceiling, listed.least_budget)
        session.circuit_breaker = convert.breaker_state(session.safety_budget)
    message = pb.SessionSummary(session=session, legal_hold=record.legal_hold, windows_committed=listed.committed)
    if record.updated_at is not None:
        message.updated_time.CopyFrom(convert.timestamp(record.updated_at))
    if record.status_at is not None:
        message.status_time.CopyFrom(convert.timestamp(record.status_at))
    if listed.latest is not None:
        message.last_report_id = listed.latest.report_id
        message.quality_tier = convert.tier_value(listed.latest.quality_tier)
        level = taxonomy.RiskLevel.Value(f"RISK_LEVEL_{listed.latest.risk_level or 'UNSPECIFIED'}")
        message.risk_level = cast("taxonomy.RiskLevel", level)
        message.safety_budget = listed.latest.safety_budget
    return message


def _unreadable(session_id: str) -> pb.SessionSummary:
    session = dag_pb2.Session(session_id=session_id, status=dag_pb2.SESSION_STATUS_UNREADABLE)
    return pb.SessionSummary(session=session, unreadable=True)


def _moment(request: pb.ListSessionsRequest, name: str) -> datetime | None:
    if not request.HasField(name):
        return None
    moment: datetime = getattr(request, name).ToDatetime(tzinfo=UTC)
    return moment
