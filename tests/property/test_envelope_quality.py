"""What holds of every tier and of every gap that a refused caller is told (SPEC-003 §8; ADR 0002, ADR 0064)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.taxonomy import QualityTier, worst_tier
from services.envelope.domain.quality_gap import QualitySignal, quality_gap
from services.envelope.domain.quality_tier import TierSignals, cap_of, classify

TIERS = list(QualityTier)


@st.composite
def signals(draw):
    available = draw(st.integers(0, 200))
    included = draw(st.integers(0, available))
    relevance = draw(st.floats(0, 1))
    return TierSignals(
        total_facts_available=available,
        total_facts_included=included,
        saturation=draw(st.floats(0, 1)),
        relevance_scores=[relevance] * included,
        critical_fact_excluded=draw(st.booleans()),
        primary_community_included=draw(st.sampled_from([None, True, False])),
        time_sensitive=draw(st.booleans()),
        newest_age_days=draw(st.none() | st.floats(0, 400)),
        context_strict=draw(st.booleans()),
    )


@given(signals())
def test_a_tier_is_the_worst_of_score_saturation_and_caps(given_signals):
    verdict = classify(given_signals)
    caps = [cap_of(rule) for rule in verdict.rules]
    assert verdict.tier == worst_tier(verdict.score_tier, verdict.saturation_tier, *caps)


@given(signals(), st.lists(st.sampled_from(TIERS), max_size=3))
def test_a_refused_tier_has_a_reason_and_an_accepted_one_none(given_signals, accepted):
    verdict = classify(given_signals)
    gap = quality_gap(verdict, accepted)
    if not accepted or verdict.tier.rank <= worst_tier(*accepted).rank:
        assert gap is None
        return
    assert (gap.reached, gap.required) == (verdict.tier, worst_tier(*accepted))
    assert gap.shortfalls or gap.capping_rules
    assert all(each.shortfall > 0 for each in gap.shortfalls)


@given(signals(), st.sampled_from(TIERS))
def test_what_is_told_of_the_relevance_closes_the_gap_of_the_score(given_signals, required):
    verdict = classify(given_signals)
    gap = quality_gap(verdict, [required])
    told = {} if gap is None else {each.signal: each.required for each in gap.shortfalls}
    relevance = told.get(QualitySignal.RELEVANCE_MEAN, 2.0)
    if relevance > 1 or not given_signals.total_facts_included:
        return
    better = replace(given_signals, relevance_scores=[relevance] * given_signals.total_facts_included)
    floor = told[QualitySignal.QUALITY_SCORE]
    assert classify(better).quality_score == pytest.approx(floor, abs=1e-7)


@given(signals(), st.floats(0, 1))
def test_a_fuller_envelope_is_never_worse(given_signals, saturation):
    fuller = replace(given_signals, saturation=max(saturation, given_signals.saturation))
    assert classify(fuller).tier.rank <= classify(given_signals).tier.rank
