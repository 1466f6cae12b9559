"""``groundtrail reports dead | replay | key``: violation reports that no endpoint took (ADR 0149)."""

import uuid

from crp.gateway.v1 import violation_report_pb2
from crp.gateway.v1 import violation_report_service_pb2 as service

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.counting import counted
from services.common.settings import Settings

_PAGE = 500


async def list_dead(settings: Settings, output: Output, limit: int = 100) -> Exit:
    """List up to ``limit`` dead reports."""
    wanted, found = service.ListDeadReportsRequest(), list[violation_report_pb2.DeadReport]()
    async with connect(settings, Part.VIOLATION_REPORTS) as suite:
        while True:
            wanted.page_size = min(_PAGE, limit - len(found))
            page: service.ListDeadReportsResponse = await suite.call(suite.violation_reports.ListDeadReports, wanted)
            found.extend(page.reports)
            wanted.page_token = page.next_page_token
            if not page.next_page_token or len(found) >= limit:
                break
    rows: list[tuple[str, ...]] = [
        (
            each.report_id,
            f"{each.url}\n{each.problem}",
            counted(each.attempts, "attempt"),
            f"{each.create_time.ToDatetime():%Y-%m-%d %H:%M} UTC",
        )
        for each in found
    ]
    output.table(f"Dead reports ({len(rows)})", ("report", "where, why", "tried", "found"), rows, whole="report")
    if wanted.page_token:
        output.say(render.more_text(limit), style="yellow")
    output.result({"reports": [render.response_json(each) for each in found], "more": bool(wanted.page_token)})
    return Exit.OK


async def replay(settings: Settings, output: Output, report_ids: list[str]) -> Exit:
    """Queue dead reports anew."""
    request = service.ReplayReportsRequest(request_id=str(uuid.uuid4()), report_ids=report_ids)
    async with connect(settings, Part.VIOLATION_REPORTS) as suite:
        done: service.ReplayReportsResponse = await suite.call(suite.violation_reports.ReplayReports, request)
    output.say(f"{counted(done.replayed, 'report')} queued")
    output.result(render.response_json(done))
    return Exit.OK


async def show_key(settings: Settings, output: Output) -> Exit:
    """Show the key for whoever verifies reports."""
    async with connect(settings, Part.VIOLATION_REPORTS) as suite:
        found: service.GetReportKeyResponse = await suite.call(
            suite.violation_reports.GetReportKey, service.GetReportKeyRequest()
        )
    output.drawn([(found.key, "")])  # not folded: people copy it
    output.result(render.response_json(found))
    return Exit.OK
