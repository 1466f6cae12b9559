"""``groundtrail sessions list``: the tenant's sessions, newest first, page by page."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2 as dag
from crp.dag.v1 import session_service_pb2 as sessions
from rich.text import Text

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.words import enum_text
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings

_PAGE: Final = 500
_LIMIT: Final = 100


async def list_sessions(
    settings: Settings,
    output: Output,
    status: str = "",
    times: Mapping[str, str] | None = None,
    parent: str = "",
    limit: int = _LIMIT,
) -> Exit:
    """List up to ``limit`` sessions."""
    wanted = sessions.ListSessionsRequest(agent_session_parent=parent)
    if status:
        wanted.status = dag.SessionStatus.Value(f"SESSION_STATUS_{status}")  # type: ignore[assignment]  # an enum's number
    for name, text in (times or {}).items():
        if text:
            getattr(wanted, name).FromDatetime(moment_of(name, text))
    found: list[sessions.SessionSummary] = []
    async with connect(settings, Part.SESSIONS) as suite:
        while True:
            wanted.page_size = min(_PAGE, limit - len(found))
            page: sessions.ListSessionsResponse = await suite.call(suite.sessions.ListSessions, wanted)
            found.extend(page.sessions)
            wanted.page_token = page.next_page_token
            if not page.next_page_token or len(found) >= limit:
                break
    _show(found, output, filtered=bool(status or parent or any((times or {}).values())))
    if wanted.page_token:
        output.say(render.more_text(limit), style="yellow")
    output.result({"sessions": [render.response_json(each) for each in found], "more": bool(wanted.page_token)})
    return Exit.OK


def moment_of(name: str, text: str) -> datetime:
    """Read a time of the command line; one without an offset is UTC.

    Raises:
        InvalidRequestError: INVALID_FIELD.
    """
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # with an offset, the first and the last day are none in UTC
        option = "--" + name.replace("_", "-")
        raise InvalidRequestError.of(FieldViolation(option, "must be ISO 8601, as 2026-05-24T09:00")) from None


def _show(found: list[sessions.SessionSummary], output: Output, *, filtered: bool) -> None:
    if not found:
        output.say("none of that kind" if filtered else 'none; `groundtrail ask "…"` starts one', style="dim")
        return
    columns = ("session, last report and write", "state", "risk", "budget")
    rows: list[tuple[str | Text, ...]] = []
    for each in found:
        if each.unreadable:
            rows.append((f"{each.session.session_id}\ncannot be read", "", "", ""))
            continue
        state = enum_text(dag.SessionStatus, each.session.status) + ("\nheld" if each.legal_hold else "")
        level = enum_text(taxonomy.RiskLevel, each.risk_level) if each.risk_level else "-"
        tier = f"\ntier {enum_text(taxonomy.QualityTier, each.quality_tier)}" if each.quality_tier else ""
        written = f"{each.updated_time.ToDatetime():%Y-%m-%d %H:%M} UTC"
        rows.append(
            (
                "\n".join(line for line in (each.session.session_id, each.last_report_id, written) if line),
                f"{state}\n{counted(each.windows_committed, 'window')}",
                render.coloured(level).append(tier, style="default"),
                f"{each.session.safety_budget:.2f}\n{enum_text(taxonomy.BreakerState, each.session.circuit_breaker)}",
            )
        )
    output.table(f"Sessions ({len(found)})", columns, rows, whole=columns)
