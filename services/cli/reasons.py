"""Why a risk level is what it is, in words: what raised its score and what stands beside it (SPEC-005 §7, §17)."""

from collections.abc import Iterator
from typing import Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import report_pb2

from services.cli.words import enum_text

TOLD_FROM: Final = 0.05
"""A signal below this raises no level by itself."""
_SIGNALS: Final = {
    report_pb2.RISK_SIGNAL_KIND_ATTRIBUTION: "{share:.0%} of the claims rest on no fact of the envelope",
    report_pb2.RISK_SIGNAL_KIND_FIDELITY: "what was found in the answer takes {share:.2f} off its fidelity",
    report_pb2.RISK_SIGNAL_KIND_ENTAILMENT: "one sentence follows from its facts with a probability of {rest:.2f} only",
    report_pb2.RISK_SIGNAL_KIND_SPECIFICITY: "{share:.0%} of the claims are specific and cannot be checked",
}
_AMPLIFIERS: Final = {
    "gdpr_pii": "personal data",
    "eu_high_risk": "an AI system of high risk (EU AI Act)",
    "sector": "a regulated sector",
    "loop_depth": "the depth of the agents' loop",
    "cross_window_contradiction": "a contradiction with an earlier answer",
    "severe_repetition": "severe repetition",
}


def score_of(report: report_pb2.DpeReport) -> float | None:
    """Return the score that the level rests on beside its floors (ADR 0121); in older reports the composite."""
    if report.HasField("judged_score"):
        return report.judged_score
    return report.composite_score if report.HasField("composite_score") else None


def level_reasons(report: report_pb2.DpeReport) -> Iterator[str]:
    """Yield one sentence for everything that raised the level; nothing for a LOW one."""
    if report.risk_level in {taxonomy.RISK_LEVEL_LOW, taxonomy.RISK_LEVEL_UNSPECIFIED}:
        return
    is_incomplete = report.risk_degraded or not report.HasField("composite_score")
    yield from _floors(report, told_below=frozenset({"NOT_COMPUTED"}) if is_incomplete else frozenset())
    for signal in report.risk_signals:
        value = signal.judged_value if signal.HasField("judged_value") else signal.value
        if signal.HasField("value") and value >= TOLD_FROM and signal.kind in _SIGNALS:
            yield _SIGNALS[signal.kind].format(share=value, rest=1.0 - value)
    for name in report.amplifiers_applied:
        yield f"raised by {_AMPLIFIERS.get(name, name)}"
    if is_incomplete:
        missing = [
            stage.name
            for stage in report.stages
            if stage.number <= _RISK_STAGES and enum_text(taxonomy.StageStatus, stage.status) in _UNSOUND
        ]
        named = f" ({', '.join(dict.fromkeys(missing))})" if missing else ""
        yield f"not everything could be checked{named}, so it is never better than MEDIUM"


def _floors(report: report_pb2.DpeReport, told_below: frozenset[str]) -> Iterator[str]:
    """Yield what keeps the level up beside its score, but what is told at more length anyway."""
    for floor in report.risk_floors:
        word = enum_text(report_pb2.RiskFloorReason, floor.reason)
        if word in told_below and floor.level <= taxonomy.RISK_LEVEL_MEDIUM:
            continue
        told = _FLOORS.get(word, word.lower().replace("_", " "))
        claims = ", ".join(floor.claim_ids[:_CLAIMS_NAMED])
        more = " and others" if len(floor.claim_ids) > _CLAIMS_NAMED else ""
        level = enum_text(taxonomy.RiskLevel, floor.level)
        details = f": {'; '.join(floor.details[:_CLAIMS_NAMED])}" if floor.details else ""
        yield f"{told}{f' ({claims}{more})' if claims else ''}{details}: at least {level}"


_CLAIMS_NAMED: Final = 4
_FLOORS: Final = {
    "SEVERAL_CONTRADICTED_BY_RULE": "the documents contradict several claims",
    "CONTRADICTED_BY_RULE": "a document contradicts a claim",
    "CONTRADICTED_BY_MODEL": "a document seems to contradict a claim",
    "FABRICATED": "a name or value stands in no document",
    "UNDECIDED": "it cannot be told whether a claim holds",
    "UNSUPPORTED": "no document bears a claim out",
    "SUPERSEDED_FACT": "only what does not hold now bears a claim out",
    "EXPIRED_FACT": "only a document past its time to live bears a claim out",
    "BESIDE_QUESTION": "the answer is beside the question",
    "MISRECKONED": "the answer's own numbers do not add up",
    "ANSWER_REVERSED": "the answer says the opposite of its own yes",
    "NOT_COMPUTED": "not everything could be checked",
    "LEFT_OUT": "time ran out before everything was checked",
    "INCOMPLETE_UNDER_POLICY": "time ran out, and the policy asks for this level then",
}
"""Reasons of floors (ADR 0093) in words; one that is not here is told by its own name."""
_RISK_STAGES: Final = 5
_UNSOUND: Final = frozenset({"SKIPPED", "DEGRADED", "FAILED"})
