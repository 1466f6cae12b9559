"""The time that a question is about (ADR 0224)."""

from datetime import date

import pytest

from services.common.questions.times import AskedTime, asked_time

MARCH = date(2027, 3, 1)


@pytest.mark.parametrize(
    ("question", "first", "last", "rest"),
    [
        ("What will sick pay be from March 2027?", MARCH, None, "What will sick pay be?"),
        ("How much is sick pay in April 2027?", date(2027, 4, 1), date(2027, 4, 30), "How much is sick pay?"),
        ("How much will sick pay be after 1 March 2027?", MARCH, None, "How much will sick pay be?"),
        ("As of 1 March 2027, how much is sick pay?", MARCH, None, "how much is sick pay?"),
        ("What is sick pay from 1 March 2027 onwards?", MARCH, None, "What is sick pay?"),
        ("What is sick pay on 2027-03-01?", MARCH, MARCH, "What is sick pay?"),
        ("What is sick pay in Q2 2027?", date(2027, 4, 1), date(2027, 6, 30), "What is sick pay?"),
        ("What is sick pay in 2027?", date(2027, 1, 1), date(2027, 12, 31), "What is sick pay?"),
        ("How much sick pay will staff get next year?", None, None, "How much sick pay will staff get?"),
        ("What was sick pay from 2020 to 2022?", date(2020, 1, 1), date(2022, 12, 31), "What was sick pay?"),
        ("What was sick pay from 2020 \u2013 2022?", date(2020, 1, 1), date(2022, 12, 31), "What was sick pay?"),
        ("What was sick pay between 2024 and 2025?", date(2024, 1, 1), date(2025, 12, 31), "What was sick pay?"),
        ("From 1 March 2027 until May 2028, what is sick pay?", MARCH, date(2028, 5, 31), "what is sick pay?"),
        ("What is sick pay from 2027 to 2020?", date(2027, 1, 1), None, "What is sick pay to 2020?"),
        ("What was the sick pay of March 2024?", date(2024, 3, 1), date(2024, 3, 31), "What was the sick pay?"),
        ("What did the rules of 2024 say?", date(2024, 1, 1), date(2024, 12, 31), "What did the rules say?"),
        ("What is sick pay from the beginning of 2027?", date(2027, 1, 1), None, "What is sick pay?"),
        ("What is sick pay since 2024?", date(2024, 1, 1), None, "What is sick pay?"),
        ("What is sick pay in future?", None, None, "What is sick pay?"),
    ],
)
def test_a_time_has_days_and_leaves_the_rest_of_the_question(question, first, last, rest):
    assert asked_time(question) == AskedTime(first, last, rest)


@pytest.mark.parametrize(
    "question",
    [
        "How much is sick pay?",
        "How much is sick pay until March 2027?",
        "How much was sick pay before 1 March 2027?",
        "How many of the 2027 items are in stock?",
        "What applies in March?",
        "Who chairs the next meeting?",
    ],
)
def test_what_names_no_year_or_an_end_alone_is_about_no_time_to_come(question):
    assert asked_time(question) is None
