import pytest

from training.contrasts import negation

INSERTED = [
    ("The car is red.", [("The car is never red.", ["is never red"], False)]),
    ("He was an actor.", [("He was not an actor.", ["was not an"], False)]),
    (
        "She has a dog.",
        [("She does not have a dog.", ["does not have"], False), ("She has no dog.", ["has no"], False)],
    ),
    ("It can fly.", [("It cannot fly.", ["cannot fly"], False)]),
    ("The door has been closed.", [("The door has never been closed.", ["has never been"], False)]),
    ("He won the race.", [("He did not win the race.", ["did not win"], False)]),
    ("She lives in Rome.", [("She does not live in Rome.", ["does not live"], False)]),
    ("It is not red.", []),
    ("Is it red?", []),
    ("Anna Berg directed the film.", [("Anna Berg did not direct the film.", ["did not direct"], False)]),
    (
        "He came with a friend.",
        [
            ("He did not come with a friend.", ["did not come"], False),
            ("He came without a friend.", ["without"], False),
        ],
    ),
    (
        "There is a lake.",
        [("There is not a lake.", ["is not a"], False), ("There is no lake.", ["There is no"], False)],
    ),
]


@pytest.mark.parametrize(("text", "expected"), INSERTED, ids=[text for text, _ in INSERTED])
def test_inserted_cost_the_support(changes_of, text, expected):
    assert changes_of(negation.inserted, text, keeps=False) == expected


REMOVED = [
    ("The car is not red.", [("The car is red.", ["is red"], False)]),
    ("It cannot fly.", [("It can fly.", ["can fly"], False)]),
    ("He did not win.", [("He did win.", ["did win"], False)]),
    ("She doesn't sing.", [("She does sing.", ["does sing"], False)]),
    ("It was never sold.", [("It was sold.", ["was sold"], False)]),
    ("He came without a friend.", [("He came with a friend.", ["with"], False)]),
    ("The car is red.", []),
    ("They have not been paid.", []),
    ("It can't fly.", [("It can fly.", ["can fly"], False)]),
]


@pytest.mark.parametrize(("text", "expected"), REMOVED, ids=[text for text, _ in REMOVED])
def test_removed_cost_the_support(changes_of, text, expected):
    assert changes_of(negation.removed, text, keeps=False) == expected


PREFIXED = [
    ("He was able to win.", [("He was unable to win.", ["unable"], False)]),
    ("It is an unlikely story.", [("It is a likely story.", ["a likely"], False)]),
    ("It is a legal drug.", [("It is an illegal drug.", ["an illegal"], False)]),
    ("He was married.", []),
    ("The married man left.", [("The unmarried man left.", ["unmarried"], False)]),
    ("It was released in May.", []),
    ("An unreleased song.", [("A released song.", ["A released"], False)]),
    ("It is possible.", [("It is impossible.", ["impossible"], False)]),
    ("The cable is red.", []),
]


@pytest.mark.parametrize(("text", "expected"), PREFIXED, ids=[text for text, _ in PREFIXED])
def test_prefixed_cost_the_support(changes_of, text, expected):
    assert changes_of(negation.prefixed, text, keeps=False) == expected


CONTRACTED = [
    ("The car is not red.", [("The car isn't red.", ["isn't"], True)]),
    ("The car isn't red.", [("The car is not red.", ["is not"], True)]),
    ("He did not win.", [("He didn't win.", ["didn't"], True)]),
    ("It couldn't fly.", [("It could not fly.", ["could not"], True)]),
    ("It cannot fly.", []),
    ("The car is red.", []),
    ("Not all is lost.", []),
    ("They were not paid.", [("They weren't paid.", ["weren't"], True)]),
]


@pytest.mark.parametrize(("text", "expected"), CONTRACTED, ids=[text for text, _ in CONTRACTED])
def test_contracted_keep_the_support(changes_of, text, expected):
    assert changes_of(negation.contracted, text, keeps=True) == expected
