"""The worst case of several dispatches' headers (CRP-SPEC-008; ADR 0153)."""

import itertools

from services.common.taxonomy import DispatchStrategy, QualityTier
from services.gateway.domain.headers import Header, HeaderInputs, PolicyOutcome, response_headers
from services.gateway.domain.vocabulary import OversightMode
from services.gateway.domain.worst_case import _ORDER, worst_case
from tests.each import each
from tests.fakes.gateway_values import COMMITTED, ENVELOPE, PLACE, REPORT

WORST_LAST = {
    "CRP-Context-Quality-Tier": ["S", "A", "B", "C", "D"],
    "CRP-Context-Saturation": ["1.0", "0.951", "0.0"],
    "CRP-Context-Facts-Used": ["5/5", "9/10", "1/300", "0/4"],
    "CRP-Context-Tokens-Used": ["0", "90", "100"],
    "CRP-Safety-Hallucination-Risk": ["LOW", "MEDIUM", "HIGH", "CRITICAL"],
    "CRP-Safety-Hallucination-Score": ["0.0", "0.14", "1.0"],
    "CRP-Safety-Attribution": ["CONTEXT_GROUNDED", "MIXED", "PARAMETRIC", "UNVERIFIABLE"],
    "CRP-Safety-Grounding-Pct": ["1.0", "0.912", "0.1"],
    "CRP-Safety-Fabrications": ["0", "2", "10"],
    "CRP-Safety-Entailment-Score": ["1.0", "0.5"],
    "CRP-Safety-Distortions": ["0", "1; types=NUMBER_CHANGED", "12; types=A,B"],
    "CRP-Safety-Contradictions": ["0", "1; scope=cross-window", "2; scope=intra"],
    "CRP-Safety-Omissions": [
        "CRITICAL:0, HIGH:0, MEDIUM:9",
        "CRITICAL:0, HIGH:1, MEDIUM:2",
        "CRITICAL:1, HIGH:0, MEDIUM:0",
    ],
    "CRP-Safety-Oversight-Mode": ["log-only", "auto", "human-review", "halt"],
    "CRP-Safety-Retry-After": ["0", "30", "oversight-required"],
    "CRP-Safety-Budget-Warning": ["caution", "low"],
    "CRP-Provenance-Chain-Integrity": ["VALID", "UNVERIFIED", "TRUNCATED", "PARTIAL", "BROKEN"],
    "CRP-Provenance-Attribution-Score": ["1.0", "0.2"],
    "CRP-Provenance-Fidelity-Score": ["1.0", "0.2"],
    "CRP-Compliance-EU-AI-Act": ["MINIMAL", "LIMITED", "UNKNOWN", "HIGH", "UNACCEPTABLE"],
    "CRP-Compliance-NIST-Tier": ["TIER-1", "TIER-2", "TIER-3", "TIER-4"],
    "CRP-Compliance-GDPR-PII": ["false", "true"],
    "CRP-Compliance-Controls-Met": ["35/35", "33/35", "0/35"],
    "CRP-Agent-Loop-Depth": ["0", "2"],
    "CRP-Agent-Safety-Budget": ["1.0", "0.85", "0.0"],
    "CRP-Quality-Repetition": ["NONE", "MINOR; overlap=0.1", "SIGNIFICANT; overlap=0.28", "SEVERE"],
    "CRP-Quality-Completeness": [
        "COMPLETE; sub-queries=5/5",
        "MOSTLY_COMPLETE; sub-queries=4/5; uncovered=a",
        "PARTIAL; sub-queries=3/5; uncovered=a,b",
        "PARTIAL; sub-queries=1/2; uncovered=b",
        "INCOMPLETE; sub-queries=0/1; uncovered=c",
    ],
    "CRP-Quality-Flow": ["1.0", "0.34; remediation=stitched"],
    "CRP-Quality-Score": ["1.0", "0.34"],
}
OF_ONE = {
    "CRP-Context-Window",
    "CRP-Context-Session-Id",
    "CRP-Context-ETag",
    "CRP-Context-Cache-Status",
    "CRP-Context-Continuation-Id",
    "CRP-Provenance-HMAC",
    "CRP-Provenance-Window-HMAC",
    "CRP-Provenance-DAG-Root",
    "CRP-Provenance-Claim-Count",
    "CRP-Provenance-Report-URI",
    "CRP-Provenance-Window-Lineage",
    "CRP-Compliance-ISO-42001",
    "CRP-Compliance-Audit-Trail-Id",
    "CRP-Compliance-Audit-Trail-URI",
    "CRP-Agent-Session-Parent",
    "CRP-Memory-Tier-Hit",
    "CRP-Memory-CKF-Hits",
    "CRP-Memory-CKF-Community",
    "CRP-Memory-Knowledge-Age",
    "CRP-Quality-Relevance",
    "CRP-Set-Session",
}
"""Headers that say nothing of several answers."""


def told(*items):
    return {header.name: header.value for header in worst_case(items, "3.0.0")}


def test_every_order_is_listed_here():
    assert WORST_LAST.keys() == _ORDER.keys()


@each("name", WORST_LAST)
def test_the_worst_of_two_whatever_their_order(name):
    for better, worse in itertools.combinations(WORST_LAST[name], 2):
        pair = [Header(name, better)], [Header(name, worse)]
        assert told(*pair)[name] == told(*reversed(pair))[name] == worse


def test_every_header_of_an_answer_has_an_order_or_says_nothing_of_several():
    policy = PolicyOutcome("halt-on HIGH", OversightMode.AUTO, ("halt-on HIGH",), "oversight-required")
    inputs = HeaderInputs(DispatchStrategy.PUSH, policy, QualityTier.A, PLACE, ENVELOPE, REPORT, COMMITTED)
    said = {header.name for header in response_headers(inputs)}
    kept = {header.name for header in worst_case([response_headers(inputs)], "3.0.0")}
    assert said - kept <= OF_ONE
    assert not kept & OF_ONE


def test_what_broke_is_joined_and_what_differs_is_left_out():
    first = [Header("CRP-Safety-Policy-Violation", "halt-on HIGH, block-pii"), Header("CRP-Safety-Policy-Applied", "a")]
    second = [Header("CRP-Safety-Policy-Violation", "warn-on LOW, block-pii"), Header("CRP-Safety-Policy-Applied", "b")]
    found = told(first, second, [])
    assert found["CRP-Safety-Policy-Violation"] == "halt-on HIGH, block-pii, warn-on LOW"
    assert "CRP-Safety-Policy-Applied" not in found
    assert told(first, first[1:])["CRP-Safety-Policy-Applied"] == "a"


def test_nothing_but_failures_says_what_it_is():
    assert told([], []) == {"CRP-Context-Strategy": "batch", "CRP-Context-Protocol-Version": "3.0.0"}
