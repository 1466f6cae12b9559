"""One score of two lists: the committed vectors, and what holds of any lists (SPEC-003 §5.2, ADR 0110)."""

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.envelope.domain.fusion import blend, scaled

FOLDER = Path(__file__).parents[2] / "vectors" / "envelope"
DOCUMENT = json.loads((FOLDER / "blend.json").read_text(encoding="utf-8"))
COSINES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1), min_size=1)


def test_the_file_follows_the_schema():
    jsonschema.validate(DOCUMENT, json.loads((FOLDER / "schema.json").read_text(encoding="utf-8")))
    ids = [vector["test_id"] for vector in DOCUMENT["vectors"]]
    assert (DOCUMENT["topic"], len(set(ids))) == ("blend", len(ids))


@pytest.mark.parametrize("vector", DOCUMENT["vectors"], ids=lambda vector: vector["test_id"])
def test_vectors(vector):
    assert blend(**vector["input"]) == pytest.approx(vector["expected"]["scores"], abs=1e-12)


@given(COSINES, st.floats(0, 1), st.data())
def test_every_fact_of_both_lists_has_a_share(cosines, weight, data):
    known = sorted(cosines)
    nearest = sorted(data.draw(st.lists(st.sampled_from(known), unique=True)), key=lambda key: -cosines[key])
    words = data.draw(st.dictionaries(st.sampled_from(known), st.floats(0.001, 50)))
    found = blend(nearest, cosines, words, words_weight=weight)
    assert set(found) == {*nearest, *words}
    assert all(0.0 <= score <= 1.0 for score in found.values())


@given(COSINES, st.floats(0, 1))
def test_what_is_first_in_both_lists_is_first(cosines, weight):
    nearest = sorted(cosines, key=lambda key: -cosines[key])
    words = {key: 10.0 - place for place, key in enumerate(nearest)}
    found = blend(nearest, cosines, words, words_weight=weight)
    assert found[nearest[0]] == pytest.approx(max(found.values()))


def test_equal_scores_are_all_there_is():
    assert scaled([2.0, 2.0, 1.0], 2.0, 2.0) == [1.0, 1.0, 0.0]
    assert blend(["a"], {"a": 0.0}, {}, words_weight=0.3) == {"a": 1.0}
    assert blend([], {}, {}, words_weight=0.3) == {}
