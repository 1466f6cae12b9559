"""Whether a bound holds at its own value, and from which event a length counts (ADR 0213)."""

from services.dpe.domain.rules.anchors import changed_anchor
from services.dpe.domain.rules.edges import changed_edge
from tests.each import each
from tests.unit.dpe.test_dpe_columns import found

ADVANCE = "A cash advance is available to employees who travel abroad for more than 5 nights."
DEPOSIT = "Members aged 66 or over pay half. Groups of up to 12 people need no booking."
CLAIM = "Submit the claim within 30 days of the date of the expense. Your manager approves the trip before it starts."
ROUTER = "The router must be returned within 21 days of the end of service. Leaving takes 30 days' notice."
CANCEL = "Cancel at least 3 days before the course starts."


@each(
    ("claim", "fact", "expected"),
    [
        ("It is available for trips of 5 nights or more.", ADVANCE, ("5", "5")),
        ("It is available from at least 5 nights abroad.", ADVANCE, ("5", "5")),
        ("It is available for more than 5 nights abroad.", ADVANCE, None),
        ("It is available for trips of over 5 nights.", ADVANCE, None),
        ("It is available for 5 nights abroad.", ADVANCE, None),
        ("It is not available for less than 5 nights abroad.", ADVANCE, None),  # another side
        ("Members over 66 pay half.", DEPOSIT, ("66", "66")),
        ("Members aged 66 and over pay half.", DEPOSIT, None),
        ("Groups of fewer than 12 people need no booking.", DEPOSIT, ("12", "12")),
        ("Groups of no more than 12 people need no booking.", DEPOSIT, None),
        ("Groups of at most 12 people need no booking.", DEPOSIT, None),
    ],
)
def test_a_bound_includes_its_value_or_does_not(claim, fact, expected):
    assert found(changed_edge, claim, fact) == expected


@each(
    ("claim", "fact", "expected"),
    [
        ("Submit it within 30 days of the end of your trip.", CLAIM, "the end of your trip"),
        ("Submit it within 30 days of the expense.", CLAIM, None),
        ("Submit it within 30 days.", CLAIM, None),
        ("Submit it within 40 days of the end of your trip.", CLAIM, None),  # values are compared elsewhere
        ("Return it within 21 days of giving notice.", ROUTER, "giving notice"),
        ("You get 21 days of paid leave.", "Staff get 21 days of annual holiday.", None),
        ("Return it within 21 days after your service ends.", ROUTER, None),
        ("Cancel at least 3 days before the invoice.", CANCEL, "the invoice"),
        ("Cancel at least 3 days before the first day of the course.", CANCEL, None),
        ("Cancel at least 3 days after the invoice.", CANCEL, None),
    ],
)
def test_a_length_counts_from_an_event(claim, fact, expected):
    departure = found(changed_anchor, claim, fact)
    assert (departure and departure[0].strip(" .")) == expected


def test_a_bound_is_held_against_the_nearest_sentence_that_has_it():
    deposit, discount = "Stays over 5 nights need a deposit.", "Guests who stay at least 5 nights get a discount."
    assert found(changed_edge, "Guests get a discount for at least 5 nights.", deposit, discount) is None
    assert found(changed_edge, "Guests get a discount for over 5 nights.", deposit, discount) == ("5", "5")


def test_a_sentence_that_names_the_event_beside_the_length_clears_it():
    claim, box = "Return it within 21 days of the end of service.", "Return it within 21 days of receipt of the box."
    assert found(changed_anchor, claim, box) is not None
    assert found(changed_anchor, claim, f"{box} When service has ended, 21 days are left.") is None


def test_another_sentence_that_counts_from_the_event_clears_it():
    claim = "Submit it within 30 days of the end of your trip."
    other = "Mileage is claimed within 30 days of the end of the trip."
    assert found(changed_anchor, claim, CLAIM) is not None
    assert found(changed_anchor, claim, CLAIM, other) is None
