from dataclasses import replace

import pytest

from services.common.taxonomy import QualityTier, RepetitionLevel, RiskLevel, StageStatus
from services.gateway.domain.directives import SIGNAL_NOT_COMPUTED, evaluate
from services.gateway.domain.outcome import (
    Enforcement,
    PolicyRelaxedError,
    PolicyRequest,
    final_tier,
    judge,
    policy_in_force,
    retry_condition,
)
from services.gateway.domain.policy import parse_policy
from services.gateway.domain.vocabulary import OversightMode, SafetyMode
from tests.each import each
from tests.fakes.gateway_values import REPORT, not_run

GOOD = replace(
    REPORT,
    attribution_breakdown=(("CONTEXT_GROUNDED", 34), ("MIXED", 0), ("PARAMETRIC", 0), ("UNVERIFIABLE", 0)),
    grounding_pct=1.0,
    repetition_level=RepetitionLevel.NONE,
    flow_score=0.9,
    completeness_score=1.0,
    gdpr_pii_detected=False,
    distortion_count=0,
    contradiction_count=0,
    contradicted_claims=0,
)
CRITICAL = replace(GOOD, risk_level=RiskLevel.CRITICAL)
HIGH = replace(GOOD, risk_level=RiskLevel.HIGH)


def found(policy, report, tier=QualityTier.A):
    return [(each.directive, each.violation_type) for each in evaluate(parse_policy(policy), report, tier)]


EVERYTHING = (
    "default-src context; halt-on LOW; warn-on LOW; require-grounding 0.9; require-entailment 0.9; require-quality A; "
    "require-flow 0.5; require-completeness 0.9; block-ungrounded; block-parametric; block-pii; block-fabrication; "
    "block-contradiction; block-distortion; block-repetition; max-repetition NONE"
)


def test_a_good_answer_breaks_nothing_but_the_lowest_risk_limits():
    assert found(EVERYTHING, GOOD) == [("halt-on LOW", "HALT_ON_LOW"), ("warn-on LOW", "WARN_ON_LOW")]


@each(
    ("policy", "changes", "violation"),
    [
        ("halt-on HIGH", {"risk_level": RiskLevel.CRITICAL}, "HALT_ON_CRITICAL"),
        ("halt-on HIGH", {"risk_level": RiskLevel.HIGH}, "HALT_ON_HIGH"),
        ("halt-on HIGH", {"risk_level": RiskLevel.MEDIUM}, None),
        ("warn-on HIGH", {"risk_level": RiskLevel.HIGH}, "WARN_ON_HIGH"),
        ("require-grounding 0.9", {"grounding_pct": 0.899}, "GROUNDING_BELOW_THRESHOLD"),
        ("require-grounding 0.9", {"grounding_pct": 0.9}, None),
        ("require-entailment 0.95", {}, "ENTAILMENT_BELOW_THRESHOLD"),
        ("require-flow 0.95", {}, "FLOW_BELOW_THRESHOLD"),
        ("require-completeness 0.9", {"completeness_score": 0.5}, "COMPLETENESS_BELOW_THRESHOLD"),
        ("require-quality S", {}, "QUALITY_BELOW_THRESHOLD"),
        ("block-ungrounded", {"attribution_breakdown": (("UNVERIFIABLE", 1),)}, "UNGROUNDED_CLAIM"),
        ("block-ungrounded", {"attribution_breakdown": (("PARAMETRIC", 1),)}, None),
        ("block-parametric", {"attribution_breakdown": (("PARAMETRIC", 2),)}, "PARAMETRIC_CLAIM"),
        ("default-src context", {"attribution_breakdown": (("PARAMETRIC", 2),)}, "PARAMETRIC_SOURCE"),
        ("default-src context parametric", {"attribution_breakdown": (("PARAMETRIC", 2),)}, None),
        ("default-src 'none'", {}, "SOURCE_NOT_ALLOWED"),
        ("block-pii", {"gdpr_pii_detected": True}, "PII_DETECTED"),
        ("block-fabrication", {"fabrication_count": 1}, "FABRICATION_DETECTED"),
        ("block-contradiction", {"contradicted_claims": 1}, "CONTRADICTION_DETECTED"),
        ("block-contradiction", {"contradiction_count": 1}, "CONTRADICTION_DETECTED"),
        ("block-contradiction", {"contradicted_claims": None, "contradiction_count": 1}, "CONTRADICTION_DETECTED"),
        ("block-contradiction", {}, None),
        ("warn-on-contradiction", {"contradicted_claims": 1}, "WARN_ON_CONTRADICTION"),
        ("warn-on-contradiction", {}, None),
        ("block-distortion", {"distortion_count": 1}, "DISTORTION_DETECTED"),
        ("block-distortion", {"contradicted_claims": 1}, None),
        ("incomplete-risk HIGH", {"risk_level": RiskLevel.CRITICAL}, None),
        ("block-repetition", {"repetition_level": RepetitionLevel.SEVERE}, "REPETITION_ABOVE_THRESHOLD"),
        ("block-repetition", {"repetition_level": RepetitionLevel.SIGNIFICANT}, None),
        ("max-repetition MINOR", {"repetition_level": RepetitionLevel.SIGNIFICANT}, "REPETITION_ABOVE_THRESHOLD"),
        ("max-repetition MINOR", {"repetition_level": RepetitionLevel.MINOR}, None),
    ],
)
def test_each_directive(policy, changes, violation):
    expected = [] if violation is None else [(policy, violation)]
    assert found(policy, replace(GOOD, **changes)) == expected


