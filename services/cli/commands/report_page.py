"""``groundtrail show REPORT --html FILE``: the report as one page (ADR 0097)."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crp.dag.v1 import session_service_pb2 as sessions

from services.allinone.parts import Part
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.page import PageMatter, page
from services.cli.stored_answers import StoredAnswer, check_report_id, stored_answer
from services.cli.target_files import check_target
from services.cli.told import told_answer
from services.common.errors import FieldViolation, InvalidRequestError, PermissionDeniedError
from services.common.settings import Settings

_RECORD = "analysis"


async def write_page(settings: Settings, output: Output, report_id: str, target: Path) -> Exit:
    """Write the page; a file that is there is replaced."""
    check_report_id(report_id)
    check_target(target, "--html")
    async with connect(settings, Part.SESSIONS, Part.KNOWLEDGE) as suite:
        stored = await stored_answer(suite, report_id)
        question = await _question(suite, stored)
    told = told_answer(stored.report, stored.text, chain=stored.integrity, contents=stored.contents)
    made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
    matter = PageMatter(stored.report, told, question, stored.chain, made_at, stored.broken)
    _keep(target, page(matter))
    output.say(f"{told.level}: written to {target}")
    if stored.broken:
        output.say(f"! {stored.broken}", style="bold red")
    made = {"html": str(target), "report_id": report_id, "risk_level": told.level}
    output.result(made | {"chain_integrity": stored.integrity})
    return stored.code


def _keep(target: Path, text: str) -> None:
    try:
        target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InvalidRequestError.of(FieldViolation("--html", f"{target}: {error.strerror}")) from None


async def _question(suite: Suite, stored: StoredAnswer) -> str:
    """Return the question as the analysis was given it; empty where it was not kept or may not be read."""
    window_id = stored.found.summary.window_id
    request = sessions.ExportAuditRequest(session_id=stored.found.summary.session_id, with_content=True)
    try:
        async for message in suite.stream(suite.sessions.ExportAudit, request):
            line: dict[str, Any] = json.loads(message.line)
            if line.get("record") == _RECORD and line.get("window_id") == window_id:
                return str((line.get("inputs") or {}).get("request", {}).get("query", ""))
    except PermissionDeniedError:
        return ""
    return ""
