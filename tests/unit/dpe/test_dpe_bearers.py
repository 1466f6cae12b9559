"""Who may or must do it (ADR 0180)."""

import pytest

from services.dpe.domain.findings import Rule
from services.dpe.domain.rules import read_claim
from services.dpe.domain.rules.bearers import changed_bearer
from services.dpe.domain.rules.reading import Reading

CLAUSES = (
    "The Customer may end the contract on 30 days' written notice if two planned services are missed in a row.",
    "The Contractor may end the contract on 90 days' notice if spare parts for either boiler are no longer made.",
    "Either party may assign the contract with the other's consent.",
    "The Contractor must keep a log of every visit.",
    "Invoices must be paid within 21 days.",
)


@pytest.mark.parametrize(
    ("claim", "is_changed"),
    [
        (
            "The Customer may end the contract on 90 days' notice if spare parts for either boiler are no longer made.",
            True,
        ),
        (
            "The Contractor may end the contract on 90 days' notice if spare parts for a boiler are no longer made.",
            False,
        ),
        ("The Customer may end the contract on 30 days' written notice if two planned services are missed.", False),
        ("The Customer may end the contract on notice.", False),  # both may
        ("The Customer may assign the contract with the other's consent.", False),  # one of either party
        ("The Customer must keep a log of every visit.", True),
        ("The Customer need not keep a log of every visit.", False),
        ("The inspector must keep a log of every visit.", False),  # nobody who has a right here: perhaps another name
        ("The Customer must pay invoices within 21 days.", False),
        ("The Customer must keep a full log of every visit.", True),  # most of the clause
        ("The Customer must keep a diary of every visit.", False),  # and too little of it
        ("The Customer may end the contract on 90 days' notice for want of spare parts.", True),
        ("The Customer must also keep a log of every visit.", True),
        ("The Customer must keep a log of every visit of the Contractor.", False),  # who is both named
    ],
)
def test_who_has_a_right_or_duty_of_somebody_else_is_found(claim, is_changed):
    sources = [Reading.of(text, 0, fact_index=place) for place, text in enumerate(CLAUSES)]
    found = changed_bearer(read_claim(claim, 0), sources)
    assert (found is not None) is is_changed
    if found is not None:
        assert found.rule is Rule.DISPLACED
        assert claim[found.claimed.start : found.claimed.end] == "Customer"
        assert found.source.text[found.known.start : found.known.end] == "Contractor"


@pytest.mark.parametrize(
    ("claim", "clauses"),
    [
        (
            "The Customer may end the contract on notice.",
            ("The Contractor may end the contract on 90 days' notice.", "The Customer may end the contract on notice."),
        ),
        (
            "The Customer must keep a log of every visit that inspectors may see.",
            ("The Contractor must keep a log of every visit that inspectors may see.", "The Customer must pay."),
        ),
        (
            "The Customer must be told of every visit.",
            ("The Contractor must be told of every visit.", "The Customer must pay."),
        ),
        ("They must keep a log of every visit.", ("The Contractor must keep a log of every visit.", "They must rest.")),
        (
            "The Customer must sign a log of every visit to the site.",
            ("The Contractor must keep a log of every visit to the site.", "The Customer must pay."),
        ),
    ],
    ids=["a clause of its own", "two duties", "something done to it", "a pronoun", "another act"],
)
def test_what_may_be_the_claims_own_right_or_duty_is_no_signal(claim, clauses):
    sources = [Reading.of(text, 0, fact_index=place) for place, text in enumerate(clauses)]
    assert changed_bearer(read_claim(claim, 0), sources) is None
