"""What a sentence says of each of its cases, and the same or the opposite in other words, as a caller gets it."""

import pytest

from services.dpe.domain.rules.reading import root
from tests.each import each
from tests.fakes.checks import checker

TAXIS = "Taxis are allowed in the lane and prohibited in the square."
DOGS = "Dogs are permitted on the lawn but banned from the beach."
GLASS = "Glass is accepted at the depot and refused at the kiosk."
TOURS = "Flights are included in the premium tour and excluded from the basic tour."
TRAINING = "Training is mandatory for drivers and optional for clerks."
BAYS = "Vans may park in bay 1, and cars may not park in bay 2."
EQUAL = (
    ("Parking is not permitted after 8 pm.", "Parking is forbidden after 8 pm."),
    ("Dogs are not allowed on the beach in summer.", "Dogs are banned from the beach in summer."),
    ("Deliveries are forbidden before 7 am.", "Deliveries are not allowed before 7 am."),
    ("Visitors may not take photographs in the chapel.", "Visitors are forbidden to take photographs in the chapel."),
    ("Cyclists must not use the tunnel.", "Cyclists are prohibited from using the tunnel."),
    ("Visitors cannot enter without a helmet.", "Visitors are forbidden to enter without a helmet."),
    ("The gate is not open on Sundays.", "The gate is closed on Sundays."),
    ("Batteries are not covered by the warranty.", "Batteries are excluded from the warranty."),
    (TAXIS, "Taxis are permitted in the lane."),
    (DOGS, "Dogs are not allowed on the beach."),
    (GLASS, "Glass is not accepted at the kiosk."),
    (TOURS, "Flights are not included in the basic tour."),
    (TRAINING, "Training is not required for clerks."),
    (BAYS, "Vans are allowed to park in bay 1."),
    ("Guests are not required to wear a tie.", "Guests need not wear a tie."),
    ("Nobody is forbidden to swim.", "Everybody may swim."),
    ("Nobody may swim in the lake.", "Swimming in the lake is forbidden."),
    ("No member is banned from voting.", "Members may vote."),
    ("No one has to tip.", "Tipping is optional."),
    ("You may not lie on the grass.", "Lying on the grass is forbidden."),
    ("Tying boats to the bridge is prohibited.", "It is forbidden to tie boats to the bridge."),
    ("Paying by card is allowed.", "You may pay by card."),
)
OPPOSITE = (
    ("Parking is not permitted after 8 pm.", "Parking is allowed after 8 pm."),
    ("Deliveries are forbidden before 7 am.", "Deliveries are permitted before 7 am."),
    ("Batteries are not covered by the warranty.", "Batteries are included in the warranty."),
    (TAXIS, "Taxis are allowed in the square."),
    (TAXIS, "Taxis are prohibited in the lane."),
    (DOGS, "Dogs are permitted on the beach."),
    (GLASS, "Glass is accepted at the kiosk."),
    (TOURS, "Flights are excluded from the premium tour."),
    (TRAINING, "Training is mandatory for clerks."),
    (BAYS, "Cars may park in bay 2."),
    ("Guests are not required to wear a tie.", "Guests are forbidden to wear a tie."),
    ("Guests are forbidden to wear shoes.", "Guests are not required to wear shoes."),
    ("Tenants need not paint the walls.", "Tenants must not paint the walls."),
    ("Drivers are not allowed to leave the cab.", "Drivers do not have to leave the cab."),
    ("Nobody is forbidden to swim.", "Nobody may swim."),
    ("No one is prohibited from entering the garden.", "No one may enter the garden."),
    ("No visitor is barred from using the lift.", "No visitor may use the lift."),
    ("Nobody is required to register.", "Nobody is allowed to register."),
    ("Lying on the benches is forbidden.", "You may lie on the benches."),
    ("Flying drones over the site is forbidden.", "You may fly drones over the site."),
)
OPEN = (
    ("The hall was open in the summer.", "The hall is not closed in the summer."),
    ("Parking is forbidden in the yard.", "Parking is not permitted in the street."),
    ("Some dogs are allowed in the park.", "Dogs are permitted in the park."),
    ("Dogs are allowed in the park if they are on a lead.", "Dogs are permitted in the park."),
    ("Dogs are allowed in the park. Dogs are banned from the park.", "Dogs are permitted in the park."),
    ("Dogs are allowed in the park.", "Dogs are permitted in the park until 8 pm."),
    ("Parking is forbidden from 8 pm.", "Parking is not permitted until 8 pm."),
)


@each(("fact", "answer"), EQUAL)
async def test_what_a_case_is_said_of_in_other_words_is_borne_out(fact, answer):
    result = await checker().check(answer, [fact])
    assert [(claim.verdict, claim.basis) for claim in result.judged] == [("SUPPORTED", "VALUES")]


@each(("fact", "answer"), OPPOSITE)
async def test_the_opposite_of_what_a_case_is_said_of_is_contradicted(fact, answer):
    result = await checker().check(answer, [fact])
    assert [claim.verdict for claim in result.judged] == ["CONTRADICTED"]
    assert result.level in {"HIGH", "CRITICAL"}


@pytest.mark.parametrize(("fact", "answer"), OPEN)
async def test_another_case_tense_or_limit_bears_nothing_out(fact, answer):
    result = await checker().check(answer, [fact])
    assert not result.supported


async def test_a_limit_behind_forbidding_words_lies_on_the_other_side():
    said = "In the yard, parking is forbidden for vans before 8 pm."
    result = await checker().check("Parking in the yard is not permitted for vans after 8 pm.", [said])
    assert [claim.verdict for claim in result.judged] == ["CONTRADICTED"]
    assert not (
        await checker().check("Parking is not permitted after 8 pm.", ["Parking is forbidden before 8 pm."])
    ).supported


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lying", "lie"), ("dying", "died"), ("tying", "tied"), ("vying", "vies"), ("untying", "untie"),
        ("paying", "pay"), ("trying", "try"), ("flying", "fly"), ("buying", "buys"), ("applying", "apply"),
    ],
)  # fmt: skip
def test_verbs_in_ying_are_one_with_their_other_forms(one, other):
    assert root(one) == root(other)


def test_dyeing_is_not_dying_and_a_sayings_root_is_not_that_of_slaying():
    assert len({root(word) for word in ("dying", "saying", "slaying", "dyeing")}) == 4
