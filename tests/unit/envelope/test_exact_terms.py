"""What a query means as it is written, and which facts have it (ADR 0110)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.envelope.domain.exact_terms import LONGEST_QUERY_CHARS, MOST_TERMS, exact_shares, exact_terms
from tests.speed import processor_time_below

TERMS = [
    ("Where is form KH-4419?", ["kh-4419"]),
    ("What does retry_count do?", ["retry_count"]),
    ("If is_eof() is True, is it over?", ["is_eof"]),
    ("What changed in 3.12.11?", ["3.12.11"]),
    ("What is TestClient.app?", ["testclient.app"]),
    ('What means "no space left on device"?', ["no space left on device"]),
    ("What means \u201clarger work\u201d in the MPL?", ["larger work", "mpl"]),
    ("When do I need --force?", ["--force"]),
    ("exit code 2 of tar", ["2"]),
    ("max_redirects=0 ?", ["max_redirects=0"]),
    ("IS IT COVERED", []),
    ("How do I cancel my policy? It's urgent, don't wait.", []),
    ("", []),
]


@pytest.mark.parametrize(("query", "expected"), TERMS, ids=[query for query, _ in TERMS])
def test_terms(query, expected):
    assert list(exact_terms(query)) == expected


def test_a_text_to_be_read_has_none():
    assert exact_terms("code_1 " * (LONGEST_QUERY_CHARS // 7 + 1)) == ()


def test_there_is_a_limit():
    assert len(exact_terms(" ".join(f"code_{number}" for number in range(20)))) == MOST_TERMS


def test_a_term_is_no_part_of_a_longer_word_number_or_version():
    texts = [
        "Version 1.2.",
        "Version 1.2.3 and 11.2",
        "the retry_counts",
        "set retry_count: 3",
        "1,300 EUR",
        "300 EUR.",
    ]
    assert [share > 0 for share in exact_shares(["1.2"], texts)] == [True, False, False, False, False, False]
    assert [share > 0 for share in exact_shares(["retry_count"], texts)] == [False, False, False, True, False, False]
    assert [share > 0 for share in exact_shares(["300"], texts)] == [False, False, False, False, False, True]


def test_rare_terms_weigh_more_and_unknown_ones_nothing():
    texts = ["KH-1 and 5", "5 days", "5 EUR", "nothing"]
    shares = exact_shares(exact_terms("KH-1 within 5 or ZZ-9"), texts)
    assert shares[0] == pytest.approx(1.0)
    assert 0 < shares[1] == shares[2] < 0.5
    assert shares[3] == 0.0


def test_a_term_weighs_by_how_few_texts_hold_it():
    # BM25's weight of a term, log(1 + (N - n + 0.5) / (n + 0.5)): of four texts one holds KH-1, two hold 5.
    rare, common = math.log(1 + 3.5 / 1.5), math.log(1 + 2.5 / 2.5)
    shares = exact_shares(("kh-1", "5"), ["KH-1 alone", "5 days", "5 EUR", "nothing"])
    assert shares == pytest.approx([rare / (rare + common), *[common / (rare + common)] * 2, 0.0])
    assert exact_shares((), ["a", "b"]) == [0.0, 0.0]


def test_phrases_match_across_white_space_and_case():
    assert exact_shares(["no space left"], ["No  SPACE\nleft on device"]) == [pytest.approx(1.0)]


@given(st.text(max_size=200), st.lists(st.text(max_size=60), max_size=8))
def test_any_text_is_fine(query, texts):
    shares = exact_shares(exact_terms(query), texts)
    assert len(shares) == len(texts)
    assert all(0.0 <= share <= 1.0 + 1e-9 for share in shares)


@pytest.mark.timed
def test_hostile_queries_are_quick():
    with processor_time_below(5.0):
        for unit in ('"', "'", "a.", "_", "-", "\u201c", "1.1", "a'b "):
            exact_shares(exact_terms(unit * (LONGEST_QUERY_CHARS // len(unit))), ["x" * 5_000] * 200)
