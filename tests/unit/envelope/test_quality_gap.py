"""What a refused caller is told: which number fell short, by how much, which rule capped (SPEC-003 §8.4; ADR 0064)."""

import json
from pathlib import Path

import pytest

from services.common.envelope_request import EnvelopeRequest
from services.common.taxonomy import DispatchStrategy, GroundingMode, QualityTier
from services.envelope.domain.quality_gap import quality_gap
from services.envelope.domain.quality_tier import TierSignals, classify
from services.envelope.envelope_app import recommended_strategy
from tests.each import each

FOLDER = Path(__file__).parents[2] / "vectors" / "envelope"


def vectors():
    found = json.loads((FOLDER / "gap.json").read_text(encoding="utf-8"))["vectors"]
    return [pytest.param(vector["input"], vector["expected"], id=vector["test_id"]) for vector in found]


@each(("given", "expected"), vectors())
def test_gap(given, expected):
    values = dict(given)
    accepted = [QualityTier[name] for name in values.pop("accept_quality")]
    relevance = values.pop("relevance")
    verdict = classify(TierSignals(relevance_scores=[relevance] * given["total_facts_included"], **values))
    gap = quality_gap(verdict, accepted)
    if expected["gap"] is None:
        assert gap is None
        return
    assert (gap.reached.name, gap.required.name) == (expected["gap"]["reached"], expected["gap"]["required"])
    found = {each.signal.value: (each.value, each.required, each.shortfall) for each in gap.shortfalls}
    wanted = {each["signal"]: tuple(each[n] for n in ("value", "required", "shortfall")) for each in
              expected["gap"]["shortfalls"]}  # fmt: skip
    assert list(found) == list(wanted)
    for signal, numbers in wanted.items():
        assert found[signal] == pytest.approx(numbers, abs=1e-8)
    assert [rule.value for rule in gap.capping_rules] == expected["gap"]["capping_rules"]


@pytest.mark.parametrize(
    ("strategy", "parts", "upgrade", "expected"),
    [
        (DispatchStrategy.PUSH, 1, True, DispatchStrategy.PULL),
        (DispatchStrategy.FAN_OUT, 1, True, DispatchStrategy.PULL),
        (DispatchStrategy.PULL, 3, True, DispatchStrategy.HIERARCHICAL),
        (DispatchStrategy.PULL, 1, True, None),
        (DispatchStrategy.HIERARCHICAL, 3, True, None),
        (DispatchStrategy.PUSH, 3, False, None),
    ],
)
def test_what_is_recommended(strategy, parts, upgrade, expected):
    request = EnvelopeRequest("q", "m", strategy=strategy, grounding_mode=GroundingMode.OPEN, upgrade_on_risk=upgrade)
    assert recommended_strategy(request, ["part"] * parts) is expected
