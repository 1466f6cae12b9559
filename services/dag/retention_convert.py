"""Between the rules of retention and the messages of ``RetentionService``; no decisions."""

from datetime import timedelta
from typing import Final

from crp.dag.v1 import retention_service_pb2 as pb

from services.common.ports.session_lists import DuePlace
from services.common.ports.sessions import AuditEventRecord
from services.common.rpc.paging import PageRequest, invalid_page_token
from services.dag import convert
from services.dag.domain.register import register_id
from services.dag.domain.retention import OwnRules, Rules
from services.dag.registers import Register, RulesSet
from services.dag.retention import Acted, Hold, WalkPlace

_ACTION: Final = "RETENTION_ACTION_"
_OUTCOME: Final = "RETENTION_OUTCOME_"
_DAY: Final = timedelta(days=1)


def own_rules(message: pb.RetentionRules) -> OwnRules:
    """Return the rules that a request sets."""
    return OwnRules(
        idle_expiry_s=message.idle_expiry_s if message.HasField("idle_expiry_s") else None,
        erase_after_days=message.erase_after_days if message.HasField("erase_after_days") else None,
        tombstone_after_days=message.tombstone_after_days if message.HasField("tombstone_after_days") else None,
        legal_hold=message.legal_hold,
    )


def hold(request: pb.SetLegalHoldRequest) -> Hold:
    """Return what a SetLegalHoldRequest asks."""
    return Hold(request.session_id, request.held, request.reason)


def register(tenant_id: str, found: Register) -> pb.GetRetentionResponse:
    """Return a tenant's rules."""
    message = pb.GetRetentionResponse(
        own=pb.RetentionRules(**found.own.data()),
        effective=effective(found.effective),
        register_session_id=register_id(tenant_id),
    )
    if found.set_at is not None:
        message.set_time.CopyFrom(convert.timestamp(found.set_at))
    return message


def effective(rules: Rules) -> pb.RetentionRules:
    """Return what is in force, every field set; 0 = never."""
    never = timedelta()
    return pb.RetentionRules(
        idle_expiry_s=(rules.idle_expiry or never) // timedelta(seconds=1),
        erase_after_days=(rules.erase_after or never) // _DAY,
        tombstone_after_days=(rules.tombstone_after or never) // _DAY,
        legal_hold=rules.legal_hold,
    )


def rules_set(result: RulesSet) -> bytes:
    """Return the SetRetentionResponse."""
    return pb.SetRetentionResponse(
        effective=effective(result.effective),
        register_session_id=result.event.session_id,
        event=convert.event(result.event),
    ).SerializeToString(deterministic=True)


def hold_set(event: AuditEventRecord) -> bytes:
    """Return the SetLegalHoldResponse."""
    return pb.SetLegalHoldResponse(event=convert.event(event)).SerializeToString(deterministic=True)


def item(acted: Acted) -> pb.RetentionItem:
    """Return a session and what became of it."""
    return pb.RetentionItem(
        session_id=acted.session_id,
        action=_ACTION + acted.stage.value,
        since_time=convert.timestamp(acted.since),
        outcome=_OUTCOME + acted.outcome.value,
        detail=acted.detail,
    )


def place_text(place: WalkPlace) -> str:
    """Return a place of the walk as a page token holds it."""
    behind = place.behind
    return f"{place.step} {behind.status_at.isoformat()} {behind.session_id}" if behind else str(place.step)


def place_of(page: PageRequest) -> WalkPlace:
    """Read what ``place_text`` wrote.

    Raises:
        InvalidRequestError: PAGE_TOKEN_INVALID.
    """
    if not page.after:
        return WalkPlace()
    try:
        step, *behind = page.after.split(" ", 2)
        if not behind:
            return WalkPlace(int(step))
        at, session_id = behind
        return WalkPlace(int(step), DuePlace(convert.moment(at), session_id))
    except ValueError:
        raise invalid_page_token() from None
