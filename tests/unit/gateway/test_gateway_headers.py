from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.taxonomy import DispatchStrategy, QualityTier, RepetitionLevel
from services.gateway.domain.headers import (
    Header,
    HeaderInputs,
    PolicyOutcome,
    fraction,
    iso_duration,
    response_headers,
    slug,
)
from services.gateway.domain.vocabulary import OversightMode
from tests.fakes.gateway_values import COMMITTED, ENVELOPE, PLACE, REPORT, SESSION, WINDOW

POLICY = PolicyOutcome("halt-on CRITICAL; warn-on HIGH", OversightMode.AUTO)
FULL = HeaderInputs(
    strategy=DispatchStrategy.PUSH,
    policy=POLICY,
    tier=QualityTier.A,
    place=PLACE,
    envelope=ENVELOPE,
    report=REPORT,
    committed=COMMITTED,
    data_residency="eu-west-1",
)

EXPECTED = [
    ("CRP-Context-Quality-Tier", "A"),
    ("CRP-Context-Window", "2/5"),
    ("CRP-Context-Saturation", "0.994"),
    ("CRP-Context-Facts-Used", "47/312"),
    ("CRP-Context-Tokens-Used", "105816"),
    ("CRP-Context-Strategy", "push"),
    ("CRP-Context-Session-Id", SESSION),
    ("CRP-Context-ETag", "sha256:" + "e" * 64),
    ("CRP-Context-Cache-Status", "MISS; reason=no-etag"),
    ("CRP-Context-Continuation-Id", "crp_cont_" + "C" * 32),
    ("CRP-Context-Protocol-Version", "3.0.0"),
    ("CRP-Safety-Hallucination-Risk", "LOW"),
    ("CRP-Safety-Hallucination-Score", "0.14"),
    ("CRP-Safety-Attribution", "CONTEXT_GROUNDED"),
    ("CRP-Safety-Grounding-Pct", "0.912"),
    ("CRP-Safety-Fabrications", "0"),
    ("CRP-Safety-Entailment-Score", "0.912"),
    ("CRP-Safety-Distortions", "1; types=NUMBER_CHANGED"),
    ("CRP-Safety-Contradictions", "1; scope=cross-window"),
    ("CRP-Safety-Omissions", "CRITICAL:0, HIGH:1, MEDIUM:2"),
    ("CRP-Safety-Oversight-Mode", "auto"),
    ("CRP-Safety-Policy-Applied", "halt-on CRITICAL; warn-on HIGH"),
    ("CRP-Provenance-HMAC", "sha256:" + "1" * 64),
    ("CRP-Provenance-Window-HMAC", "sha256:" + "2" * 64),
    ("CRP-Provenance-DAG-Root", "dag:crp_win_root"),
    ("CRP-Provenance-Chain-Integrity", "VALID"),
    ("CRP-Provenance-Claim-Count", "47"),
    ("CRP-Provenance-Attribution-Score", "0.912"),
    ("CRP-Provenance-Fidelity-Score", "0.978"),
    ("CRP-Provenance-Report-URI", "/v1/reports/9b2f"),
    ("CRP-Provenance-Window-Lineage", f"crp_win_root -> {WINDOW}"),
    ("CRP-Compliance-EU-AI-Act", "LIMITED"),
    ("CRP-Compliance-NIST-Tier", "TIER-2"),
    ("CRP-Compliance-GDPR-PII", "true"),
    ("CRP-Compliance-ISO-42001", "A.6.1.2, A.9.4"),
    ("CRP-Compliance-Audit-Trail-Id", "crp_trail_" + "D" * 32),
    ("CRP-Compliance-Audit-Trail-URI", f"/v1/sessions/{SESSION}/audit"),
    ("CRP-Compliance-Data-Residency", "eu-west-1"),
    ("CRP-Compliance-Controls-Met", "33/35"),
    ("CRP-Agent-Loop-Depth", "0"),
    ("CRP-Agent-Safety-Budget", "0.85"),
    ("CRP-Memory-Tier-Hit", "2"),
    ("CRP-Memory-CKF-Hits", "50"),
    ("CRP-Memory-CKF-Community", "eu-ai-act-compliance"),
    ("CRP-Memory-Knowledge-Age", "P3DT2H5S"),
    ("CRP-Quality-Repetition", "SIGNIFICANT; overlap=0.28"),
    ("CRP-Quality-Completeness", "PARTIAL; sub-queries=3/5; uncovered=eu-ai-act-requirements,gdpr-requirements"),
    ("CRP-Quality-Flow", "0.34; remediation=prompt-augmented"),
    ("CRP-Quality-Score", "0.91"),
    ("CRP-Set-Session", COMMITTED.set_session),
]


def values(inputs: HeaderInputs) -> dict[str, str]:
    return {header.name: header.value for header in response_headers(inputs)}


def test_every_header_has_the_exact_form_of_the_header_table():
    assert [(header.name, header.value) for header in response_headers(FULL)] == EXPECTED


def test_what_is_not_known_gives_no_header():
    only = values(HeaderInputs(strategy=DispatchStrategy.PUSH, policy=PolicyOutcome("", OversightMode.AUTO)))
    assert only == {
        "CRP-Context-Strategy": "push",
        "CRP-Context-Protocol-Version": "3.0.0",
        "CRP-Safety-Oversight-Mode": "auto",
    }


