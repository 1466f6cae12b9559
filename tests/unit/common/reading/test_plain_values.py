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


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Children under 16 may borrow books.", [("16", "16", "")]),
        ("Nobody under 18 may take part.", [("18", "18", "")]),
        ("Those aged 16 may not enter.", [("16", "16", "")]),
        ("The fee is due on 16 may.", [("16 may", "--05-16", "")]),
        ("On 4 may the office is closed.", [("4 may", "--05-04", "")]),
        ("On 4 May Ann left.", [("4 May", "--05-04", "")]),
        ("It starts on 3 may 2025.", [("3 may 2025", "2025-05-03", "")]),
    ],
)
def test_what_may_be_done_is_no_month(text, values):
    assert read(text) == values
