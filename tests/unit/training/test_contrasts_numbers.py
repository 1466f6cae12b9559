import pytest

from training.contrasts import numbers

OTHER_VALUES = [
    ("The firm had 412 staff.", [("The firm had 346 staff.", ["346"], False)]),
    ("It sold 1,500 cars.", [("It sold 1,000 cars.", ["1,000"], False)]),
    ("The rate is 4.5 percent.", [("The rate is 4.3 percent.", ["4.3"], False)]),
    ("The group of six left.", [("The group of four left.", ["four"], False)]),
    ("Twelve people came.", [("Four people came.", ["Four"], False)]),
    ("It has one door.", []),
    ("He was born in 1998.", []),
    ("See page [5] of 3.", [("See page [5] of 5.", ["5"], False)]),
    (
        "Of 3 or 7 doors, it has one.",
        [("Of 5 or 7 doors, it has one.", ["5"], False), ("Of 3 or 4 doors, it has one.", ["4"], False)],
    ),
]


@pytest.mark.parametrize(("text", "expected"), OTHER_VALUES, ids=[text for text, _ in OTHER_VALUES])
def test_other_values_cost_the_support(changes_of, text, expected):
    assert changes_of(numbers.other_values, text, keeps=False) == expected


OTHER_MAGNITUDES = [
    ("It cost 5 million dollars.", [("It cost 5 thousand dollars.", ["thousand"], False)]),
    ("It cost 3 thousand dollars.", [("It cost 3 million dollars.", ["million"], False)]),
    ("The town has 4,000 people.", [("The town has 40,000 people.", ["40,000"], False)]),
    ("The town has 412 people.", []),
    ("About 2 billion people use it.", [("About 2 thousand people use it.", ["thousand"], False)]),
    ("It sold 1,500 cars.", [("It sold 15,000 cars.", ["15,000"], False)]),
    ("In 1900 it closed.", []),
    ("The fund holds 700 shares.", [("The fund holds 7000 shares.", ["7000"], False)]),
]


@pytest.mark.parametrize(("text", "expected"), OTHER_MAGNITUDES, ids=[text for text, _ in OTHER_MAGNITUDES])
def test_other_magnitudes_cost_the_support(changes_of, text, expected):
    assert changes_of(numbers.other_magnitudes, text, keeps=False) == expected


OTHER_UNITS = [
    ("It is 5 km long.", [("It is 5 miles long.", ["miles"], False)]),
    ("It took 3 weeks.", [("It took 3 months.", ["months"], False)]),
    ("It fell by 40%.", [("It fell by 40 percentage points.", ["percentage points"], False)]),
    ("It fell by 40 percent.", [("It fell by 40 percentage points.", ["percentage points"], False)]),
    ("It costs $30.", [("It costs €30.", ["€"], False)]),
    ("It weighs 8 pounds.", [("It weighs 8 kilograms.", ["kilograms"], False)]),
    ("It costs 30 dollars.", [("It costs 30 euros.", ["euros"], False)]),
    ("It has 5 doors.", []),
    (
        "The trip takes 9 hours and £4.",
        [("The trip takes 9 minutes and £4.", ["minutes"], False), ("The trip takes 9 hours and $4.", ["$"], False)],
    ),
]


@pytest.mark.parametrize(("text", "expected"), OTHER_UNITS, ids=[text for text, _ in OTHER_UNITS])
def test_other_units_cost_the_support(changes_of, text, expected):
    assert changes_of(numbers.other_units, text, keeps=False) == expected


WRONG_BOUNDS = [
    ("The firm has 40 workers.", [("The firm has fewer than 40 workers.", ["fewer than 40"], None)]),
    ("The band has three drummers.", [("The band has fewer than three drummers.", ["fewer than three"], None)]),
    ("It has two doors.", []),
    ("More than 40 workers came.", []),
    ("It fell by 40 percent.", []),
    ("It cost $40 dollars.", []),
    ("He has 5 sons and 9 cats.", [("He has fewer than 5 sons and 9 cats.", ["fewer than 5"], None)]),
    ("It is 40 percent of it.", []),
    ("Four boys ran.", [("Fewer than four boys ran.", ["Fewer than four"], None)]),
]


@pytest.mark.parametrize(("text", "expected"), WRONG_BOUNDS, ids=[text for text, _ in WRONG_BOUNDS])
def test_wrong_bounds_cost_the_support(changes_of, text, expected):
    assert changes_of(numbers.wrong_bounds, text, keeps=False) == expected


RIGHT_BOUNDS = [
    ("The firm has 40 workers.", [("The firm has fewer than 42 workers.", ["fewer than 42"], None)]),
    ("The band has three drummers.", [("The band has fewer than five drummers.", ["fewer than five"], None)]),
    ("It has two doors.", []),
    ("At least 40 workers came.", []),
    ("It fell by 40 percent.", []),
    ("It cost $40 dollars.", []),
    ("He has 5 sons and 9 cats.", [("He has fewer than 7 sons and 9 cats.", ["fewer than 7"], None)]),
    ("Four boys ran.", [("Fewer than six boys ran.", ["Fewer than six"], None)]),
]


@pytest.mark.parametrize(("text", "expected"), RIGHT_BOUNDS, ids=[text for text, _ in RIGHT_BOUNDS])
def test_right_bounds_keep_the_support(changes_of, text, expected):
    assert changes_of(numbers.right_bounds, text, keeps=True) == expected


REWRITTEN = [
    ("It sold 1,500 cars.", [("It sold 1500 cars.", ["1500"], True)]),
    ("It sold 15000 cars.", [("It sold 15,000 cars.", ["15,000"], True)]),
    ("It fell by 40%.", [("It fell by 40 percent.", ["40 percent"], True)]),
    ("It fell by 40 percent.", [("It fell by 40%.", ["40%"], True)]),
    ("It has 3 doors.", [("It has three doors.", ["three"], True)]),
    ("It has three doors.", [("It has 3 doors.", ["3"], True)]),
    ("Three doors are open.", []),
    ("It cost 5 million dollars.", [("It cost 5,000,000 dollars.", ["5,000,000"], True)]),
    ("It fell by 4 percentage points.", [("It fell by four percentage points.", ["four"], True)]),
]


@pytest.mark.parametrize(("text", "expected"), REWRITTEN, ids=[text for text, _ in REWRITTEN])
def test_rewritten_keep_the_support(changes_of, text, expected):
    assert changes_of(numbers.rewritten, text, keeps=True) == expected
