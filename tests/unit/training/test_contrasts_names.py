import pytest

from training.contrasts import names

OTHER_NAMES = [
    ("Anna Berg left.", [("Paul Novak left.", ["Paul Novak"], False)]),
    ("He met Anna Berg.", [("He met Paul Novak.", ["Paul Novak"], False)]),
    ("He works at Orion Bank.", [("He works at Delta Bank.", ["Delta Bank"], False)]),
    ("He lives near Lake Vessel.", [("He lives near New Haven.", ["New Haven"], False)]),
    ("He is a French actor.", [("He is an Italian actor.", ["an Italian"], False)]),
    ("She is an Indian singer.", [("She is a German singer.", ["a German"], False)]),
    ("The car is red.", []),
    ("He joined NASA in May.", [("He joined NATO in May.", ["NATO"], False)]),
    ("In 1990 Paul Novak won.", [("In 1990 Anna Berg won.", ["Anna Berg"], False)]),
]


@pytest.mark.parametrize(("text", "expected"), OTHER_NAMES, ids=[text for text, _ in OTHER_NAMES])
def test_other_names_cost_the_support(changes_of, text, expected):
    assert changes_of(names.other_names, text, keeps=False) == expected


SWAPPED_ROLES = [
    ("Anna Berg sued Paul Novak.", [("Paul Novak sued Anna Berg.", ["Paul Novak", "Anna Berg"], False)]),
    ("Anna Berg and Paul Novak left.", []),
    ("Anna Berg married Paul Novak.", []),
    ("Paul Novak, Anna Berg said, left.", []),
    (
        "Orion Bank bought Delta Bank in May.",
        [("Delta Bank bought Orion Bank in May.", ["Delta Bank", "Orion Bank"], False)],
    ),
    ("Anna Berg works at Orion Bank.", []),
    ("A match between Anna Berg and later Paul Novak.", []),
    (
        "Anna Berg was taught by Paul Novak.",
        [("Paul Novak was taught by Anna Berg.", ["Paul Novak", "Anna Berg"], False)],
    ),
]


@pytest.mark.parametrize(("text", "expected"), SWAPPED_ROLES, ids=[text for text, _ in SWAPPED_ROLES])
def test_swapped_roles_cost_the_support(changes_of, text, expected):
    assert changes_of(names.swapped_roles, text, keeps=False) == expected


SHORTENED = [
    ("He met Anna Berg.", [("He met Berg.", ["Berg"], None)]),
    ("Paul Novak won.", [("Novak won.", ["Novak"], None)]),
    ("He met Anna Smith.", []),
    ("He works at Orion Bank.", []),
    ("He lives near Lake Vessel.", []),
    ("The car is red.", []),
    (
        "Anna Berg met Paul Novak.",
        [("Berg met Paul Novak.", ["Berg"], None), ("Anna Berg met Novak.", ["Novak"], None)],
    ),
    ("Berg left.", []),
]


@pytest.mark.parametrize(("text", "expected"), SHORTENED, ids=[text for text, _ in SHORTENED])
def test_shortened_keep_the_support(changes_of, text, expected):
    assert changes_of(names.shortened, text, keeps=True) == expected