MISSING = [
    ("require-grounding 0.5", "2", {"grounding_pct": None}),
    ("require-entailment 0.5", "4", {"entailment_score": None}),
    ("require-flow 0.5", "9", {"flow_score": None}),
    ("require-completeness 0.5", "8", {"completeness_score": None}),
    ("block-ungrounded", "2", {"attribution_breakdown": ()}),
    ("block-parametric", "2", {"attribution_breakdown": ()}),
    ("default-src ckf", "2", {"attribution_breakdown": ()}),
    ("block-pii", "11", {"gdpr_pii_detected": None}),
    ("block-fabrication", "3a", {"fabrication_count": None}),
    ("block-contradiction", "3", {"contradicted_claims": None}),
    ("block-distortion", "3b", {"distortion_count": None}),
    ("max-repetition MINOR", "7", {"repetition_level": None}),
]


@pytest.mark.parametrize(("policy", "stage", "changes"), MISSING)
@pytest.mark.parametrize("status", [StageStatus.SKIPPED, StageStatus.FAILED, StageStatus.DEGRADED])
def test_a_signal_that_was_not_computed_fails_closed_and_says_so(policy, stage, changes, status):
    report = not_run(replace(GOOD, **changes), stage, status)
    force = policy_in_force(PolicyRequest(policy), "", "")
    verdict = judge(force, report, QualityTier.A)
    assert found(policy, report) == [(policy, SIGNAL_NOT_COMPUTED)]
    assert verdict.halt_reason == policy
    assert verdict.violations[0].finding.signal_missing
    assert f"{status}, NO_MODEL" in verdict.violations[0].finding.description


@pytest.mark.parametrize(("policy", "stage", "changes"), MISSING)
def test_a_stage_that_is_not_even_listed_fails_closed(policy, stage, changes):
    report = replace(GOOD, stages=(), **changes)
    assert found(policy, report) == [(policy, SIGNAL_NOT_COMPUTED)]


@pytest.mark.parametrize(("policy", "stage", "changes"), MISSING)
def test_what_does_not_apply_breaks_nothing(policy, stage, changes):
    assert found(policy, not_run(replace(GOOD, **changes), stage, StageStatus.NOT_APPLICABLE)) == []


@pytest.mark.parametrize(
    ("request_", "tenant", "default", "applied", "oversight", "enforcing"),
    [
        (PolicyRequest(), "", "halt-on CRITICAL", "halt-on CRITICAL", OversightMode.AUTO, True),
        (PolicyRequest(), "", "", "", OversightMode.AUTO, True),
        (PolicyRequest("block-pii"), "", "halt-on CRITICAL", "block-pii", OversightMode.AUTO, True),
        (PolicyRequest(), "warn-on LOW", "halt-on CRITICAL", "warn-on LOW", OversightMode.AUTO, True),
        (PolicyRequest("block-pii"), "warn-on LOW", "x", "warn-on LOW; block-pii", OversightMode.AUTO, True),
        (
            PolicyRequest(mode=SafetyMode.STRICT),
            "",
            "",
            "halt-on CRITICAL; warn-on HIGH; incomplete-risk HIGH; require-grounding 0.75; block-ungrounded",
            OversightMode.AUTO,
            True,
        ),
        (
            PolicyRequest(mode=SafetyMode.WARN),
            "",
            "halt-on LOW",
            "halt-on LOW (mode warn)",
            OversightMode.AUTO,
            False,
        ),
        (PolicyRequest(mode=SafetyMode.PERMISSIVE), "", "halt-on LOW", "", OversightMode.AUTO, False),
        (PolicyRequest(oversight=OversightMode.HALT), "", "", "", OversightMode.HALT, True),
        (
            PolicyRequest("oversight halt", oversight=OversightMode.AUTO),
            "",
            "",
            "oversight halt",
            OversightMode.HALT,
            True,
        ),
        (
            PolicyRequest("halt-on LOW; oversight log-only"),
            "",
            "",
            "halt-on LOW; oversight log-only (mode log-only)",
            OversightMode.LOG_ONLY,
            False,
        ),
    ],
)
def test_the_policy_in_force(request_, tenant, default, applied, oversight, enforcing):
    force = policy_in_force(request_, tenant, default)
    assert (force.applied, force.oversight, force.enforcing) == (applied, oversight, enforcing)


