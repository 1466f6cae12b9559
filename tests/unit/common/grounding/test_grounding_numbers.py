import pytest

from services.common.grounding.numbers import CURRENCY, NO_UNIT, PERCENT, days, quantities, states


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("5,000,000", 5e6, NO_UNIT),
        ("$5 million", 5e6, CURRENCY),
        ("five million dollars", 5e6, CURRENCY),
        ("\u00a332.8m", 32.8e6, CURRENCY),
        ("5 m", 5.0, NO_UNIT),
        ("41.3 %", 41.3, PERCENT),
        ("five per cent", 5.0, PERCENT),
        ("21st", 21.0, NO_UNIT),
        ("1984", 1984.0, NO_UNIT),
    ],
    ids=["thousands", "scale", "in words", "short scale", "metres", "sign", "per cent", "ordinal", "year"],
)
def test_a_figure_is_read_by_value(text, value, unit):
    (only,) = quantities(f"about {text} or so")
    assert (only.value, only.unit) == (pytest.approx(value), unit)
    assert only.start == 6


def test_words_that_hold_number_words_are_no_figures():
    assert quantities("tension and often") == []


@pytest.mark.parametrize("text", ["N\u0130NE", "f\u0131ve", "\u017fix", "\u017feven per cent"])
def test_letters_that_only_resemble_those_of_a_number_word_make_none(text):
    assert quantities(text) == []


def test_figures_are_the_same_beside_a_number_word_and_without_one():
    figures = "$ 5, 1,000.5 k, $2 m, 7% and \u20ac3bn of x9y, 12:30, $, 1.2.3 usd"
    alone, beside = quantities(figures), quantities(f"{figures} and six")
    assert [(one.value, one.unit, one.start, one.end) for one in beside[:-1]] == [
        (one.value, one.unit, one.start, one.end) for one in alone
    ]
    assert (len(alone), beside[-1].value) == (10, 6.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("May 29, 1943", {("may", 29)}),
        ("29th of May", {("may", 29)}),
        ("on Nov. 2", {("nov", 2)}),
        ("May 1943", set()),
        ("maybe 5", set()),
    ],
)
def test_days_of_the_year(text, expected):
    assert days(text) == expected


@pytest.mark.parametrize(
    ("known", "value", "expected"),
    [
        ([29_876.0], 30_000.0, True),
        ([29_876.0], 29_876.0, True),
        ([24_876.0], 30_000.0, False),
        ([29_876.0], 29_800.0, False),
        ([1949.0], 1950.0, False),
        ([19.0], 20.0, False),
        ([20.0], 20.0, True),
        ([], 20.0, False),
    ],
    ids=["rounded", "equal", "too far", "three digits", "year", "small", "small equal", "none known"],
)
def test_a_rounded_figure_is_stated(known, value, expected):
    assert states(known, value) is expected
