"""Reports as answers carry them: whole, summed up, or without the words of an answer that was withheld (ADR 0097).

What is stored and hashed is always the whole; a view is a copy and has no hash of its own.
"""

import re
from collections.abc import Iterable
from typing import Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import claim_pb2, report_pb2

from services.common.rpc.validation import Violations

MAX_OMISSIONS: Final = 3
"""The worst; their numbers stand in ``omission_summary``."""
_LEFT_OUT: Final = (
    "ai_system", "attribution_breakdown", "build", "coverage", "flow_signals", "gazetteer_version",
    "iso_42001_controls", "models", "pii_findings", "regulatory", "timings",
)  # fmt: skip
"""Fields that a summary lacks: how the report came about, and tables whose result stands in a field of its own."""
_SOUND: Final = frozenset({taxonomy.STAGE_STATUS_COMPLETED, taxonomy.STAGE_STATUS_NOT_APPLICABLE})


_UNSUPPORTED: Final = re.compile(r"bears “[^”]*” out")
"""How ``services.dpe.domain.why`` quotes what nothing bears out."""


def check_view(found: Violations, field: str, view: int) -> None:
    """Note a view that is none."""
    found.require(view in report_pb2.ReportView.values(), field, "is not a value of the enum")


def in_view(report: report_pb2.DpeReport, view: int) -> report_pb2.DpeReport | None:
    """Return the report as a caller wants it; ``None`` = not at all."""
    if view == report_pb2.REPORT_VIEW_NONE:
        return None
    return _summary(report) if view == report_pb2.REPORT_VIEW_SUMMARY else report


def withheld(report: report_pb2.DpeReport) -> report_pb2.DpeReport:
    """Return the report of a withheld answer without its words: what was found and where, verdicts and evidence.

    The sentence on a verdict names the value or the few words that a document contradicts. What is borne out by nothing
    is not quoted: it may be most of a sentence. Where the text holds personal data the sentence is left out too.
    """
    told = report_pb2.DpeReport()
    told.CopyFrom(report)
    for claim in told.claims:
        claim.text = ""
        del claim.entities[:]
        if claim.HasField("judgement"):
            said = "" if report.gdpr_pii_detected else claim.judgement.why
            claim.judgement.why = _UNSUPPORTED.sub("bears this out", said)
        for item in (*claim.attribution.evidence, *claim.judgement.evidence):
            _without_words(item.aligned_values)
            item.ClearField("quote")  # an answer that quotes its document would stand there whole
    for fabrication in told.fabrications:
        fabrication.entity.text = fabrication.normalised = ""
    for distortion in told.distortions:
        _without_words([distortion.values] if distortion.HasField("values") else [])
    for contradiction in (*told.contradictions, *told.cross_window_contradictions):
        contradiction.claim_text = contradiction.why = ""
        if contradiction.other_window_id == contradiction.window_id:
            contradiction.other_text = ""
        contradiction.ClearField("values")
    for floor in told.risk_floors:
        del floor.details[:]  # the answer's own amounts
    return told


def _without_words(values: Iterable[claim_pb2.AlignedValue]) -> None:
    for value in values:
        value.answer_text = value.answer_normalised = ""


def _summary(report: report_pb2.DpeReport) -> report_pb2.DpeReport:
    told = report_pb2.DpeReport()
    told.CopyFrom(report)
    for name in _LEFT_OUT:
        told.ClearField(name)
    for claim in told.claims:
        claim.ClearField("entities")
        claim.attribution.ClearField("evidence")
        if not claim.attribution.ByteSize():
            claim.ClearField("attribution")
        if claim.HasField("judgement"):
            del claim.judgement.evidence[1:]
    kept = [stage for stage in told.stages if stage.status not in _SOUND]
    del told.stages[:]
    told.stages.extend(kept)
    del told.omissions[MAX_OMISSIONS:]
    return told