@pytest.mark.parametrize(
    ("request_", "tenant", "directive"),
    [
        (PolicyRequest("halt-on CRITICAL"), "halt-on HIGH", "halt-on"),
        (PolicyRequest(mode=SafetyMode.WARN), "halt-on HIGH", "mode"),
        (PolicyRequest(mode=SafetyMode.PERMISSIVE), "block-pii", "mode"),
        (PolicyRequest(oversight=OversightMode.LOG_ONLY), "halt-on HIGH", "oversight"),
        (PolicyRequest("oversight log-only"), "halt-on HIGH", "oversight"),
        (PolicyRequest(oversight=OversightMode.AUTO), "oversight human-review", "oversight"),
    ],
)
def test_a_request_cannot_be_weaker_than_its_tenant(request_, tenant, directive):
    with pytest.raises(PolicyRelaxedError) as caught:
        policy_in_force(request_, tenant, "")
    assert caught.value.relaxation.directive == directive


@pytest.mark.parametrize(
    ("request_", "report", "halt_reason", "enforcements"),
    [
        (PolicyRequest(), GOOD, "", []),
        (PolicyRequest("halt-on CRITICAL"), CRITICAL, "CRITICAL_HALLUCINATION_RISK", [Enforcement.HALTED]),
        (PolicyRequest("halt-on HIGH"), CRITICAL, "CRITICAL_HALLUCINATION_RISK", [Enforcement.HALTED]),
        (PolicyRequest("halt-on HIGH"), HIGH, "halt-on HIGH", [Enforcement.HALTED]),
        (PolicyRequest("warn-on HIGH"), CRITICAL, "", [Enforcement.WARNED]),
        (PolicyRequest("warn-on HIGH; oversight halt"), HIGH, "warn-on HIGH", [Enforcement.HALTED]),
        (PolicyRequest("halt-on LOW", mode=SafetyMode.WARN), CRITICAL, "", [Enforcement.WARNED]),
        (PolicyRequest("halt-on LOW; oversight log-only"), CRITICAL, "", [Enforcement.REPORTED]),
        (PolicyRequest(report_only="halt-on LOW"), CRITICAL, "", [Enforcement.REPORTED]),
        (PolicyRequest(accept_risk=RiskLevel.MEDIUM), HIGH, "accept-risk MEDIUM", [Enforcement.HALTED]),
        (PolicyRequest(accept_risk=RiskLevel.HIGH), HIGH, "", []),
        (PolicyRequest("oversight human-review"), GOOD, "OVERSIGHT_REQUIRED", []),
        (PolicyRequest(), replace(GOOD, eu_ai_act_class="UNACCEPTABLE"), "UNACCEPTABLE_EU_AI_ACT", []),
        (
            PolicyRequest(mode=SafetyMode.PERMISSIVE),
            replace(CRITICAL, eu_ai_act_class="UNACCEPTABLE"),
            "UNACCEPTABLE_EU_AI_ACT",
            [],
        ),
    ],
)
def test_what_becomes_of_the_answer(request_, report, halt_reason, enforcements):
    verdict = judge(policy_in_force(request_, "", ""), report, QualityTier.A)
    assert verdict.halt_reason == halt_reason
    assert [violation.enforcement for violation in verdict.violations] == enforcements


@pytest.mark.parametrize(
    ("envelope", "ceiling", "expected"),
    [("A", None, "A"), ("A", "B", "B"), ("C", "A", "C"), ("S", "S", "S"), ("S", "D", "D")],
)
def test_the_quality_score_lowers_the_tier_never_raises_it(envelope, ceiling, expected):
    report = replace(REPORT, maximum_quality_tier=QualityTier(ceiling) if ceiling else None)
    assert final_tier(QualityTier(envelope), report) == QualityTier(expected)


@pytest.mark.parametrize(
    ("reason", "condition"),
    [
        ("SAFETY_BUDGET_DEPLETED", "0"),
        ("halt-on HIGH", "oversight-required"),
        ("OVERSIGHT_REQUIRED", "oversight-required"),
    ],
)  # fmt: skip
def test_retry_conditions(reason, condition):
    assert retry_condition(reason) == condition
