"""``crp.common.v1.InjectionFinding`` of what was found in a text (ADR 0145)."""

from crp.common.v1 import injection_pb2, text_pb2

from services.common.injection.masking import Finding
from services.envelope.domain.instructions import Treatment


def finding_message(finding: Finding, treatment: Treatment) -> injection_pb2.InjectionFinding:
    """Return what is told of a text: rules, places, counts, never words."""
    return injection_pb2.InjectionFinding(
        action=f"INJECTION_ACTION_{treatment.name}",
        rules=[injection_pb2.InjectionRuleCount(rule_id=rule_id, count=count) for rule_id, count in finding.rules],
        spans=[text_pb2.TextSpan(start=start, end=end) for start, end in finding.places],
        span_count=finding.count,
    )
