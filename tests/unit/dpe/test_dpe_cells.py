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
        ("Card rental costs €1.50 per month with Gold.", True),
        ("Card rental costs at least €1.50 per month with Gold.", False),
        ("Card rental in Norway costs €1.50 per month with Gold.", False),
        ("Ski hire is covered under Standard unless you are over 70.", False),
        ("Ski hire is covered under Silver.", False),
        ("Ski hire in Norway is covered under Gold.", False),
        ("Boat hire is covered under Standard.", False),
    ],
)
def test_a_cell_bears_out_what_it_says_and_nothing_else(claim, is_said):
    assert Rule.ROW not in rules(claim, *PLANS)
    assert is_in_cell(read_claim(claim, 0), read(PLANS)) is is_said


@pytest.mark.parametrize(
    ("claim", "texts"),
    [
        ("Ski hire is covered under Standard only if booked early.", PLANS),
        ("Ski hire and pet care are covered under Standard.", PLANS),
        ("Delivery is free with Standard.", ("Fee: Delivery; Standard: free above €20; Gold: Free",)),
        ("Billed per year, card rental costs €1.50 per month with Gold.", PLANS),
        ("Parking costs €1.50 per year with Gold.", PLANS),
        ("Card rental costs €1.50 per year with Gold.", ("Fee: Card rental, per annum; Standard: €3.00; Gold: €1.50",)),
    ],
    ids=["a condition", "two rows", "a price and free", "two periods", "another row", "a year by another name"],
)
def test_what_may_fit_the_cell_departs_from_none(claim, texts):
    assert Rule.ROW not in rules(claim, *texts)


def test_two_columns_and_one_value_are_no_cell():
    claim = read_claim("Card rental costs €3.00 per month with Gold Standard.", 0)
    assert not is_in_cell(claim, read(PLANS))


def test_a_column_whose_name_the_row_has_is_not_spoken_of_by_it():
    row = "Fee: Standard paper statement; Standard: Free; Gold: €2.00"
    assert is_in_cell(read_claim("A standard paper statement costs €2.00 with Gold.", 0), read([row]))


DEVICES = (
    "Lease, Payment: Device: Copier C20; Monthly rent: 89 EUR; Deposit: 300 EUR",
    "Lease, Payment: Device: Plotter P7; Monthly rent: 140 EUR; Deposit: 500 EUR",
    "Lease, Payment: Device: Plotter P9; Monthly rent: 190 EUR; Deposit: 700 EUR",
    "Lease, Payment: Device: Scanner S1; Monthly rent: 30 EUR; Deposit: 100 EUR",
    "Lease, Payment: Device: Camera K4; Monthly rent: 15 EUR; Deposit: 50 EUR",
    "Lease, Payment: Device: Camera stand; Monthly rent: 4 EUR; Deposit: 20 EUR",
)


@pytest.mark.parametrize(
    ("claim", "departs", "is_said"),
    [
        ("The scanner costs 89 EUR a month.", True, False),
        ("The deposit for the copier is 100 EUR.", True, False),
        ("The deposit for the copier is 300 EUR.", False, True),
        ("The monthly rent of the scanner is 30 EUR.", False, True),
        ("The deposit for the plotter is 500 EUR.", False, False),  # which of the two
        ("The deposit for the plotter P7 is 700 EUR.", True, False),
        ("The deposit for the camera is 50 EUR.", False, False),  # a stand has the word, too
        ("The deposit for the copier of 12 kg is 300 EUR.", False, False),
        ("The deposit for the scanner S2 is 300 EUR.", False, False),
        ("The deposit for the scanner is not 100 EUR.", False, False),
        ("The deposit for the scanner and the copier is 100 EUR.", False, False),
        ("The deposit for the scanner is at most 100 EUR.", False, False),
    ],
)
def test_a_row_is_named_without_its_code_where_no_other_has_its_words(claim, departs, is_said):
    assert (Rule.ROW in rules(claim, *DEVICES)) is departs
    assert is_in_cell(read_claim(claim, 0), read(DEVICES)) is is_said


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
