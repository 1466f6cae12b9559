"""The dual-entropy formula, the judge's constants, threshold and limits (Director-AI page; ADR 0122)."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.common.settings.guard.coherence import CoherenceSettings
from services.dpe.domain.guard.coherence import CoherencePolicy, Divergences, JudgeOpinion, scored
from tests.each import each

FILE = Path(__file__).parents[3] / "vectors/guard/coherence.json"
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))["vectors"]
SHARES = st.floats(0.0, 1.0)
MAYBE = st.none() | SHARES


@each("vector", VECTORS, ids=lambda one: one["test_id"])
def test_vector(vector):
    asked, expected = vector["input"], vector["expected"]
    policy = CoherencePolicy(**asked.get("policy", {}))
    opinion = JudgeOpinion(asked.get("opinion", "NOT_ASKED"))
    score = scored(policy, Divergences(asked["logical"], asked["factual"]), opinion)
    assert score.coherence == pytest.approx(expected["coherence"], abs=1e-12)
    assert score.blended == pytest.approx(expected.get("blended"), abs=1e-12)
    assert score.approved(asked.get("threshold", policy.threshold)) is expected["approved"]
    assert score.warns(policy) is expected["warning"]


def test_the_settings_are_the_pages_constants():
    settings, policy = CoherenceSettings(), CoherencePolicy()
    assert {name: getattr(settings, name) for name in CoherencePolicy.__dataclass_fields__} == {
        name: getattr(policy, name) for name in CoherencePolicy.__dataclass_fields__
    }
    assert (settings.cache_entries, settings.cache_ttl_s) == (1_024, 300.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"logical_weight": 0.7},
        {"judge_weight": 0.5},
        {"hard_limit": 0.7},
        {"judge_agree_divergence": 0.9},
        {"threshold": 1.5},
        {"cache_entries": -1},
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValidationError):
        CoherenceSettings(**wrong)


def test_every_constant_is_hashed():
    plain = CoherencePolicy().document({})
    assert CoherencePolicy(judge_agree_divergence=0.1).document({}) != plain
    assert CoherencePolicy(soft_limit=0.7).document({}) != plain
    assert CoherencePolicy().document({"weights": 1}) != plain


@given(MAYBE, MAYBE, SHARES, st.sampled_from(JudgeOpinion))
def test_more_divergence_never_gives_more_coherence(logical, factual, more, opinion):
    policy = CoherencePolicy()
    score = scored(policy, Divergences(logical, factual), opinion)
    if logical is None and factual is None:
        assert score.coherence is None
        return
    assert score.coherence is not None
    assert 0.0 <= score.coherence <= 1.0
    worse = Divergences(*(None if one is None else max(one, more) for one in (logical, factual)))
    after = scored(policy, worse, opinion).coherence
    assert after is not None
    assert after <= score.coherence + 1e-12


@given(MAYBE, MAYBE, SHARES, SHARES)
def test_approval_is_monotone_in_the_threshold(logical, factual, one, other):
    score = scored(CoherencePolicy(), Divergences(logical, factual))
    low, high = sorted((one, other))
    assert score.approved(low) or not score.approved(high)
