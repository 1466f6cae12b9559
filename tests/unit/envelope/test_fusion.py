"""Reciprocal rank fusion: the committed vectors, and what holds of any rankings."""

import itertools
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.envelope.domain.fusion import RANK_CONSTANT, fuse

FOLDER = Path(__file__).parents[2] / "vectors" / "envelope"
DOCUMENT = json.loads((FOLDER / "fusion.json").read_text(encoding="utf-8"))
RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=3)


def test_the_file_follows_the_schema():
    jsonschema.validate(DOCUMENT, json.loads((FOLDER / "schema.json").read_text(encoding="utf-8")))
    ids = [vector["test_id"] for vector in DOCUMENT["vectors"]]
    assert (DOCUMENT["topic"], len(set(ids))) == ("fusion", len(ids))


@pytest.mark.parametrize("vector", DOCUMENT["vectors"], ids=lambda vector: vector["test_id"])
def test_vectors(vector):
    given_, expected = vector["input"], vector["expected"]
    found = fuse(given_["rankings"], constant=given_["constant"])
    assert len(found) == expected["count"]
    shown = found[: len(expected["fused"])]
    assert [key for key, _ in shown] == [key for key, _ in expected["fused"]]
    assert [score for _, score in shown] == pytest.approx([score for _, score in expected["fused"]], abs=1e-15)


def test_sixty_is_the_constant():
    assert RANK_CONSTANT == 60
    assert fuse([["a"]]) == fuse([["a"]], constant=60)


@given(RANKINGS)
def test_the_order_of_the_rankings_does_not_count(rankings):
    orders = {tuple(key for key, _ in fuse(list(each))) for each in itertools.permutations(rankings)}
    assert len(orders) <= 1 or rankings == []


@given(RANKINGS)
def test_every_id_once_best_first_ties_by_id(rankings):
    found = fuse(rankings)
    assert sorted(key for key, _ in found) == sorted({key for ranking in rankings for key in ranking})
    assert found == sorted(found, key=lambda scored: (-scored[1], scored[0]))
