"""Who does what to whom, of parties of all kinds (ADR 0095)."""

import pytest

from services.dpe.domain.findings import Rule
from services.dpe.domain.rules import read_claim
from services.dpe.domain.rules.parties import changed_parties
from services.dpe.domain.rules.reading import Reading

SIGNS = "The engineer signs the report."
VISITS = "The inspector visits the site."
CLERK = "The clerk visits the site."


def changed(claim, *texts):
    sources = [Reading.of(text, 0, fact_index=place) for place, text in enumerate(texts)]
    return changed_parties(read_claim(claim, 0), sources)


@pytest.mark.parametrize(
    ("claim", "texts"),
    [
        ("The inspector signs the report.", (SIGNS, VISITS)),
        ("The inspector signs the report.", ("A report of the inspector with signs of wear is kept.", SIGNS, VISITS)),
        ("The inspector signs the report weekly.", (SIGNS, VISITS)),
        ("The inspector signs the report covering losses.", (SIGNS, VISITS)),
        ("The inspector who signs the report leaves.", (SIGNS, VISITS)),
        ("The inspector always signs the report.", (SIGNS, VISITS)),
        ("The inspector signs only the report.", (SIGNS, VISITS)),
        ("He and inspectors signed the report.", (SIGNS, VISITS)),
        ("The report is always sold by the inspector.", ("The report is sold by the engineer.", VISITS)),
        ("The landlord whom the tenant notifies leaves.", ("The landlord notifies the tenant.",)),
        ("The museum sells the painting.", ("The museum buys the painting.",)),
        (
            "The clerk requests the payment and the manager approves it.",
            ("The manager requests the payment and the clerk approves it.",),
        ),
        ("The inspector signs the report.", ("If the inspector asks, the engineer signs the report.", VISITS)),
        (
            "The inspector signed the report.",
            ("The report was signed by the engineer, the inspector was away.", VISITS),
        ),
    ],
)
def test_another_party_of_the_facts_is_found(claim, texts):
    departure = changed(claim, *texts)
    assert departure is not None
    assert departure.rule is Rule.PARTIES


@pytest.mark.parametrize(
    ("claim", "texts"),
    [
        ("The inspector signs the report in Norway after heavy storms last winter.", (SIGNS, VISITS)),
        ("The landlord notifies the bank.", ("The tenant notifies the landlord.",)),
        ("One bank notifies another bank.", ("One bank notifies another bank.",)),
        ("The branch approves the loan.", ("The branch office approves the loan.", "The branch opens the account.")),
        ("Someone signs the report.", (SIGNS, "Someone visits the site.")),
        ("The auditor signs the report.", (SIGNS, VISITS)),
        ("The inspector of the engineer signs the report.", (SIGNS, VISITS)),
        ("The inspector signs the contract of a report.", (SIGNS, VISITS)),
        ("Role: inspector, signs the report.", (SIGNS, VISITS)),
        ("The device dubbed inspector signs the report.", (SIGNS, VISITS)),
        ("The tenant whom the landlord notifies leaves.", ("The landlord notifies the tenant.",)),
    ],
    ids=[
        "much besides",
        "another act upon another",
        "both of one name",
        "part of its name",
        "nobody by name",
        "nobody who does anything here",
        "the other is spoken of too",
        "another thing",
        "a mark before the verb",
        "a piece of a clause",
        "turned round by whom",
    ],
)
def test_what_may_be_the_same_party_is_none(claim, texts):
    assert changed(claim, *texts) is None


@pytest.mark.parametrize(
    ("claim", "texts"),
    [
        ("The inspector signs the report.", ("The inspector and the engineer signed the report.", VISITS)),
        ("The clerk signs the report.", ("The clerk, the inspector and the engineer signed the report.", CLERK)),
        ("The inspector signed the report.", ("The report was signed by the engineer and the inspector.", VISITS)),
        ("The clerk signed the report.", ("The report was signed by the engineer, the inspector or the clerk.", CLERK)),
        (
            "The clerk signed the report.",
            ("The report was signed by the engineer and the inspector and the clerk.", CLERK),
        ),
    ],
)
def test_one_of_several_who_do_it_together_has_no_others_place(claim, texts):
    assert changed(claim, *texts) is None
