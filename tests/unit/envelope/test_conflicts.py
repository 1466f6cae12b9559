"""What current sources disagree on, and what only looks like it (ADR 0109)."""

import time

import numpy as np
import pytest

from services.envelope.domain.conflicts import MAX_CONFLICTS, Stated, SubjectIndex, find_conflicts, near_another


def stated(*texts, sources=None, location=""):
    return [Stated(f"f{place}", (sources or "abcdefgh")[place % 8], text, location) for place, text in enumerate(texts)]


DISAGREE = [
    (("The registration fee is 10 EUR.", "The registration fee is 25 EUR."), ("10 EUR", "25 EUR")),
    (("The registration fee is 10 EUR.", "The registration fee amounts to 25 EUR now."), ("10 EUR", "25 EUR")),
    (("The registration fee is $10.", "Note. The registration fee is $12!"), ("$10", "$12")),
    (("Claims must be reported within 14 days.", "Claims must be reported within 10 days."), ("14 days", "10 days")),
    (("Plan: Basic; Price: 10 EUR", "Plan: Basic; Price: 12 EUR"), ("10 EUR", "12 EUR")),
    (
        ("The deadline for entries is 3 May 2026.", "The deadline for entries is 2026-05-10."),
        ("3 May 2026", "2026-05-10"),
    ),
    (("Interest on arrears is 5 %.", "Interest on arrears is 6 per cent."), ("5 %", "6 per cent")),
    (("A parcel up to 2 kg costs 5 EUR.", "A parcel up to 2 kg costs 6 EUR."), ("5 EUR", "6 EUR")),
    (("At most 25 guests may enter the hall.", "At most 30 guests may enter the hall."), ("25", "30")),
]


@pytest.mark.parametrize(("texts", "values"), DISAGREE)
def test_different_values_for_the_same_thing(texts, values):
    (conflict,) = find_conflicts(stated(*texts))
    assert tuple(side.text for side in conflict.sides) == values
    assert conflict.is_between_sources
    for side, text in zip(conflict.sides, texts, strict=True):
        assert text[side.start : side.end].strip() == side.text


AGREE = [
    ("Claims must be reported within 14 days.", "Claims must be reported within two weeks."),
    ("The standard fee is 10 EUR.", "The express fee is 25 EUR."),
    ("A parcel up to 2 kg costs 5 EUR.", "A parcel up to 5 kg costs 9 EUR."),
    ("The registration fee is 10 EUR.", "The registration fee is not 25 EUR."),
    ("The deposit is at least 10 EUR.", "The deposit is at most 25 EUR."),
    ("The registration fee is 10 EUR.", "The registration fee is 25 days old."),
    ("Plan: Basic; Price: 10 EUR", "Plan: Pro; Price: 12 EUR"),
    ("Price: 10 EUR", "Price: 12 EUR"),
    ("Page MM-02-old of the handbook.", "Page MM-16-old of the handbook."),
    ("Decision: option 3 of the list.", "Decision: option 2 of the list."),
    ("See section 4.2 of the manual.", "See section 5.1 of the manual."),
    ("The fee for students in 2025 was 10 EUR.", "The fee for students in 2026 was 12 EUR."),
    ("The fee in Kiel is 10 EUR.", "The fee in Bonn is 12 EUR."),
    ("The registration fee is 10 EUR.", "The registration fee is 10.00 euros."),
]


@pytest.mark.parametrize("texts", AGREE)
def test_no_disagreement(texts):
    assert find_conflicts(stated(*texts)) == ()


def test_headings_tell_things_apart():
    facts = [
        Stated("f1", "a", "The meal allowance is 20 euros.", "# Travel > ## Germany"),
        Stated("f2", "a", "The meal allowance is 30 euros.", "# Travel > ## France"),
        Stated("f3", "b", "The meal allowance is 25 euros.", "# Other title > ## Germany"),
    ]
    (conflict,) = find_conflicts(facts)
    assert [side.fact_id for side in conflict.sides] == ["f1", "f3"]


def test_a_document_may_disagree_with_itself_and_comes_behind_two_that_do():
    own = stated("The parking fee is 2 EUR.", "The parking fee is 3 EUR.", sources="aaaaaaaa")
    others = [Stated("x", "b", "The entry fee is 5 EUR."), Stated("y", "c", "The entry fee is 6 EUR.")]
    assert [one.is_between_sources for one in find_conflicts([*own, *others])] == [True, False]


def test_a_series_is_no_disagreement():
    assert find_conflicts(stated(*(f"The fee for the course is {number} EUR." for number in range(4)))) == ()


def test_rows_of_one_document_are_two_tables():
    rows = ("Plan: Basic; Price: 10 EUR", "Plan: Basic; Price: 12 EUR")
    assert find_conflicts(stated(*rows, sources="aaaaaaaa")) == ()


def test_it_is_bounded_and_linear():
    names = [f"item{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(2_000)]
    facts = [
        Stated(f"{source}{name}", source, f"The fee for {name} at the desk is {bonus} EUR.")
        for name in names
        for source, bonus in (("a", 1), ("b", 2))
    ]
    start = time.process_time()
    assert len(find_conflicts(facts)) == MAX_CONFLICTS
    assert time.process_time() - start < 5.0


def test_only_what_is_like_another_fact_is_read():
    vectors = np.eye(4, dtype=np.float32)
    vectors[3] = vectors[0] * 0.9 + vectors[1] * np.sqrt(1 - 0.81)
    assert near_another(vectors).tolist() == [True, False, False, True]
    assert near_another(np.empty((0, 4), dtype=np.float32)).tolist() == []


@pytest.mark.parametrize("capacity", [1, 100])
def test_the_index_gives_the_same_conflicts_and_keeps_numbers_alone(capacity):
    index = SubjectIndex(capacity)
    texts = [text for pair, _ in DISAGREE for text in pair]
    facts = [Stated(f"f{place}", f"s{place}", text) for place, text in enumerate(texts)]
    for _ in range(2):
        shared = index.sharing(facts)
        assert find_conflicts(shared) == find_conflicts(facts)
    assert all(isinstance(number, int) for numbers in index._known.values() for number in numbers)
    assert index.sharing([Stated("a", "s", "The club house is open."), Stated("b", "t", "It costs 5 euros.")]) == []
