"""``groundtrail sessions expire | hold | release | rules | set-rules``: how long sessions stay (ADR 0104)."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Final

from crp.dag.v1 import retention_service_pb2 as pb

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.words import enum_text
from services.common.counting import counted
from services.common.settings import Settings

_PAGE: Final = 500
_NEVER: Final = "never"


async def preview(settings: Settings, output: Output, limit: int) -> Exit:
    """Say what is due, and what a hold keeps; nothing is written."""
    request, found = pb.PreviewRetentionRequest(), list[pb.RetentionItem]()
    async with connect(settings, Part.SESSIONS) as suite:
        while True:
            request.page_size = min(_PAGE, limit - len(found))
            page: pb.PreviewRetentionResponse = await suite.call(suite.retention.PreviewRetention, request)
            found.extend(page.items)
            request.page_token = page.next_page_token
            if not page.next_page_token or len(found) >= limit:
                break
    _show("Due", found, output)
    if request.page_token:
        output.say(render.more_text(limit), style="yellow")
    output.result({"items": [render.response_json(each) for each in found], "more": bool(request.page_token)})
    return Exit.OK


async def apply(settings: Settings, output: Output, limit: int) -> Exit:
    """Do what is due; exit code 1 when something failed."""
    found: list[pb.RetentionItem] = []
    more = True
    async with connect(settings, Part.SESSIONS) as suite:
        while more and len(found) < limit:
            most = min(_PAGE, limit - len(found))
            request = pb.ApplyRetentionRequest(request_id=str(uuid.uuid4()), max_sessions=most)
            done: pb.ApplyRetentionResponse = await suite.call(suite.retention.ApplyRetention, request)
            found.extend(done.items)
            # What fails stays due and comes first again: without anything done there is no way forward.
            more = done.more and any(each.outcome == pb.RETENTION_OUTCOME_DONE for each in done.items)
    _show("Done", found, output)
    output.result({"items": [render.response_json(each) for each in found], "more": more})
    failed = any(each.outcome == pb.RETENTION_OUTCOME_FAILED for each in found)
    return Exit.FAILURE if failed else Exit.OK


async def hold(settings: Settings, output: Output, session_id: str, reason: str, *, held: bool) -> Exit:
    """Place or end a session's legal hold; needs the role admin."""
    request = pb.SetLegalHoldRequest(request_id=str(uuid.uuid4()), session_id=session_id, held=held, reason=reason)
    async with connect(settings, Part.SESSIONS) as suite:
        answer: pb.SetLegalHoldResponse = await suite.call(suite.retention.SetLegalHold, request)
    text = "is held: nothing erases it until `groundtrail sessions release`" if held else "is no longer held"
    output.say(f"{session_id} {text}.", style="green")
    output.result(render.response_json(answer))
    return Exit.OK


async def show_rules(settings: Settings, output: Output) -> Exit:
    """Show what is in force, and which of it the tenant set."""
    async with connect(settings, Part.SESSIONS) as suite:
        found: pb.GetRetentionResponse = await suite.call(suite.retention.GetRetention, pb.GetRetentionRequest())
    rules, own = found.effective, found.own
    spans = {
        "idle_expiry_s": _span(rules.idle_expiry_s) if rules.idle_expiry_s else _NEVER,
        "erase_after_days": counted(rules.erase_after_days, "day") if rules.erase_after_days else _NEVER,
        "tombstone_after_days": counted(rules.tombstone_after_days, "day") if rules.tombstone_after_days else _NEVER,
    }
    whose = {name: "tenant" if own.HasField(name) else "deployment" for name in spans}
    rows = [(name, spans[name], whose[name]) for name in spans]
    rows.append(("legal_hold", "yes" if rules.legal_hold else "no", "tenant"))
    output.table("Retention", ("rule", "in force", "set by"), rows)
    output.result(render.response_json(found))
    return Exit.OK


async def set_rules(
    settings: Settings, output: Output, numbers: Mapping[str, int], reason: str, *, legal_hold: bool
) -> Exit:
    """Replace the tenant's rules; needs the role admin."""
    rules = pb.RetentionRules(**numbers, legal_hold=legal_hold)
    request = pb.SetRetentionRequest(request_id=str(uuid.uuid4()), rules=rules, reason=reason)
    async with connect(settings, Part.SESSIONS) as suite:
        answer: pb.SetRetentionResponse = await suite.call(suite.retention.SetRetention, request)
    output.say(f"set; `groundtrail export {answer.register_session_id} FILE` shows every change", style="green")
    output.result(render.response_json(answer))
    return Exit.OK


def _show(title: str, found: Sequence[pb.RetentionItem], output: Output) -> None:
    if not found:
        output.say("nothing is due", style="dim")
        return
    rows = [
        (
            each.session_id,
            enum_text(pb.RetentionAction, each.action),
            enum_text(pb.RetentionOutcome, each.outcome),
            f"{each.since_time.ToDatetime():%Y-%m-%d %H:%M}",
            each.detail,
        )
        for each in found
    ]
    output.table(
        f"{title} ({len(found)})", ("session", "action", "outcome", "since (UTC)", "why"), rows, whole="session"
    )


def _span(seconds: int) -> str:
    """Return a span as people say it, as exactly as it was set."""
    for name, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds % length == 0:
            return counted(seconds // length, name)
    return f"{seconds} s"
