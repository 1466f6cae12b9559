"""The directive require-relevance and its header (ADR 0096)."""

from dataclasses import replace

import pytest

from services.common.taxonomy import QualityTier
from services.gateway.domain.directives import evaluate
from services.gateway.domain.headers import _relevance
from services.gateway.domain.policy import PolicyError, parse_policy, stricter
from tests.fakes.gateway_values import REPORT

POLICY = parse_policy("require-relevance 0.5")


def found(status, score=None, reason=""):
    return replace(REPORT, relevance_status=status, relevance_score=score, relevance_reason=reason)


def test_it_is_read_printed_and_the_stricter_holds():
    assert POLICY.canonical == "require-relevance 0.5"
    assert stricter(POLICY, parse_policy("require-relevance 0.8")).require_relevance == 0.8
    with pytest.raises(PolicyError):
        parse_policy("require-relevance much")


@pytest.mark.parametrize(
    ("report", "violation"),
    [
        (found("RELEVANT", 0.9), None),
        (found("RELEVANT", 0.5), None),
        (found("BESIDE_THE_QUESTION", 0.1), "RELEVANCE_BELOW_THRESHOLD"),
        (found("PARTIAL", 0.49), "RELEVANCE_BELOW_THRESHOLD"),
        (found("REFUSAL"), None),
        (found("NOT_ASSESSED", reason="LANGUAGE_NOT_SUPPORTED"), "SIGNAL_NOT_COMPUTED"),
    ],
)
def test_what_it_finds(report, violation):
    findings = evaluate(POLICY, report, QualityTier.A)
    assert [finding.violation_type for finding in findings] == ([violation] if violation else [])


@pytest.mark.parametrize(
    ("report", "value"),
    [
        (found("RELEVANT", 0.9321), "RELEVANT; score=0.932"),
        (found("REFUSAL"), "REFUSAL"),
        (found("NOT_ASSESSED", reason="LANGUAGE_NOT_SUPPORTED"), "NOT_ASSESSED; reason=LANGUAGE_NOT_SUPPORTED"),
        (found(""), ""),
    ],
)
def test_the_header(report, value):
    assert _relevance(report) == value
