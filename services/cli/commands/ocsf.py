"""``groundtrail export --format ocsf``: a session's audit trail for a SIEM."""

from pathlib import Path

from crp.dag.v1 import session_service_pb2 as sessions

from services.allinone.parts import Part
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.target_files import check_lines_target, teller, write_lines
from services.common.counting import counted
from services.common.settings import Settings


async def export_ocsf(
    settings: Settings, output: Output, session_id: str, target: Path, *, with_content: bool, force: bool = False
) -> Exit:
    """Write a session's audit events as OCSF to a file that its owner alone may read, or to standard output."""
    check_lines_target(target, "FILE", force=force, as_json=output.as_json)
    request = sessions.ExportAuditRequest(
        session_id=session_id, format=sessions.AUDIT_EXPORT_FORMAT_OCSF, with_content=with_content
    )
    async with connect(settings, Part.SESSIONS) as suite:
        lines = [response.line async for response in suite.stream(suite.sessions.ExportAudit, request)]
    write_lines(target, "FILE", lines, output)
    teller(target, output)(counted(len(lines), "event"))
    output.result({"session_id": session_id, "format": "ocsf", "events": len(lines)})
    return Exit.OK
