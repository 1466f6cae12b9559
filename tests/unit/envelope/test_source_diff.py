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


TERMS = "# Motor Terms (valid from {year})"


def terms(year, fee="60", *more):
    heading = TERMS.format(year=year)
    told = heading.lstrip("# ")
    return [
        DiffFact(text, section, section, position=place)
        for place, (text, section) in enumerate(
            [
                ("Report every loss within 14 days.", f"{heading} > ## 1 Losses"),
                (f"{told}, 2 Fees: Passport: {fee} euros", f"{heading} > ## 2 Fees"),
                *more,
            ],
            start=1,
        )
    ]


def test_a_renamed_heading_is_told_once_and_moves_nothing():
    found = source_diff(terms(2026), terms(2027))
    assert (found.added, found.removed, found.changed, found.moved, found.unchanged) == ((), (), (), (), 2)
    [renamed] = found.renamed
    assert (renamed.before, renamed.after) == (TERMS.format(year=2026), TERMS.format(year=2027))


def test_what_changed_below_it_has_the_words_of_its_own_version():
    found = source_diff(terms(2026), terms(2027, "75"))
    [pair] = found.changed
    assert pair.before.content == "Motor Terms (valid from 2026), 2 Fees: Passport: 60 euros"
    assert pair.after.content == "Motor Terms (valid from 2027), 2 Fees: Passport: 75 euros"
    assert (len(found.renamed), found.moved, found.unchanged) == (1, (), 1)


@pytest.mark.parametrize(
    ("before", "after", "renamed"),
    [
        ("# A > ## Fees of the pool", "# A > ## Fees of the pool in winter", 1),
        ("# A > ## Fees", "# A > ## Persons", 0),  # another heading
        ("# A > ## Fees 2026", "# B > ## Fees 2027", 0),  # under another one
        ("# A > ## Fees of 2026", "# A > ### Fees of 2027", 0),  # of another level
        ("# Terms of 2026 > ## Fees of 2026", "# Terms of 2027 > ## Fees of 2027", 2),
        ("", "# A", 0),
    ],
)
def test_which_headings_are_one(before, after, renamed):
    found = source_diff([DiffFact("Ten euros.", before)], [DiffFact("Ten euros.", after)])
    assert len(found.renamed) == renamed
    assert renamed == 0 or (found.renamed[-1].before, found.renamed[-1].after) == (before, after)


def test_a_heading_that_stands_in_both_is_not_renamed():
    before = [DiffFact("One.", "# Fees of 2026"), DiffFact("Two.", "# Fees of 2027")]
    after = [DiffFact("Two.", "# Fees of 2027"), DiffFact("Three.", "# Fees of 2028")]
    [renamed] = source_diff(before, after).renamed
    assert (renamed.before, renamed.after) == ("# Fees of 2026", "# Fees of 2028")


def test_a_new_heading_takes_the_name_of_none_that_is_still_there():
    before = [DiffFact("One.", "# Fees of the pool")]
    after = [DiffFact("One.", "# Fees of the pool"), DiffFact("Two.", "# Fees of the pool in winter")]
    found = source_diff(before, after)
    assert (found.renamed, found.unchanged, len(found.added)) == ((), 1, 1)


def test_many_headings_are_not_compared_each_with_each():
    sides = [[DiffFact(f"Text {n}.", f"# Part {n} of {year}") for n in range(3_000)] for year in (2026, 2027)]
    assert source_diff(*sides).renamed == ()
