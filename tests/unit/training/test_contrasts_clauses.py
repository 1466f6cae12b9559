import pytest

from training.contrasts import clauses

ADDED = [
    (
        "The school was closed.",
        [
            ("The school was closed, which was closed in the spring.", [", which was closed in the spring"], True),
            (
                "The school was closed, much to the surprise of Ruth Meyer.",
                [", much to the surprise of Ruth Meyer"],
                True,
            ),
        ],
    ),
    (
        "He won the race",
        [
            ("He won the race, which was closed in the spring", [", which was closed in the spring"], True),
            ("He won the race, much to the surprise of Ruth Meyer", [", much to the surprise of Ruth Meyer"], True),
        ],
    ),
    ("Is it red?", []),
    (
        "They left.",
        [
            ("They left, which was closed in the spring.", [", which was closed in the spring"], True),
            ("They left, much to the surprise of Ruth Meyer.", [", much to the surprise of Ruth Meyer"], True),
        ],
    ),
    (
        "The plant has three halls.",
        [
            ("The plant has three halls, which was closed in the spring.", [", which was closed in the spring"], True),
            (
                "The plant has three halls, much to the surprise of Ruth Meyer.",
                [", much to the surprise of Ruth Meyer"],
                True,
            ),
        ],
    ),
    (
        "It was sold in 1998.",
        [
            ("It was sold in 1998, which was closed in the spring.", [", which was closed in the spring"], True),
            (
                "It was sold in 1998, much to the surprise of Ruth Meyer.",
                [", much to the surprise of Ruth Meyer"],
                True,
            ),
        ],
    ),
    (
        "He is 40",
        [
            ("He is 40, which was closed in the spring", [", which was closed in the spring"], True),
            ("He is 40, much to the surprise of Ruth Meyer", [", much to the surprise of Ruth Meyer"], True),
        ],
    ),
    ("Who was it?", []),
]


@pytest.mark.parametrize(("text", "expected"), ADDED, ids=[text for text, _ in ADDED])
def test_added_cost_the_support(changes_of, text, expected):
    assert changes_of(clauses.added, text, keeps=False) == expected


DROPPED = [
    ("Ann (born 1950) is a singer.", [("Ann is a singer.", [], False)]),
    ("Ann, a singer from Rome, won the prize.", [("Ann won the prize.", [], False)]),
    ("He left the old town because it was too hot.", [("He left the old town.", [], False)]),
    ("He did not leave the town because it was too hot.", []),
    ("The car is red.", []),
    ("He won the long race, beating all the others.", []),
    (
        "He won (again) the race (in May).",
        [("He won the race (in May).", [], False), ("He won (again) the race.", [], False)],
    ),
    ("Rain fell before he left the old town.", []),
]


@pytest.mark.parametrize(("text", "expected"), DROPPED, ids=[text for text, _ in DROPPED])
def test_dropped_keep_the_support(changes_of, text, expected):
    assert changes_of(clauses.dropped, text, keeps=True) == expected


CONNECTIVES = [
    ("However, he left.", [("He left.", ["H"], True)]),
    ("The car is red.", [("In addition, the car is red.", ["In addition, the"], True)]),
    ("He left the old town.", [("In addition, he left the old town.", ["In addition, he"], True)]),
    ("Rome is an old town.", []),
    ("He left.", []),
    ("In addition, birds can fly.", [("Birds can fly.", ["B"], True)]),
    ("these are not his.", [("In addition, these are not his.", ["In addition, these"], True)]),
    ("For example, cats sleep.", [("Cats sleep.", ["C"], True)]),
]


@pytest.mark.parametrize(("text", "expected"), CONNECTIVES, ids=[text for text, _ in CONNECTIVES])
def test_connectives_keep_the_support(changes_of, text, expected):
    assert changes_of(clauses.connectives, text, keeps=True) == expected


REORDERED = [
    ("In 1999, she left the old town.", [("She left the old town in 1999.", ["She left the old town in 1999"], True)]),
    ("She left the old town in 1999.", [("In 1999, she left the old town.", ["In 1999, she left the old town"], True)]),
    (
        "Rome left the league in May 1999.",
        [("In May 1999, Rome left the league.", ["In May 1999, Rome left the league"], True)],
    ),
    ("He is fond of tea and milk.", [("He is fond of milk and tea.", ["milk and tea"], True)]),
    ("It grew between tea and milk.", []),
    ("He saw Paul Novak and Anna Berg.", [("He saw Anna Berg and Paul Novak.", ["Anna Berg and Paul Novak"], True)]),
    ("The car is red.", []),
    (
        "On March 5, 1987, the bank closed for good.",
        [("The bank closed for good on March 5, 1987.", ["The bank closed for good on March 5, 1987"], True)],
    ),
    ("He ran and fell.", []),
]


@pytest.mark.parametrize(("text", "expected"), REORDERED, ids=[text for text, _ in REORDERED])
def test_reordered_keep_the_support(changes_of, text, expected):
    assert changes_of(clauses.reordered, text, keeps=True) == expected


VOICE = [
    (
        "Anna Berg founded Orion Bank.",
        [("Orion Bank was founded by Anna Berg.", ["Orion Bank was founded by Anna Berg"], True)],
    ),
    (
        "Orion Bank was founded by Anna Berg.",
        [("Anna Berg founded Orion Bank.", ["Anna Berg founded Orion Bank"], True)],
    ),
    (
        "Anna Berg acquired Orion Bank in 1999.",
        [("Orion Bank was acquired by Anna Berg in 1999.", ["Orion Bank was acquired by Anna Berg"], True)],
    ),
    ("Anna Berg left Orion Bank.", []),
    ("Anna Berg founded Orion Bank and died.", []),
    ("The song was written by Anna Berg.", []),
    (
        "Paul Novak directed Blue Harvest.",
        [("Blue Harvest was directed by Paul Novak.", ["Blue Harvest was directed by Paul Novak"], True)],
    ),
    ("He founded Orion Bank.", []),
]


@pytest.mark.parametrize(("text", "expected"), VOICE, ids=[text for text, _ in VOICE])
def test_voice_keep_the_support(changes_of, text, expected):
    assert changes_of(clauses.voice, text, keeps=True) == expected
