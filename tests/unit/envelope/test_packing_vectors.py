"""Phase 3, tiers, saturation, weights and temporal words against vectors worked in exact fractions (SPEC-003)."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from services.common.taxonomy import GroundingMode
from services.envelope.domain.assembly import PackingTerms, assemble
from services.envelope.domain.budget import BudgetTerms, token_budget
from services.envelope.domain.candidates import Candidate
from services.envelope.domain.quality_tier import TierSignals, classify
from services.envelope.domain.ranking import RankingTerms
from services.envelope.domain.saturation import (
    is_sparse,
    is_under_pressure,
    recommends_reuse,
    saturation,
    saturation_band,
)
from services.envelope.domain.temporal import is_time_sensitive
from services.envelope.domain.weights import RankWeights, effective_weights
from tests.each import each

FOLDER = Path(__file__).parents[2] / "vectors" / "envelope"
TOPICS = ["budget", "gap", "score", "saturation", "weights", "temporal", "envelope"]
NOW = datetime(2026, 5, 24, tzinfo=UTC)
BY_RELEVANCE = RankWeights(1.0, 0.0, 0.0, 0.0)
DIMENSION = 12


def document(topic):
    return json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))


def vectors(topic):
    found = document(topic)["vectors"]
    return [pytest.param(vector["input"], vector["expected"], id=vector["test_id"]) for vector in found]


@pytest.mark.parametrize("topic", TOPICS)
def test_files_follow_the_schema(topic):
    whole = document(topic)
    jsonschema.validate(whole, document("schema"))
    ids = [vector["test_id"] for vector in whole["vectors"]]
    assert (whole["topic"], len(set(ids))) == (topic, len(ids))


@pytest.mark.parametrize(("given", "expected"), vectors("budget"))
def test_budget(given, expected):
    assert token_budget(BudgetTerms(**given)) == expected["token_budget"]


@pytest.mark.parametrize(("given", "expected"), vectors("score"))
def test_score(given, expected):
    values = dict(given)
    relevance = values.pop("relevance")
    verdict = classify(TierSignals(relevance_scores=[relevance] * given["total_facts_included"], **values))
    assert verdict.coverage_score == pytest.approx(expected["coverage_score"], abs=1e-9)
    assert verdict.quality_score == pytest.approx(expected["quality_score"], abs=1e-9)
    tiers = (verdict.score_tier.name, verdict.saturation_tier.name, verdict.tier.name)
    assert tiers == (expected["score_tier"], expected["saturation_tier"], expected["quality_tier"])


@each(("given", "expected"), vectors("saturation"))
def test_saturation(given, expected):
    value = saturation(given["token_count"], given["token_budget"])
    assert value == pytest.approx(expected["saturation"], abs=1e-9)
    found = (
        saturation_band(value),
        recommends_reuse(value),
        is_sparse(value),
        is_under_pressure(value, given["unpacked"]),
    )
    assert found == tuple(expected[name] for name in ("band", "reuse_recommended", "sparse", "under_pressure"))


@each(("given", "expected"), vectors("weights"))
def test_weights(given, expected):
    mode = GroundingMode(given["grounding_mode"])
    found = effective_weights(RankWeights(*given["defaults"]), time_sensitive=given["time_sensitive"], mode=mode)
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=1e-9)
    assert found.total == pytest.approx(1.0)


@pytest.mark.parametrize(("given", "expected"), vectors("temporal"))
def test_temporal(given, expected):
    assert is_time_sensitive(given["query"], given["present_year"]) is expected["time_sensitive"]


def candidate(fact, axis):
    """A fact whose cosine with the query, the first axis, is its relevance; no two are duplicates of each other."""
    embedding = np.zeros(DIMENSION, dtype=np.float32)
    embedding[0], embedding[axis] = fact["relevance"], np.sqrt(1 - fact["relevance"] ** 2)
    return Candidate(
        fact_id=fact["fact_id"],
        content=fact["fact_id"],
        content_hash=fact["fact_id"],
        source_id=fact["fact_id"],
        token_count=fact["token_count"],
        importance_weight=fact["importance_weight"],
        ingested_at=NOW - timedelta(days=fact["age_days"]),
        embedding=embedding,
        community=fact["community"],
    )


@each(("given", "expected"), vectors("envelope"))
def test_envelope(given, expected):
    terms = PackingTerms(
        RankingTerms(BY_RELEVANCE, NOW, 365.0),
        given["token_budget"],
        time_sensitive=given["time_sensitive"],
        context_strict=given["context_strict"],
    )
    facts = [candidate(fact, axis) for axis, fact in enumerate(given["facts"], start=1)]
    found = assemble(facts[::-1], np.eye(1, DIMENSION, dtype=np.float32), terms)
    verdict = found.verdict
    assert [fact.candidate.fact_id for fact in found.facts] == expected["facts"]
    assert [fact.candidate.fact_id for fact in found.excluded] == expected["deferred"]
    assert (found.token_count, found.etag) == (expected["token_count"], expected["etag"])
    assert (verdict.tier.name, [rule.value for rule in verdict.rules]) == (expected["quality_tier"], expected["rules"])
    assert found.under_pressure is expected["under_pressure"]
    numbers = (found.saturation, verdict.coverage_score, verdict.relevance_mean or 0.0, verdict.quality_score)
    names = ("saturation", "coverage_score", "relevance_mean", "quality_score")
    assert numbers == pytest.approx(tuple(expected[name] for name in names), abs=1e-6)
