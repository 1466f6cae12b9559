import pytest

from training.contrasts import quantifiers

STRONGER = [
    ("Some birds can swim.", [("All birds can swim.", ["All"], True), ("Some birds must swim.", ["must"], True)]),
    ("Many people left.", [("All people left.", ["All"], True)]),
    ("He often sings.", [("He always sings.", ["always"], True)]),
    ("It may rain.", [("It will rain.", ["will"], True)]),
    ("Most of the houses burned.", [("All of the houses burned.", ["All of the"], True)]),
    ("He is a French actor.", []),
    ("Birds have feathers.", [("All birds have feathers.", ["All birds"], None)]),
    ("Some birds do not fly.", []),
    ("A few trees fell.", [("Many trees fell.", ["Many"], False)]),
    ("It is mostly harmless.", [("It is entirely harmless.", ["entirely"], True)]),
    ("One of the best.", [("The only one of the best.", ["The only one of the"], True)]),
]


@pytest.mark.parametrize(("text", "expected"), STRONGER, ids=[text for text, _ in STRONGER])
def test_stronger_cost_the_support(changes_of, text, expected):
    assert changes_of(quantifiers.stronger, text, keeps=False) == expected


WEAKER = [
    ("All birds have wings.", [("Most birds have wings.", ["Most"], False)]),
    ("He always sings.", [("He often sings.", ["often"], False)]),
    ("Most people left.", [("Some people left.", ["Some"], False)]),
    ("She was the only woman.", [("She was a woman.", ["a"], False)]),
    ("All of the houses burned.", [("Some of the houses burned.", ["Some of the"], False)]),
    ("You must pay.", [("You can pay.", ["can"], False)]),
    ("Not all birds fly.", []),
    ("Oslo is the capital and most populous city.", []),
    ("Some birds fly.", []),
    ("It was the only open door.", [("It was an open door.", ["an"], False)]),
]


@pytest.mark.parametrize(("text", "expected"), WEAKER, ids=[text for text, _ in WEAKER])
def test_weaker_keep_the_support(changes_of, text, expected):
    assert changes_of(quantifiers.weaker, text, keeps=True) == expected
