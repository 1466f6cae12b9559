"""Facts that are alike and state different values (SPEC-003 §6.6, ADR 0063)."""

import json
from pathlib import Path
from unittest import mock

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.envelope.domain import duplicates
from services.envelope.domain.duplicates import Namings, Statements, differ_in_values
from tests.each import each
from tests.speed import processor_time_below

FOLDER = Path(__file__).parents[2] / "vectors" / "envelope"
DOCUMENT = json.loads((FOLDER / "duplicates.json").read_text(encoding="utf-8"))
LONG = 32_768
HOSTILE = ["1", "1 ", "$", "may ", "A", "1,", "one ", "1 may ", ".", " ", "1-", "A.", "\n", "(", "1 Mar 2", "-"]


def test_the_vectors_follow_the_schema():
    jsonschema.validate(DOCUMENT, json.loads((FOLDER / "schema.json").read_text(encoding="utf-8")))


@each("vector", DOCUMENT["vectors"], ids=lambda vector: vector["test_id"])
def test_vector(vector):
    first, second = vector["input"]["first"], vector["input"]["second"]
    expected = vector["expected"]["differ_in_values"]
    assert (differ_in_values(first, second), differ_in_values(second, first)) == (expected, expected)


@given(st.text(), st.text())
def test_it_is_symmetric_and_no_text_differs_from_itself(first, second):
    assert differ_in_values(first, second) == differ_in_values(second, first)
    assert not differ_in_values(first, first)


@pytest.mark.timed
@pytest.mark.whole
@each("unit", HOSTILE, ids=repr)
def test_its_time_grows_with_the_text_and_no_faster(unit):
    text = (unit * LONG)[:LONG]
    with processor_time_below(4.0):  # coverage doubles it; what grows with the square takes minutes
        differ_in_values(text, text)


@pytest.mark.parametrize(
    "text",
    ["N\u0130NE of them", "f\u0131ve", "3 \u017fep 2024", "10 pound\u017f", "\u017feptember 3", "$5 dollar\u017f"],
)
def test_letters_that_only_resemble_those_of_a_known_word_are_read_as_others(text):
    assert differ_in_values(f"{text} and 7", f"{text} and 8")
    assert not differ_in_values(text, text)


WORDS = """Alpha Beta the limit must may not never rise fall at least most 30 days 1 month EUR 5 $7 one day on 3 March
    2024 2024-03-03 in May Paris. London accepts rejects 5% twelve""".split()  # noqa: SIM905 - a word list
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@given(st.lists(texts, min_size=2, max_size=12))
def test_many_texts_at_once_differ_as_two_alone_do(many):
    firsts, seconds = np.triu_indices(len(many), 1)
    found = Statements(many).differ(firsts, seconds)
    pairs = zip(firsts.tolist(), seconds.tolist(), strict=True)
    assert found.tolist() == [differ_in_values(many[first], many[second]) for first, second in pairs]


class CountedTexts(list):
    """A list that counts how often each of its places is read."""

    def __init__(self, given):
        super().__init__(given)
        self.reads = [0] * len(given)

    def __getitem__(self, place):
        self.reads[place] += 1
        return super().__getitem__(place)


@pytest.mark.parametrize(
    ("form", "differs", "reads"),
    [("The limit is {} days.", True, 1), ("The limit is 30 days.", False, 2), ("The limit of {0:c}x is 30.", True, 3)],
    ids=["other figures", "the same", "other names"],
)
def test_a_text_is_read_only_as_far_as_its_pairs_ask_and_never_twice(form, differs, reads):
    many = CountedTexts([form.format(number) for number in range(65, 91)])
    firsts, seconds = np.triu_indices(len(many), 1)
    statements = Statements(many)
    for part in range(0, len(firsts), 40):
        assert set(statements.differ(firsts[part : part + 40], seconds[part : part + 40]).tolist()) == {differs}
    assert many.reads == [reads] * len(many)  # figures, words, names


def test_a_text_without_pairs_is_not_read():
    many = CountedTexts(["one", "two", "three"])
    Statements(many).differ(np.array([0]), np.array([2]))
    assert many.reads[1] == 0


names = st.frozensets(st.integers(0, 12).map(str), max_size=8)


@given(st.lists(st.tuples(names, names), min_size=2, max_size=9), st.sampled_from([0, 70, 9_000]), st.booleans())
def test_names_are_compared_as_sets(given_sets, more, keeps):
    held = [(own, own | other) for own, other in given_sets]
    held[0] = tuple(found | {f"other {number}" for number in range(more)} for found in held[0])
    firsts, seconds = np.triu_indices(len(held), 1)
    with mock.patch.object(duplicates, "_BITS_KEPT", duplicates._BITS_KEPT if keeps else -1):
        found = Namings(*zip(*held, strict=True)).lack_each_other(firsts, seconds)
    assert found.tolist() == [
        bool(held[first][0] - held[second][1]) and bool(held[second][0] - held[first][1])
        for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True)
    ]
