"""Why a risk level is what it is, in words: what raised the composite and what stands beside it (SPEC-005 §7, §17)."""

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


def level_reasons(report: report_pb2.DpeReport) -> Iterator[str]:
    """Yield one sentence for everything that raised the level; nothing for a LOW one."""
    if report.risk_level in {taxonomy.RISK_LEVEL_LOW, taxonomy.RISK_LEVEL_UNSPECIFIED}:
        return
    for signal in report.risk_signals:
        if signal.HasField("value") and signal.value >= TOLD_FROM and signal.kind in _SIGNALS:
            yield _SIGNALS[signal.kind].format(share=signal.value, rest=1.0 - signal.value)
    for name in report.amplifiers_applied:
        yield f"raised by {_AMPLIFIERS.get(name, name)}"
    if report.risk_degraded or not report.HasField("composite_score"):
        missing = [
            stage.name
            for stage in report.stages
            if stage.number <= _RISK_STAGES and enum_text(taxonomy.StageStatus, stage.status) in _UNSOUND
        ]
        named = f" ({', '.join(dict.fromkeys(missing))})" if missing else ""
        yield f"not everything could be checked{named}, so it is never better than MEDIUM"


_RISK_STAGES: Final = 5
_UNSOUND: Final = frozenset({"SKIPPED", "DEGRADED", "FAILED"})
