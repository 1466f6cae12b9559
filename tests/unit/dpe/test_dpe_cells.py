"""What cells of a table allow, charge and count by, and what a sentence sets apart itself (ADR 0169)."""

import pytest

from services.dpe.domain.findings import Rule
from services.dpe.domain.rules import departures, read_claim
from services.dpe.domain.rules.cells import is_in_cell
from services.dpe.domain.rules.reading import Reading

PLANS = (
    "Benefit: Ski hire; Standard: Not covered; Gold: €400",
    "Benefit: Lost passport; Standard: Covered; Gold: Covered",
    "Benefit: Pet care; Standard: No; Gold: Up to 10 days",
    "Fee: Paper statement; Standard: €2.00; Gold: Free",
    "Fee: Card rental, per month; Standard: €3.00; Gold: €1.50",
)


def read(texts):
    return [Reading.of(text, 0, fact_index=place) for place, text in enumerate(texts)]


def rules(claim, *texts):
    return {each.rule for each in departures(read_claim(claim, 0), read(texts))}


@pytest.mark.parametrize(
    "claim",
    [
        "Ski hire is covered under Standard.",
        "Ski hire is covered under both Standard and Gold.",
        "Lost passport is not covered under Gold.",
        "Gold does not include pet care.",
        "A paper statement is free with Standard.",
        "A paper statement is not free with Gold.",
        "Card rental costs €1.50 per year with Gold.",
    ],
)
def test_a_cell_that_says_otherwise_is_found(claim):
    assert Rule.ROW in rules(claim, *PLANS)
    assert not is_in_cell(read_claim(claim, 0), read(PLANS))


@pytest.mark.parametrize(
    ("claim", "is_said"),
    [
        ("Ski hire is not covered under Standard.", True),
        ("Ski hire is covered under Gold.", True),
        ("Lost passport is covered under both Standard and Gold.", True),
        ("Gold includes pet care.", True),
        ("A paper statement is free with Gold.", True),
        ("A paper statement is not free with Standard.", True),
        ("Card rental costs €1.50 per month with Gold.", False),  # a value, which is borne out as one
        ("Ski hire is covered under Standard unless you are over 70.", False),
        ("Ski hire is covered under Silver.", False),
        ("Ski hire in Norway is covered under Gold.", False),
        ("Boat hire is covered under Standard.", False),
    ],
)
def test_a_cell_bears_out_what_it_says_and_nothing_else(claim, is_said):
    assert Rule.ROW not in rules(claim, *PLANS)
    assert is_in_cell(read_claim(claim, 0), read(PLANS)) is is_said


APART = "The cost of returning a faulty kettle is borne by the shop, not by the buyer."


@pytest.mark.parametrize(
    ("claim", "departs"),
    [
        ("The cost of returning a faulty kettle is borne by the buyer.", True),
        ("The cost of returning a faulty kettle is borne by the shop.", False),
        ("The cost of returning a faulty kettle is not borne by the buyer.", False),
        ("The cost of a new kettle for the garden is paid by the buyer.", False),
    ],
)
def test_what_a_sentence_sets_apart_is_not_the_other(claim, departs):
    assert (Rule.NAME in rules(claim, APART)) is departs