@pytest.mark.parametrize(
    ("field", "header"),
    [
        ("composite_score", "CRP-Safety-Hallucination-Score"),
        ("claims_total", "CRP-Provenance-Claim-Count"),
        ("grounding_pct", "CRP-Safety-Grounding-Pct"),
        ("grounding_pct", "CRP-Provenance-Attribution-Score"),
        ("fabrication_count", "CRP-Safety-Fabrications"),
        ("distortion_count", "CRP-Safety-Distortions"),
        ("contradiction_count", "CRP-Safety-Contradictions"),
        ("fidelity_score", "CRP-Provenance-Fidelity-Score"),
        ("entailment_score", "CRP-Safety-Entailment-Score"),
        ("repetition_level", "CRP-Quality-Repetition"),
        ("flow_score", "CRP-Quality-Flow"),
        ("quality_score", "CRP-Quality-Score"),
        ("gdpr_pii_detected", "CRP-Compliance-GDPR-PII"),
        ("controls_met", "CRP-Compliance-Controls-Met"),
    ],
)
def test_a_score_that_was_not_computed_is_absent(field, header):
    report = replace(REPORT, **{field: None})
    found = values(replace(FULL, report=report))
    assert header not in found
    assert header in values(FULL)


@pytest.mark.parametrize(
    ("changes", "header", "expected"),
    [
        ({"distortion_count": 0, "distortion_types": ()}, "CRP-Safety-Distortions", "0"),
        ({"contradiction_count": 0, "contradiction_scope": ""}, "CRP-Safety-Contradictions", "0"),
        ({"repetition_level": RepetitionLevel.NONE, "repetition_overlap": 0.01}, "CRP-Quality-Repetition", "NONE"),
        ({"flow_remediation": ""}, "CRP-Quality-Flow", "0.34"),
        ({"gdpr_pii_detected": False}, "CRP-Compliance-GDPR-PII", "false"),
        (
            {"completeness_level": "COMPLETE", "uncovered_sub_queries": ()},
            "CRP-Quality-Completeness",
            "COMPLETE; sub-queries=5/5",
        ),
        (
            {"distortion_count": 3, "distortion_types": ("NUMBER_CHANGED", "DATE_SHIFTED")},
            "CRP-Safety-Distortions",
            "3; types=NUMBER_CHANGED,DATE_SHIFTED",
        ),
    ],
)
def test_header_forms(changes, header, expected):
    assert values(replace(FULL, report=replace(REPORT, **changes)))[header] == expected


def test_a_complete_session_has_no_continuation_id():
    assert "CRP-Context-Continuation-Id" not in values(replace(FULL, committed=replace(COMMITTED, continuation_id="")))


def test_a_halt_says_what_broke_and_when_to_retry():
    policy = PolicyOutcome("x", OversightMode.HALT, ("halt-on HIGH", "require-grounding 0.9"), "oversight-required")
    found = values(replace(FULL, policy=policy, committed=None))
    assert found["CRP-Safety-Policy-Violation"] == "halt-on HIGH, require-grounding 0.9"
    assert found["CRP-Safety-Retry-After"] == "oversight-required"
    assert "CRP-Provenance-HMAC" not in found


def test_the_community_can_be_suppressed():
    assert "CRP-Memory-CKF-Community" not in values(replace(FULL, community_header=False))


@pytest.mark.parametrize("bad", ["a\r\nCRP-Evil: 1", "a\nb", "é", "\x00", "", "tab\there"])
def test_a_header_refuses_what_could_forge_another(bad):
    with pytest.raises(ValueError, match="CRP-X"):
        Header("CRP-X", bad)


def test_text_from_outside_is_cut_down_to_slugs():
    report = replace(REPORT, uncovered_sub_queries=("x\r\nCRP-Evil: 1", "Größe; a=b", "日本"))
    envelope = replace(ENVELOPE, communities=("a\r\nCRP-Evil: 1",))
    found = values(replace(FULL, report=report, envelope=envelope))
    assert found["CRP-Quality-Completeness"] == "PARTIAL; sub-queries=2/5; uncovered=x-crp-evil-1,gr-e-a-b"
    assert found["CRP-Memory-CKF-Community"] == "a-crp-evil-1"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (0.0, "0.0"), (1.0, "1.0"), (0.14, "0.14"), (31 / 34, "0.912"), (0.0004, "0.0"), (1.2, "1.0"),
     (-0.1, "0.0"), (0.5, "0.5")],
)  # fmt: skip
def test_fractions(value, text):
    assert fraction(value) == text


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (None, ""),
        (timedelta(0), "PT0S"),
        (timedelta(seconds=-3), "PT0S"),
        (timedelta(days=400), "P400D"),
        (timedelta(hours=1, minutes=1, seconds=1), "PT1H1M1S"),
        (timedelta(days=1, minutes=2), "P1DT2M"),
    ],
)
def test_durations(span, text):
    assert iso_duration(span) == text


def test_a_slug_is_bounded():
    assert slug("x" * 100) == "x" * 48
    assert slug("a" * 47 + " b") == "a" * 47
