"""The committed vectors of ranking and of the state hash, each formula against exact fractions (SPEC-003 §6, §11.3)."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from services.common.ports.fact_changes import StateChanges, StateRow
from services.common.ports.facts import FactStatus, StateEntry
from services.common.taxonomy import GroundingMode
from services.envelope.domain.candidates import Candidate
from services.envelope.domain.freshness import horizon_days
from services.envelope.domain.ranking import RankingTerms, diversity_bonus, rank, relevance_scores
from services.envelope.domain.state import StateIndex, state_hash
from services.envelope.domain.weights import RankWeights, effective_weights
from tests.each import each

FOLDER = Path(__file__).parents[2] / "vectors" / "envelope"
TOPICS = ["composite", "relevance", "diversity", "greedy", "similarity", "state"]
NOW = datetime(2026, 5, 24, tzinfo=UTC)
QUERY = np.eye(1, 12, dtype=np.float32)
TERMS = RankingTerms(RankWeights(), NOW, 365.0)


def vectors(topic):
    found = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))["vectors"]
    return [pytest.param(vector["input"], vector["expected"], id=vector["test_id"]) for vector in found]


@pytest.mark.parametrize("topic", TOPICS)
def test_files_follow_the_schema(topic):
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    document = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    ids = [vector["test_id"] for vector in document["vectors"]]
    assert (document["topic"], len(set(ids))) == (topic, len(ids))


def fact(fact_id, cosine, axis=1, **changes):
    """A candidate with this cosine to the query; the rest of its vector lies on an axis of its own."""
    embedding = np.zeros(12, dtype=np.float32)
    embedding[0], embedding[axis] = cosine, np.sqrt(max(0.0, 1 - cosine**2))
    values: dict[str, Any] = {
        "source_id": "s",
        "token_count": 1,
        "importance_weight": 0.5,
        "ingested_at": NOW,
        "community": "x",
    }
    return Candidate(fact_id=fact_id, content="", content_hash=fact_id, embedding=embedding, **(values | changes))


@each(("given", "expected"), vectors("composite"))
def test_composite(given, expected):
    sensitive = given["time_sensitive"]
    weights = effective_weights(RankWeights(), time_sensitive=sensitive, mode=GroundingMode(given["grounding_mode"]))
    numerator, denominator = given["cosine"]
    one = fact(
        "a",
        numerator / denominator,
        importance_weight=given["importance_weight"],
        ingested_at=NOW - timedelta(days=given["age_days"]),
        status=FactStatus.STALE if given["stale"] else FactStatus.ACTIVE,
    )
    [found] = rank([one], QUERY, RankingTerms(weights, NOW, horizon_days(365.0, time_sensitive=sensitive)))
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=1.5e-6)


def rational(rows):
    return np.array([[numerator / denominator for numerator, denominator in row] for row in rows], dtype=np.float32)


@each(("given", "expected"), vectors("relevance"))
def test_relevance(given, expected):
    [found] = relevance_scores(rational(given["queries"]), rational([given["fact"]]))
    assert found == expected["relevance_score"]


@pytest.mark.parametrize(("given", "expected"), vectors("diversity"))
def test_diversity(given, expected):
    total = given["total"]
    assert [round(diversity_bonus(selected, total), 6) for selected in range(min(total, 12))] == expected["bonuses"]


@pytest.mark.parametrize(("given", "expected"), vectors("greedy"))
def test_greedy(given, expected):
    facts = [
        fact(
            one["fact_id"],
            one["cosine"][0] / one["cosine"][1],
            axis,
            importance_weight=one["importance_weight"],
            community=one["community"],
        )
        for axis, one in enumerate(given["facts"], start=1)
    ]
    for order in (facts, facts[::-1]):
        found = rank(order, QUERY, TERMS)
        assert [entry.candidate.fact_id for entry in found] == [entry["fact_id"] for entry in expected["order"]]
        for entry, wanted in zip(found, expected["order"], strict=True):
            assert entry.diversity_bonus == pytest.approx(wanted["diversity_bonus"], abs=1e-6)
            assert entry.composite_score == pytest.approx(wanted["composite_score"], abs=1.5e-6)


@each(("given", "expected"), vectors("similarity"))
def test_similarity(given, expected):
    near, far, length = given["cosine"]
    first, second = np.zeros((2, 12), dtype=np.float32)
    first[1], second[1], second[2] = 1.0, near / length, far / length
    weights = given["importance_weights"]
    facts = [
        Candidate(name, "", name, "s", 1, weight, NOW, vector, community="x")
        for name, weight, vector in (("a", weights[0], first), ("b", weights[1], second))
    ]
    terms = RankingTerms(RankWeights(0.0, 1.0, 0.0, 0.0), NOW, 365.0)
    assert [entry.candidate.fact_id for entry in rank(facts, QUERY, terms)] == expected["kept"]


@pytest.mark.parametrize(("given", "expected"), vectors("state"))
def test_state(given, expected):
    rows = [
        StateRow(
            number,
            one["community"],
            StateEntry(
                one["fact_id"],
                one["content_hash"],
                datetime.fromisoformat(one["modified_at"]),
                FactStatus(one["status"]),
            ),
        )
        for number, one in enumerate(given["facts"])
    ]
    wanted = frozenset({"", *given["communities"]}) if given["communities"] else None
    index = StateIndex()
    index.apply(StateChanges(1, starts_over=True, removed=(), changed=(), added=rows[:2]), wanted)
    index.apply(StateChanges(2, starts_over=False, removed=(), changed=rows[2:], added=()), wanted)
    assert state_hash(index.entries(wanted), given["epoch"], given["embedding_model"]) == expected["state_hash"]
