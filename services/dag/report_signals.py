"""What a safety policy reads of stored reports, without a word of them: many at a time, for a policy that is tried.

A stored body is cut down before it is made into a message: a body is some tens of kilobytes, its signals are two.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from crp.dag.v1 import session_service_pb2 as pb
from crp.dpe.v1 import report_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError
from pydantic_core import from_json

from services.common.errors import UnreadableRecordError
from services.common.ports.sessions import ReportRecord
from services.dag import convert

MOST_SIGNALS: Final = 200
"""Reports of a page with their signals."""
_KEPT: Final = frozenset(
    """
    report_id risk_level composite_score composite_level claims_total attribution_dominant attribution_breakdown
    grounding_pct fabrication_count distortion_count distortion_types contradiction_count contradiction_scope
    fidelity_score entailment_score repetition_level repetition_overlap completeness_score completeness_level
    sub_queries_total flow_score flow_remediation quality_score maximum_quality_tier omission_summary gdpr_pii_detected
    eu_ai_act_class nist_tier controls_met controls_total pii_cache_warning
    """.split()  # noqa: SIM905 - a list would be four times as long
)
"""Numbers, levels, counts by kind."""
_JUDGED: Final = frozenset({"CLAIM_VERDICT_CONTRADICTED", "CLAIM_VERDICT_UNDECIDED"})
"""Verdicts that policies count."""


def summaries_with_signals(reports: Sequence[ReportRecord | UnreadableRecordError]) -> list[pb.ReportSummary]:
    """Return the reports in brief, each with its signals; one that does not parse names its column."""
    return [_summary(report) for report in reports]


def _summary(report: ReportRecord | UnreadableRecordError) -> pb.ReportSummary:
    if isinstance(report, UnreadableRecordError) or not report.body:
        return convert.report_summary(report)
    try:
        found = signals(from_json(report.body))
    except (ValueError, TypeError, ParseError, RecursionError, AttributeError):
        brief = convert.report_summary(report)
        brief.unreadable = "body"
        return brief
    return convert.report_summary(report, found)


def signals(body: Mapping[str, Any]) -> report_pb2.DpeReport:
    """Return what policies read of a stored report.

    Raises:
        ValueError, TypeError, ParseError, AttributeError: it is none.
    """
    found = _fields(body)
    # Numbers, levels and lists are filled by hand: reading them from JSON would cost most of the time.
    for claim in body.get("claims", ()):
        if claim.get("verdict") in _JUDGED:
            found.claims.add(verdict=claim["verdict"])
    for stage in body.get("stages", ()):
        found.stages.add(**_of(stage, "number", "sub_stage", "status", "reason"))
    for floor in body.get("risk_floors", ()):
        found.risk_floors.add(**_of(floor, "level", "reason"))
    return found


def _fields(body: Mapping[str, Any]) -> report_pb2.DpeReport:
    found, rest = report_pb2.DpeReport(), dict[str, Any]()
    for name, value in body.items():
        if name not in _KEPT:
            continue
        if name in _NUMBERS and _is_plain(value, type(getattr(found, name))):
            setattr(found, name, value)
        elif name in _LEVELS and isinstance(value, str) and value in _LEVELS[name]:
            setattr(found, name, _LEVELS[name][value])
        else:
            rest[name] = value
    if relevance := body.get("relevance"):
        rest["relevance"] = _of(relevance, "status", "score", "reason")
    if rest:
        ParseDict(rest, found, ignore_unknown_fields=True)
    return found


def _is_plain(value: object, kind: type) -> bool:
    """Say whether a JSON value is a field's own; "NaN", or 3.0 of a count, is for the reader of JSON."""
    return type(value) is kind or (kind is float and type(value) is int)


def _of(one: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: one[name] for name in names if name in one}


def _single(*kinds: int) -> list[Any]:
    fields: Any = report_pb2.DpeReport.DESCRIPTOR.fields
    return [field for field in fields if field.name in _KEPT and field.type in kinds and not field.is_repeated]


_NUMBERS: Final = frozenset(
    field.name
    for field in _single(
        FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_BOOL, FieldDescriptor.TYPE_STRING
    )
)
"""Fields whose JSON value is the field's own; a 64-bit number's would be a text."""
_LEVELS: Final = {
    field.name: {value.name: value.number for value in field.enum_type.values}
    for field in _single(FieldDescriptor.TYPE_ENUM)
}
"""Fields that hold one value of an enum, whose name the JSON has."""
