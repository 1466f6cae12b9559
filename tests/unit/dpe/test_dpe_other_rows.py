"""What a table says in another row (ADR 0095)."""

import pytest

from services.dpe.domain.rules import read_claim
from services.dpe.domain.rules.reading import Reading
from services.dpe.domain.rules.rows import changed_row

SHELVES = ("Category: Drugs; Location: Steel cabinet", "Category: Tools; Location: Open shelf")
FEES = ("Item: Drill; Fee: €10", "Item: Saw; Fee: €20")
SEATS = ("Room: Blue; Seats: 12", "Room: Red; Seats: 20")


def changed(claim, *texts):
    return changed_row(read_claim(claim, 0), [Reading.of(text, 0, fact_index=at) for at, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("claim", "texts", "words"),
    [
        ("Drugs are kept on an open shelf.", SHELVES, "open shelf"),
        ("The drill costs €20.", FEES, "€20"),
        ("The drill costs €20.", ("Hire: Item: Drill; Fee: €10", "Item: Saw; Fee: €20"), "€20"),
        ("The blue room has 20 seats.", SEATS, "20"),
        ("The plotter stand costs €5.", ("Item: Plotter; Fee: €5", "Item: Plotter stand; Fee: €9"), "€5"),
        (
            "A weekend cart rental costs €5.",
            ("Item: Rental of carts; Fee: €5", "Item: Rental of carts, weekend; Fee: €9"),
            "€5",
        ),
    ],
)
def test_what_another_row_says_is_found(claim, texts, words):
    found = changed(claim, *texts)
    assert claim[found.claimed.start : found.claimed.end] == words


@pytest.mark.parametrize(
    ("claim", "texts"),
    [
        ("Drugs are kept on a shelf.", ("Category: Drugs; Location: Cabinet", "Category: Tools; Location: Shelf")),
        ("Drugs are in the steel cabinet beside the open shelf.", SHELVES),
        (
            "Drugs are checked at the open shelf.",
            (
                "Category: Drugs; Location: Steel cabinet; Check: Open shelf",
                "Category: Tools; Location: Open shelf; Check: Each month",
            ),
        ),
        ("The drill costs €20.", ("Item: Drill; Fee: €10 for members of the club only", "Item: Saw; Fee: €20")),
        ("The drill costs €20 here, €20 there.", FEES),
        ("The drill costs €20.", ("Item: Drill; Fee: €10", "Tool: Saw; Price: €20; Weight: 3 kg")),
        ("The fee of the drill falls by 20%.", ("Item: Drill; Fee: €10", "Item: Saw; Fee: 20%")),
        ("The blue room has 20 windows.", SEATS),
    ],
    ids=[
        "a word that is easily said",
        "what its own row says as well",
        "another column of its own row",
        "a conditional value",
        "a value said twice",
        "another table",
        "what no one compares",
        "another measure",
    ],
)
def test_what_may_be_said_of_its_own_row_is_left(claim, texts):
    assert changed(claim, *texts) is None
