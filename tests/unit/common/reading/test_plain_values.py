"""Values as people write them in passing: pence, and rates of two things."""

import pytest

from services.common.reading.values import scan_values


def read(text):
    return [(value.text, value.normal, value.per) for value in scan_values(text)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("It is 25p a day.", [("25p", "0.25 GBP", "day")]),
        ("5p or 99p", [("5p", "0.05 GBP", ""), ("99p", "0.99 GBP", "")]),
        ("£0.25 per book and day, at most £8", [("£0.25", "0.25 GBP", "day"), ("£8", "8 GBP", "")]),
        ("£0.25 a day per book", [("£0.25", "0.25 GBP", "day")]),
        ("£5 per child or week", [("£5", "5 GBP", "")]),
    ],
)
def test_pence_and_rates_of_two_things(text, values):
    assert read(text) == values


@pytest.mark.parametrize("text", ["1080p", "a 25pt font", "v25p", "£25p", "page 25, p. 3"])
def test_other_letters_behind_a_number_are_no_pence(text):
    assert not any(normal.endswith("GBP") and "p" in written for written, normal, _ in read(text))
