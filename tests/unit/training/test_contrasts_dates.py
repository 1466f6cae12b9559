import pytest

from training.contrasts import dates

OTHER_DATES = [
    ("It opened in 2010.", [("It opened in 2000.", ["2000"], False)]),
    (
        "She was born on March 5, 1987.",
        [
            ("She was born on March 5, 1977.", ["1977"], False),
            ("She was born on February 5, 1987.", ["February"], False),
            ("She was born on March 10, 1987.", ["10"], False),
        ],
    ),
    (
        "She was born on 5 March 1987.",
        [
            ("She was born on 5 March 1977.", ["1977"], False),
            ("She was born on 5 February 1987.", ["February"], False),
            ("She was born on 10 March 1987.", ["10"], False),
        ],
    ),
    (
        "They met in May 1987.",
        [("They met in May 1977.", ["1977"], False), ("They met in February 1987.", ["February"], False)],
    ),
    ("They met on Monday.", [("They met on Wednesday.", ["Wednesday"], False)]),
    ("It has 5 doors.", []),
    ("On July 31 it rained.", [("On July 19 it rained.", ["19"], False)]),
    (
        "It ran from 1990 to 1995.",
        [("It ran from 1980 to 1995.", ["1980"], False), ("It ran from 1990 to 2004.", ["2004"], False)],
    ),
]


@pytest.mark.parametrize(("text", "expected"), OTHER_DATES, ids=[text for text, _ in OTHER_DATES])
def test_other_dates_cost_the_support(changes_of, text, expected):
    assert changes_of(dates.other_dates, text, keeps=False) == expected


REWRITTEN = [
    ("She was born on March 5, 1987.", [("She was born on 5 March 1987.", ["5 March 1987"], True)]),
    ("She was born on 5 March 1987.", [("She was born on March 5, 1987.", ["March 5, 1987"], True)]),
    ("On March 5 it rained.", [("On 5 March it rained.", ["5 March"], True)]),
    ("On 5 March it rained.", [("On March 5 it rained.", ["March 5"], True)]),
    ("They met in May 1987.", []),
    ("It opened in 2010.", []),
    ("They met on 31 December.", [("They met on December 31.", ["December 31"], True)]),
    ("He left on June 1, 1990, and came back.", [("He left on 1 June 1990, and came back.", ["1 June 1990"], True)]),
]


@pytest.mark.parametrize(("text", "expected"), REWRITTEN, ids=[text for text, _ in REWRITTEN])
def test_rewritten_keep_the_support(changes_of, text, expected):
    assert changes_of(dates.rewritten, text, keeps=True) == expected


LESS_EXACT = [
    ("She was born on March 5, 1987.", [("She was born in March 1987.", ["in March 1987"], False)]),
    ("She was born on 5 March 1987.", [("She was born in March 1987.", ["in March 1987"], False)]),
    ("On March 5, 1987, she left.", [("In March 1987, she left.", ["In March 1987"], False)]),
    ("They met in May 1987.", []),
    ("On March 5 it rained.", []),
    ("It opened in 2010.", []),
    ("She was born March 5, 1987.", []),
    ("It ended on 9 June 2001 and began again.", [("It ended in June 2001 and began again.", ["in June 2001"], False)]),
]


@pytest.mark.parametrize(("text", "expected"), LESS_EXACT, ids=[text for text, _ in LESS_EXACT])
def test_less_exact_keep_the_support(changes_of, text, expected):
    assert changes_of(dates.less_exact, text, keeps=True) == expected
