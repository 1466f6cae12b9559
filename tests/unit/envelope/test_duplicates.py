"""Facts that are alike and state different values (SPEC-003 §6.6, ADR 0063)."""

import json
import time
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.envelope.domain.duplicates import differ_in_values

FOLDER = Path(__file__).parents[2] / "vectors" / "envelope"
DOCUMENT = json.loads((FOLDER / "duplicates.json").read_text(encoding="utf-8"))
LONG = 32_768
HOSTILE = ["1", "1 ", "$", "may ", "A", "1,", "one ", "1 may ", ".", " ", "1-", "A.", "\n", "(", "1 Mar 2", "-"]


def test_the_vectors_follow_the_schema():
    jsonschema.validate(DOCUMENT, json.loads((FOLDER / "schema.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("vector", DOCUMENT["vectors"], ids=lambda vector: vector["test_id"])
def test_vector(vector):
    first, second = vector["input"]["first"], vector["input"]["second"]
    expected = vector["expected"]["differ_in_values"]
    assert (differ_in_values(first, second), differ_in_values(second, first)) == (expected, expected)


@given(st.text(), st.text())
def test_it_is_symmetric_and_no_text_differs_from_itself(first, second):
    assert differ_in_values(first, second) == differ_in_values(second, first)
    assert not differ_in_values(first, first)


@pytest.mark.parametrize("unit", HOSTILE, ids=repr)
def test_its_time_grows_with_the_text_and_no_faster(unit):
    text = (unit * LONG)[:LONG]
    started = time.process_time()
    differ_in_values(text, text)
    assert time.process_time() - started < 4.0  # coverage doubles it; what grows with the square takes minutes
