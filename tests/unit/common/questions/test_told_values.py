"""What whoever asks tells of their own case, and which sentences ask (ADR 0213)."""

import pytest

from services.common.questions.told import question_sentences, told_values
from tests.each import each
from tests.speed import processor_time_below


@each(
    ("query", "told"),
    [
        ("I've lost the receipt for a £62 meal. Can I use the form?", ["£62"]),
        ("My flight has two legs, one of 5 hours and one of 4. May I fly premium?", ["two", "5 hours", "4"]),
        ("If my hotel is only £120, do I keep the rest up to £150?", ["£120"]),
        ("If I made 5 withdrawals this quarter what will it cost?", ["5"]),
        ("If I take 10 days off can I carry over 5?", ["10 days"]),
        ("What is it if I made 5 withdrawals?", []),
        ("If my boss says 5 days are left can I take them?", []),
        ("Is the fee £80?", []),
        ("Do I have to pay £80?", []),
        ("The fee is £80. Do I have to pay it?", []),
        ("I was told that the fee is £80. Is that right?", []),
        ("I read that it takes 5 days. Is that so?", []),
        ("do I have to pay a late fee of £80", []),
        ("My contract gives 30 days. Is that all?", []),
        ("", []),
    ],
)
def test_values_of_the_askers_own_case(query, told):
    assert [value.text for value, _ in told_values(query)] == told


@each(
    ("query", "asks"),
    [
        ("The fence fell. Can I claim? And how?", ("Can I claim?", "And how?")),
        ("how do I claim", ("how do I claim",)),
        (" ", ()),
    ],
)
def test_sentences_that_ask(query, asks):
    assert question_sentences(query) == asks


@pytest.mark.timed
def test_a_long_query_is_read_in_bounded_time():
    with processor_time_below(2.0):
        assert told_values("if my " * 100_000) == ()
