import pytest

from training.contrasts import conditions

TURNED_LIMITS = [
    ("It takes up to 5 days.", [("It takes at least 5 days.", ["at least"], False)]),
    ("At least 30 people came.", [("At most 30 people came.", ["At most"], False)]),
    ("About 40 cars passed.", [("Exactly 40 cars passed.", ["Exactly"], True)]),
    ("Return it within 30 days.", [("Return it after 30 days.", ["after"], False)]),
    ("It lasted more than two hours.", [("It lasted less than two hours.", ["less than"], False)]),
    ("He came within reach.", []),
    ("No more than 6 guests fit.", [("No less than 6 guests fit.", ["No less than"], False)]),
    ("At least he came.", []),
    ("He paid $30.", []),
]


@pytest.mark.parametrize(("text", "expected"), TURNED_LIMITS, ids=[text for text, _ in TURNED_LIMITS])
def test_turned_limits_cost_the_support(changes_of, text, expected):
    assert changes_of(conditions.turned_limits, text, keeps=False) == expected


STRIPPED = [
    ("You may leave only if you have paid.", [("You may leave in any case.", ["in any case"], None)]),
    ("Items can be returned unless they were used.", [("Items can be returned in any case.", ["in any case"], None)]),
    ("If the bill is paid, you may leave.", [("In all cases, you may leave.", ["In all cases,"], None)]),
    ("He asked if it was late.", []),
    ("You may stay as long as you are quiet.", [("You may stay in any case.", ["in any case"], None)]),
    ("It rains if the wind turns to the west.", []),
    ("Is it open if it rains?", []),
    ("The shop opens daily except on public holidays.", [("The shop opens daily in any case.", ["in any case"], None)]),
]


@pytest.mark.parametrize(("text", "expected"), STRIPPED, ids=[text for text, _ in STRIPPED])
def test_stripped_cost_the_support(changes_of, text, expected):
    assert changes_of(conditions.stripped, text, keeps=False) == expected


WIDENED = [
    ("A discount is given for new customers.", [("A discount is given for everyone.", ["for everyone"], None)]),
    ("Visits are possible in some cases.", [("Visits are possible in all cases.", ["in all cases"], None)]),
    ("Entry is allowed on weekdays.", [("Entry is allowed every day.", ["every day"], None)]),
    (
        "You may leave with prior written consent.",
        [("You may leave without any approval.", ["without any approval"], None)],
    ),
    ("Calls are free during business hours.", [("Calls are free at any time.", ["at any time"], None)]),
    ("He left on weekdays.", []),
    ("The gate is open in most cases.", []),
    ("The gate is open.", []),
]


@pytest.mark.parametrize(("text", "expected"), WIDENED, ids=[text for text, _ in WIDENED])
def test_widened_cost_the_support(changes_of, text, expected):
    assert changes_of(conditions.widened, text, keeps=False) == expected
