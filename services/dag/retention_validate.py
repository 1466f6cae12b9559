"""What each request of ``RetentionService`` must look like; every violation at once."""

from typing import Final

from crp.dag.v1 import retention_service_pb2 as pb

from services.common.rpc.paging import MAX_PAGE_SIZE
from services.common.rpc.validation import Violations
from services.common.settings.retention import SHORTEST_IDLE_S
from services.dag.validate import check_reason, check_session

_LONGEST_IDLE_S: Final = 315_360_000
_LONGEST_DAYS: Final = 36_500


def set_retention(request: pb.SetRetentionRequest) -> None:
    """Check a SetRetentionRequest; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    found.require(request.HasField("rules"), "rules", "must be set")
    rules = request.rules
    idle = rules.idle_expiry_s
    text = f"must be 0 or {SHORTEST_IDLE_S} to {_LONGEST_IDLE_S}"
    found.require(idle == 0 or SHORTEST_IDLE_S <= idle <= _LONGEST_IDLE_S, "rules.idle_expiry_s", text)
    for name in ("erase_after_days", "tombstone_after_days"):
        found.require(getattr(rules, name) <= _LONGEST_DAYS, f"rules.{name}", f"must be 0 to {_LONGEST_DAYS}")
    check_reason(found, request.reason)
    found.raise_if_any()


def set_legal_hold(request: pb.SetLegalHoldRequest) -> None:
    """Check a SetLegalHoldRequest; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    check_session(found, request.session_id)
    check_reason(found, request.reason)
    found.raise_if_any()


def apply_retention(request: pb.ApplyRetentionRequest) -> None:
    """Check an ApplyRetentionRequest; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    found.require(request.max_sessions <= MAX_PAGE_SIZE, "max_sessions", f"must be 0 to {MAX_PAGE_SIZE}")
    found.raise_if_any()
