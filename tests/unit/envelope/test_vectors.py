"""The committed vectors of CRP-SPEC-003, each against the domain."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from services.common.taxonomy import GroundingMode
from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.etag import envelope_etag
from services.envelope.domain.freshness import freshness_score, horizon_days
from services.envelope.domain.ordering import sandwich
from services.envelope.domain.packing import pack
from services.envelope.domain.quality_tier import TierSignals, classify
from services.envelope.domain.ranking import RankingTerms, rank
from services.envelope.domain.weights import RankWeights, effective_weights

FOLDER = Path(__file__).parents[2] / "vectors" / "envelope"
NOW = datetime(2026, 5, 24, tzinfo=UTC)
QUERY = np.eye(1, 4, dtype=np.float32)


def vectors(topic):
    found = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))["vectors"]
    return [pytest.param(vector["input"], vector["expected"], id=vector["test_id"]) for vector in found]


@pytest.mark.parametrize("topic", ["rank", "pack", "sandwich", "etag", "tier", "freshness"])
def test_files_follow_the_schema(topic):
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    document = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    ids = [vector["test_id"] for vector in document["vectors"]]
    assert (document["topic"], len(set(ids))) == (topic, len(ids))


def plain_fact(index, tokens=1, score=0.0):
    embedding = np.zeros(4, dtype=np.float32)
    candidate = Candidate(str(index), "", str(index), "s", tokens, 0.5, NOW, embedding)
    return RankedFact(candidate, 0.0, 0.0, 0.0, score)


def indices(facts):
    return [int(fact.candidate.fact_id) for fact in facts]


@pytest.mark.parametrize(("given", "expected"), vectors("freshness"))
def test_freshness(given, expected):
    horizon = horizon_days(365.0, time_sensitive=given["time_sensitive"])
    found = freshness_score(given["age_days"], horizon, stale=given["stale"])
    assert found == pytest.approx(expected["freshness_score"], abs=1e-9)


def ranked_input(fact):
    embedding = np.zeros(4, dtype=np.float32)
    embedding[0], embedding[fact["axis"]] = fact["relevance"], np.sqrt(1 - fact["relevance"] ** 2)
    return Candidate(
        fact_id=fact["fact_id"],
        content="",
        content_hash=fact["fact_id"],
        source_id="s",
        token_count=1,
        importance_weight=fact["importance_weight"],
        ingested_at=NOW - timedelta(days=fact["age_days"]),
        embedding=embedding,
        community=fact["community"],
    )


@pytest.mark.parametrize(("given", "expected"), vectors("rank"))
def test_rank(given, expected):
    sensitive = given["time_sensitive"]
    weights = effective_weights(RankWeights(), time_sensitive=sensitive, mode=GroundingMode(given["grounding_mode"]))
    terms = RankingTerms(weights, NOW, horizon_days(365.0, time_sensitive=sensitive))
    found = rank([ranked_input(fact) for fact in given["facts"]], QUERY, terms)
    assert [fact.candidate.fact_id for fact in found] == [entry["fact_id"] for entry in expected["order"]]
    for fact, entry in zip(found, expected["order"], strict=True):
        assert fact.diversity_bonus == pytest.approx(entry["diversity_bonus"], abs=1e-6)
        assert fact.composite_score == pytest.approx(entry["composite_score"], abs=2e-6)


@pytest.mark.parametrize(("given", "expected"), vectors("pack"))
def test_pack(given, expected):
    facts = [plain_fact(index, tokens) for index, tokens in enumerate(given["token_counts"])]
    packing = pack(facts, given["token_budget"])
    assert (indices(packing.included), packing.token_count) == (expected["included"], expected["token_count"])


@pytest.mark.parametrize(("given", "expected"), vectors("sandwich"))
def test_sandwich(given, expected):
    facts = [plain_fact(index, score=score) for index, score in enumerate(given["composite_scores"])]
    assert indices(sandwich(facts)) == expected["order"]


@pytest.mark.parametrize(("given", "expected"), vectors("etag"))
def test_etag(given, expected):
    assert envelope_etag(given["fact_ids"], given["salt"]) == expected["etag"]


@pytest.mark.parametrize(("given", "expected"), vectors("tier"))
def test_tier(given, expected):
    values = dict(given)
    relevance = values.pop("relevance")
    verdict = classify(TierSignals(relevance_scores=[relevance] * given["total_facts_included"], **values))
    assert (verdict.tier.name, [rule.value for rule in verdict.rules]) == (expected["quality_tier"], expected["rules"])
