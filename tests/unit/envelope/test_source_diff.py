"""What differs between two versions, by hand; pairs by similarity; linear in the facts."""

import random
import time

import pytest

from services.envelope.domain.source_diff import DiffFact, source_diff


def side(*lines: str) -> list[DiffFact]:
    """Return facts from ``section: text`` lines, in their order."""
    parts = [line.partition(": ") for line in lines]
    return [DiffFact(text, section, section, position=n) for n, (section, _, text) in enumerate(parts, start=1)]


FEE = "a: The fee for a passport is 60 euros."
NEW_FEE = "a: The fee for a passport is 75 euros."
DOOR = "a: The door is locked at night by the porter."
ROOF = "b: Nobody walks on the roof in winter."


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        pytest.param([FEE, DOOR], [FEE, DOOR], (0, 0, 0, 0, 2), id="the same"),
        pytest.param([FEE, DOOR], [NEW_FEE, DOOR], (0, 0, 1, 0, 1), id="a value changed"),
        pytest.param([FEE], [FEE, ROOF], (1, 0, 0, 0, 1), id="added"),
        pytest.param([FEE, ROOF], [ROOF], (0, 1, 0, 0, 1), id="removed"),
        pytest.param([FEE], [ROOF], (1, 1, 0, 0, 0), id="nothing in common"),
        pytest.param([FEE, DOOR, ROOF], [DOOR, ROOF, FEE], (0, 0, 0, 1, 2), id="one moved to the end"),
        pytest.param([DOOR], [DOOR.replace("a:", "c:")], (0, 0, 0, 1, 0), id="another heading"),
        pytest.param([FEE, FEE], [FEE], (0, 1, 0, 0, 1), id="stood twice"),
        pytest.param([], [FEE], (1, 0, 0, 0, 0), id="from nothing"),
    ],
)
def test_every_kind_of_difference(before, after, counts):
    found = source_diff(side(*before), side(*after))
    assert (len(found.added), len(found.removed), len(found.changed), len(found.moved), found.unchanged) == counts


def test_a_changed_fact_is_paired_with_the_most_alike():
    visa = "a: The fee for a visa is 60 euros."
    found = source_diff(side(FEE, visa), side(NEW_FEE, visa.replace("60", "61")))
    assert [(pair.before.content[-12:], pair.after.content[-12:]) for pair in found.changed] == [
        ("is 60 euros.", "is 75 euros."),
        ("is 60 euros.", "is 61 euros."),
    ]
    assert all(0.5 <= pair.similarity < 1 for pair in found.changed)


def test_without_an_order_nothing_moves_but_by_its_heading():
    unordered = [DiffFact(fact.content, fact.section) for fact in side(FEE, DOOR)]
    found = source_diff(unordered, side(DOOR, FEE))
    assert (found.moved, found.unchanged) == ((), 2)


def test_every_fact_is_told_once():
    rng = random.Random(7)
    words = [f"word{n}" for n in range(40)]
    for _ in range(200):
        lines = [f"s{rng.randint(0, 2)}: {' '.join(rng.choices(words, k=4))}" for _ in range(24)]
        before, after = side(*lines[:12]), side(*lines[12:])
        after += side(*(f"s: {one.content}" for one in rng.sample(before, 5)))
        found = source_diff(before, after)
        both = len(found.changed) + len(found.moved) + found.unchanged
        assert len(found.removed) + both == len(before)
        assert len(found.added) + both == len(after)


@pytest.mark.timed
def test_ten_times_the_facts_take_about_ten_times_as_long():
    def spent(count: int) -> float:
        rng = random.Random(count)
        words = [f"w{n}" for n in range(500)]
        both = [[f"s: {' '.join(rng.choices(words, k=12))}" for _ in range(count)] for _ in "ab"]
        sides = [side(*lines) for lines in both]
        began = time.process_time()
        source_diff(*sides)
        return time.process_time() - began

    spent(100)
    assert spent(2_000) < 40 * max(spent(200), 0.005)
