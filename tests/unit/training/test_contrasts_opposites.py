import pytest

from training.contrasts import opposites

OPPOSITE_WORDS = [
    ("Sales increased in May.", [("Sales decreased in May.", ["decreased"], False)]),
    ("He left before noon.", [("He left after noon.", ["after"], False)]),
    ("The plan was approved.", [("The plan was rejected.", ["rejected"], False)]),
    ("It is an old house.", []),
    ("She is an actress.", [("She is an actor.", ["actor"], False)]),
    ("It is the largest lake.", [("It is the smallest lake.", ["smallest"], False)]),
    ("He went to high school.", []),
    ("The First National Bank.", []),
    ("The car is red.", []),
    ("It is a young city.", [("It is an old city.", ["an old"], False)]),
]


@pytest.mark.parametrize(("text", "expected"), OPPOSITE_WORDS, ids=[text for text, _ in OPPOSITE_WORDS])
def test_opposite_words_cost_the_support(changes_of, text, expected):
    assert changes_of(opposites.opposite_words, text, keeps=False) == expected


SAME_WORDS = [
    ("He purchased a car.", [("He bought a car.", ["bought"], True)]),
    ("The film was long.", [("The movie was long.", ["movie"], True)]),
    ("It is situated in Rome.", [("It is located in Rome.", ["located"], True)]),
    ("It took about 5 days.", [("It took approximately 5 days.", ["approximately"], True)]),
    ("He spoke about love.", []),
    ("The car is red.", []),
    ("The Film Board met.", []),
    ("He is an author.", [("He is a writer.", ["a writer"], True)]),
    ("She previously lived here.", [("She formerly lived here.", ["formerly"], True)]),
]


@pytest.mark.parametrize(("text", "expected"), SAME_WORDS, ids=[text for text, _ in SAME_WORDS])
def test_same_words_keep_the_support(changes_of, text, expected):
    assert changes_of(opposites.same_words, text, keeps=True) == expected
