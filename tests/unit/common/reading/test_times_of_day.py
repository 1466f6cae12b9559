"""Times of day and counted days as values (SPEC-005 §5.2)."""

import pytest

from services.common.ports.recognition import EntityKind
from services.common.reading.values import scan_values


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The round begins at 5.45 pm.", "17:45"),
        ("Open until 12.30pm today", "12:30"),
        ("from 6.05 a.m. on", "06:05"),
        ("at 5 pm", "17:00"),
        ("at 17:45", "17:45"),
    ],
)
def test_a_time_is_read_with_a_stop_or_a_colon(text, normal):
    assert [(one.kind, one.normal) for one in scan_values(text)] == [(EntityKind.TIME, normal)]


@pytest.mark.parametrize(
    "text",
    ["It weighs 5.45 pounds.", "a rate of 5.45", "£4.30 pm for each user", "13.45 pm", "EUR 9.50 pm", "Rs. 3.20 pm"],
)
def test_a_decimal_is_no_time(text):
    assert EntityKind.TIME not in {one.kind for one in scan_values(text)}


@pytest.mark.parametrize(
    ("text", "number"), [("from the fifth day", 5), ("on the third working day", 3), ("the second Monday", 2)]
)
def test_an_ordinal_in_words_before_a_day_is_a_number(text, number):
    assert [int(one.number) for one in scan_values(text)] == [number]


@pytest.mark.parametrize("text", ["the first time", "in the second row", "a third daylight lamp"])
def test_an_ordinal_of_something_else_is_none(text):
    assert scan_values(text) == ()
