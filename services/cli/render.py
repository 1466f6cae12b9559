"""How answers, claims and headers look to people, and what they are as JSON."""

from typing import TYPE_CHECKING, Any, Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as sessions
from crp.dpe.v1 import constraint_pb2 as constraints
from crp.dpe.v1 import report_pb2 as reports
from rich.text import Text

from services.cli.console import Output
from services.cli.forms import MOST_LISTED
from services.cli.words import enum_text
from services.common.rpc.canonical import message_json

if TYPE_CHECKING:
    from crp.gateway.v1 import dispatch_service_pb2 as dispatch

MAX_CELL_CHARS: Final = 84

_STYLES: Final = {
    "CONTEXT_GROUNDED": "green",
    "SUPPORTED": "green",
    "MIXED": "yellow",
    "PARAMETRIC": "yellow",
    "UNSUPPORTED": "yellow",
    "SUPERSEDED": "yellow",
    "UNDECIDED": "yellow",
    "HELD": "green",
    "VIOLATED": "red",
    "UNKNOWN": "yellow",
    "UNVERIFIABLE": "red",
    "CONTRADICTED": "red",
    "LOW": "green",
    "MEDIUM": "yellow",
    "HIGH": "red",
    "CRITICAL": "bold red",
    "VALID": "bold green",
    "UNVERIFIED": "cyan",
    "PARTIAL": "yellow",
    "BROKEN": "bold red",
    "COMPLETED": "green",
    "DEGRADED": "yellow",
    "SKIPPED": "dim",
    "NOT_APPLICABLE": "dim",
    "FAILED": "red",
    "ok": "green",
    "warning": "yellow",
    "problem": "bold red",
}


def style_of(word: str) -> str:
    """Return the style that the word has everywhere; empty for one that has none."""
    return _STYLES.get(word, "")


def coloured(word: str) -> Text:
    """Return the word in the colour that it has everywhere."""
    return Text(word, style=style_of(word))


def show_stages(report: reports.DpeReport, output: Output) -> None:
    """Show how each stage of the analysis ended, and why where it did not run in full."""
    rows: list[tuple[str | Text, ...]] = [
        (
            f"{stage.number}{stage.sub_stage}",
            stage.name,
            coloured(enum_text(taxonomy.StageStatus, stage.status)),
            stage.reason + (f": {stage.detail}" if stage.detail else ""),
        )
        for stage in report.stages
    ]
    output.table("Stages", ("stage", "name", "status", "reason"), rows)


def show_constraints(report: reports.DpeReport, output: Output) -> None:
    """Show the constraints that the answer was held against, when there were any, and what they cost it (ADR 0078)."""
    held = report.constraint_outcomes
    rows: list[tuple[str | Text, ...]] = [
        (
            coloured(enum_text(constraints.ConstraintState, item.verdict.state)),
            item.verdict.nl_text[:MAX_CELL_CHARS],
            ", ".join(item.claim_ids) or "-",
            item.verdict.why,
        )
        for item in held.outcomes
    ]
    if rows:
        output.table(f"Constraints ({len(rows)})", ("state", "constraint", "claims", "why"), rows)
        counts = f"{held.violated_count} violated, {held.not_computed_count} not computed"
        output.say(f"{counts}; fidelity without violations {held.fidelity_score_without:.3f}", style="dim")


def show_regulatory(report: reports.DpeReport, output: Output) -> None:
    """Show by which rows a registered AI system was classified, and which controls have evidence."""
    if not report.HasField("regulatory"):
        return
    rows: list[tuple[str | Text, ...]] = [
        (row.row, enum_text(reports.EuAiActClass, row.eu_ai_act_class), "yes" if row.decisive else "", row.provision)
        for row in report.regulatory.rows
    ]
    system = f"{report.ai_system_id}, version {report.ai_system.version}"
    output.table(f"EU AI Act: {system}", ("row", "class", "decisive", "provision"), rows)
    controls: list[tuple[str | Text, ...]] = [
        (control.control_id, control.title, "; ".join(control.evidence))
        for control in report.regulatory.controls
        if control.met
    ]
    met = f"{report.controls_met}/{report.controls_total}"
    output.table(f"ISO/IEC 42001 controls with evidence ({met})", ("control", "subject", "evidence"), controls)


def show_headers(response: "dispatch.DispatchResponse", output: Output) -> None:
    """Show the CRP headers of an answer."""
    rows: list[tuple[str | Text, ...]] = []
    for header in response.headers:
        value = header.value
        if len(value) > MAX_CELL_CHARS:
            value = f"{value[:MAX_CELL_CHARS]}… ({len(value)} characters)"
        rows.append((header.name, coloured(value)))
    output.table("CRP headers", ("header", "value"), rows)


def show_chain(session_id: str, verdict: sessions.VerifyChainResponse, output: Output) -> None:
    """Show what the verification of a chain found."""
    integrity = enum_text(taxonomy.ChainIntegrity, verdict.integrity)
    output.say(
        f"Chain-Integrity {integrity}: {session_id}, {verdict.windows_verified}/{verdict.windows_total} windows and "
        f"{verdict.events_verified}/{verdict.events_total} audit events recomputed",
        style=_STYLES.get(integrity, ""),
    )
    if verdict.HasField("fault"):
        fault = verdict.fault
        output.say(f"first bad record: {fault.record_kind} {fault.record_id}: {fault.detail}", style="red")
    if verdict.partial_reason:
        output.say(verdict.partial_reason, style="yellow")


def more_text(limit: int) -> str:
    """Return what is told of a list that ends at its limit."""
    further = min(10 * limit, MOST_LISTED)
    return f"there are more; --limit {further} shows more of them" if further > limit else "there are more"


def response_json(message: Any) -> dict[str, Any]:
    """Return a message as the JSON document that ``--json`` prints."""
    return message_json(message)


def floor_rows(report: reports.DpeReport) -> list[tuple[str, str]]:
    """Return the composite's own level and why the risk level is not lower, as rows of a table (ADR 0093)."""
    own = taxonomy.RiskLevel.Name(report.composite_level).removeprefix("RISK_LEVEL_")
    rows = [("composite_level", own if report.composite_level else "not computed")]
    if report.HasField("judged_score"):
        rows.append(("judged_score", f"{report.judged_score:.3f}"))
    for floor in report.risk_floors:
        reason = reports.RiskFloorReason.Name(floor.reason).removeprefix("RISK_FLOOR_REASON_")
        level = taxonomy.RiskLevel.Name(floor.level).removeprefix("RISK_LEVEL_")
        where = ", ".join((*floor.claim_ids, *(f"stage {stage}" for stage in floor.stages)))
        rows.append(("risk floor", f"{level} {reason}" + (f": {where}" if where else "")))
    return rows
