"""Phase 3 with the specification's numbers (SPEC-003 §7-§9)."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from services.common.taxonomy import QualityTier
from services.envelope.domain.assembly import PackingTerms, assemble
from services.envelope.domain.budget import BudgetTerms, token_budget
from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.etag import envelope_etag
from services.envelope.domain.ordering import sandwich
from services.envelope.domain.packing import pack
from services.envelope.domain.quality_tier import TierRule, TierSignals, accepts, classify
from services.envelope.domain.ranking import RankingTerms
from services.envelope.domain.saturation import is_sparse, is_under_pressure, recommends_reuse, saturation
from services.envelope.domain.weights import RankWeights
from tests.each import each

NOW = datetime(2026, 5, 24, tzinfo=UTC)


def ranked(name, score, tokens=10):
    candidate = Candidate(name, name, name, "s", tokens, 0.7, NOW, np.zeros(1, dtype=np.float32))
    return RankedFact(candidate, 0.5, 1.0, 1.0, score)


def names(facts):
    return [fact.candidate.fact_id for fact in facts]


def test_budget_is_what_the_context_window_leaves():
    terms = BudgetTerms(128_000, 300, 40, 2048, 512)
    assert token_budget(terms) == 125_100
    assert token_budget(BudgetTerms(128_000, 300, 40, 2048, 512, ceiling_tokens=1000)) == 1000
    assert token_budget(BudgetTerms(2_000, 300, 40, 2048, 512)) == -900


def test_packing_goes_on_after_a_fact_that_does_not_fit():
    packing = pack([ranked("a", 0.9, 60), ranked("b", 0.8, 50), ranked("c", 0.7, 40)], 100)
    assert (names(packing.included), names(packing.excluded), packing.token_count) == (["a", "c"], ["b"], 100)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.95, 0.90, 0.85, 0.82, 0.60, 0.55, 0.40, 0.30], "adghefbc"),
        ([0.95, 0.90, 0.60, 0.40], "abdc"),
        ([0.95, 0.60, 0.40], "acb"),
        ([0.60, 0.40], "ba"),
        ([0.80, 0.50, 0.4999], "acb"),
        ([], ""),
    ],
)
def test_sandwich_is_the_list_expression_and_repeats_nothing(scores, expected):
    facts = [ranked(name, score) for name, score in zip("abcdefgh", scores, strict=False)]
    assert "".join(names(sandwich(facts))) == expected


def test_etag_is_that_of_the_specification_and_ignores_order():
    digest = hashlib.sha256(b"f1|f2|f3|3").hexdigest()
    assert envelope_etag(["f2", "f3", "f1"]) == f"sha256:{digest}"
    assert envelope_etag([]) == "sha256:" + hashlib.sha256(b"|0").hexdigest()
    assert envelope_etag(["f1"], salt="crp_sess_1") != envelope_etag(["f1"])


def signals(**changes):
    values: dict[str, Any] = {
        "total_facts_available": 10,
        "total_facts_included": 10,
        "saturation": 1.0,
        "relevance_scores": [1.0] * 10,
    }
    return TierSignals(**(values | changes))


@each(
    ("changes", "tier", "rules"),
    [
        ({}, "S", ()),
        ({"saturation": 0.98}, "A", ()),
        ({"saturation": 0.94}, "B", ()),
        ({"saturation": 0.84}, "C", ()),
        ({"saturation": 0.69}, "C", ("SATURATION_LOW",)),
        ({"relevance_scores": [0.8] * 10}, "A", ()),
        ({"relevance_scores": [0.5] * 10}, "B", ()),
        ({"total_facts_included": 5, "relevance_scores": [0.5] * 5}, "C", ()),
        ({"total_facts_included": 2, "relevance_scores": [1.0] * 2}, "D", ("COVERAGE_LOW",)),
        ({"total_facts_included": 3, "relevance_scores": [1.0] * 3}, "B", ()),
        ({"critical_fact_excluded": True}, "B", ("CRITICAL_FACT_EXCLUDED",)),
        ({"primary_community_included": False}, "C", ("PRIMARY_COMMUNITY_ABSENT",)),
        ({"primary_community_included": True}, "S", ()),
        ({"time_sensitive": True, "newest_age_days": 90.5}, "C", ("FRESHNESS_FAILED",)),
        ({"time_sensitive": True, "newest_age_days": 90.0}, "S", ()),
        ({"time_sensitive": False, "newest_age_days": 400.0}, "S", ()),
        ({"context_strict": True, "saturation": 0.79}, "C", ("STRICT_SATURATION_LOW",)),
        (
            {"context_strict": True, "saturation": 0.10, "total_facts_available": 100},
            "D",
            ("COVERAGE_LOW", "SATURATION_LOW", "STRICT_SATURATION_LOW"),
        ),
    ],
)
def test_tier(changes, tier, rules):
    verdict = classify(signals(**changes))
    assert (verdict.tier.name, tuple(rule.value for rule in verdict.rules)) == (tier, rules)


def test_quality_score_is_the_weighted_sum():
    verdict = classify(signals(total_facts_included=6, saturation=0.9, relevance_scores=[0.5] * 6))
    assert verdict.quality_score == pytest.approx(0.6 * 0.35 + 0.9 * 0.30 + 0.5 * 0.35)
    assert (verdict.coverage_score, verdict.relevance_mean) == (0.6, 0.5)
    assert (verdict.score_tier, verdict.saturation_tier) == (QualityTier.C, QualityTier.B)


def test_an_empty_envelope_is_deficient():
    verdict = classify(signals(total_facts_available=0, total_facts_included=0, saturation=0.0, relevance_scores=[]))
    assert (verdict.tier, verdict.relevance_mean) == (QualityTier.D, None)
    assert verdict.rules == (TierRule.COVERAGE_LOW, TierRule.SATURATION_LOW)


@pytest.mark.parametrize(
    ("accepted", "tier", "expected"),
    [("", "D", True), ("SA", "A", True), ("SA", "B", False), ("B", "S", True), ("C", "D", False)],
)
def test_a_list_of_tiers_takes_all_from_its_worst_up(accepted, tier, expected):
    assert accepts([QualityTier[name] for name in accepted], QualityTier[tier]) is expected


def test_saturation_and_what_follows():
    assert saturation(105_816, 106_455) == pytest.approx(0.994, abs=5e-4)
    assert (recommends_reuse(0.95), recommends_reuse(0.949)) == (True, False)
    assert (is_sparse(0.699), is_sparse(0.70)) == (True, False)
    assert (is_under_pressure(0.98, 1), is_under_pressure(0.98, 0), is_under_pressure(0.97, 5)) == (True, False, False)


def candidate(name, axis, **changes):
    embedding = np.zeros(8, dtype=np.float32)
    embedding[axis] = 1.0
    values: dict[str, Any] = {"importance_weight": 0.7, "token_count": 10, "community": "c", **changes}
    return Candidate(
        fact_id=name,
        content=name,
        content_hash=name,
        source_id="s",
        ingested_at=NOW,
        embedding=embedding,
        **values,
    )


def test_a_critical_fact_left_out_caps_the_tier_and_is_deferred():
    query = np.eye(1, 8, dtype=np.float32)
    terms = PackingTerms(RankingTerms(RankWeights(), NOW, 365.0), token_budget=10)
    found = assemble([candidate("a", 0), candidate("b", 1, importance_weight=0.9, token_count=20)], query, terms)
    assert (names(found.facts), names(found.excluded)) == (["a"], ["b"])
    assert TierRule.CRITICAL_FACT_EXCLUDED in found.verdict.rules
    assert (found.saturation, found.under_pressure) == (1.0, True)


def test_carried_text_is_not_the_newest_knowledge():
    query = np.eye(1, 8, dtype=np.float32)
    terms = PackingTerms(RankingTerms(RankWeights(), NOW, 365.0), token_budget=100)
    found = assemble([candidate("a", 0, carried_from_window_id="w1", community="")], query, terms)
    assert (found.newest_ingested_at, found.communities) == (None, ())
