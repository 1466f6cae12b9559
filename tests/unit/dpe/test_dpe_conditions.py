"""What a text holds under, and in spite of what it holds (ADR 0095)."""

import pytest

from services.dpe.domain.conditions import Kind, conditions, governed_conditions, without_conditions

TEXTS = [
    ("The fee is waived if the form is on time.", [(Kind.IF, "the form is on time")]),
    (
        "If it rains, the fair is held unless the hall is taken.",
        [(Kind.IF, "it rains"), (Kind.UNLESS, "the hall is taken")],
    ),
    ("It applies if A holds unless B does, and always.", [(Kind.IF, "A holds"), (Kind.UNLESS, "B does")]),
    ("The fee is due even if the trip is cancelled.", [(Kind.DENIED, "the trip is cancelled")]),
    ("It is paid regardless of age. It is paid once.", [(Kind.DENIED, "age")]),
    ("Only when both sign does it hold.", [(Kind.IF, "both sign does it hold")]),
    ("Whiff and gift hold no condition.", []),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS, ids=[text[:24] for text, _ in TEXTS])
def test_what_cues_govern(text, expected):
    found = list(conditions(text))
    assert [(item.kind, item.governed) for item in found] == expected
    assert governed_conditions(text) == [governed for kind, governed in expected if kind is not Kind.DENIED]
    bare = without_conditions(text)
    assert len(bare) == len(text)
    for at, (left, right) in enumerate(zip(text, bare, strict=True)):
        governed = any(item.span.start <= at < item.span.end for item in found)
        assert right == (" " if governed else left)
