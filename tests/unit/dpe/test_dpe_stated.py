"""What a sentence says of each of its cases, and the same or the opposite in other words, as a caller gets it."""

import time

import pytest

from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.rules import departures
from services.dpe.domain.rules.modality import meant_forces
from services.dpe.domain.rules.reading import Reading, root
from services.dpe.domain.rules.sources import read_claim, read_sources
from services.dpe.domain.rules.stated import changed_statement, told_statement
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
        ("dies", "die"), ("ties", "tie"), ("lies", "lie"), ("vies", "vying"),
    ],
)  # fmt: skip
def test_verbs_in_ying_are_one_with_their_other_forms(one, other):
    assert root(one) == root(other)


def test_dyeing_is_not_dying_and_a_sayings_root_is_not_that_of_slaying():
    assert len({root(word) for word in ("dying", "saying", "slaying", "dyeing")}) == 4


APART = (
    ("We may terminate the contract at any time.", "You may terminate the contract at any time."),
    ("You may cancel our contract.", "We may cancel your contract."),
    ("You may enter the vault.", "Everybody may enter the vault."),
    ("Refunds must be paid by the seller.", "Refunds must be paid to the seller."),
    ("The goods must be insured by the owner.", "The goods must be insured for the owner."),
    ("The price must be fixed for five years.", "The price must be fixed in five years."),
    (
        "Claims must be reported by the tenant to the landlord.",
        "Claims must be reported to the tenant by the landlord.",
    ),
    ("No older models are covered by the warranty.", "Older models are covered by the warranty."),
    ("No visitor should smoke.", "Visitors should smoke."),
    ("Parking is permitted for residents on Sundays.", "Parking is free for residents on Sundays."),
    ("Entry is free to residents.", "Entry is permitted to residents."),
    ("Bookings are confirmed by email.", "Bookings are accepted by email."),
    ("Accounts are inactive after 90 days.", "Accounts are disabled after 90 days."),
    ("Your parcel may not arrive before Christmas.", "Your parcel cannot arrive before Christmas."),
    ("Your parcel may not arrive before Christmas.", "Your parcel must not arrive before Christmas."),
    ("The parcel could not be opened.", "The parcel may not be opened."),
    ("On weekends, residents may park and visitors must pay.", "Visitors must pay."),
    ("On weekends, residents may park; visitors must pay.", "Visitors must pay."),
    ("Guests may smoke in the garden, but visitors may not smoke there.", "Visitors may not smoke."),
    ("Passes are sold online. They may be refunded.", "They may be refunded."),
    ("Visitors may not smoke there.", "Visitors are forbidden to smoke there."),
)
"""Facts, and claims that say it of another, for another, elsewhere or in words that mean something else as well."""
LEFT_OPEN = (
    (
        "In the square, taxis may stop and buses may not stop. At the station, buses are allowed to stop.",
        "May buses stop at the station?",
        "Buses may stop.",
    ),
    (
        "Buses may not stop. At the station, buses are allowed to stop.",
        "May buses stop at the station?",
        "Buses may stop.",
    ),
    (
        "Annual passes are sold online. They may be refunded within 14 days.",
        "Can concert tickets be refunded?",
        "They may not be refunded within 14 days.",
    ),
)
FOUND = (
    (*APART[6], "PARTIES"),
    ("No older models are covered by the warranty.", "Older models are covered by the warranty.", "NEGATION"),
    ("No older versions are supported.", "Older versions are supported.", "NEGATION"),
    ("Guests may smoke in the garden, but visitors may not smoke there.", "Visitors may not smoke.", "MODALITY"),
    ("The driver must not be older than 70.", "The driver may be older than 70.", "MODALITY"),
    ("The deputy must not be older than the director.", "The deputy may be older than the director.", "MODALITY"),
)  # fmt: skip


def read(fact, answer, asked=""):
    """Return a claim and the sentences of a fact as the rules read them."""
    return read_claim(answer, 0, asked=asked), read_sources(read_fact(0, EnvelopeFact("", fact), ()), 0)


@each(("fact", "answer"), APART)
def test_persons_prepositions_and_words_with_two_meanings_tell_cases_apart(fact, answer):
    assert not told_statement(*read(fact, answer))
    assert not told_statement(*read(answer, fact))


@pytest.mark.parametrize(("fact", "asked", "answer"), LEFT_OPEN)
def test_what_may_be_said_of_another_case_contradicts_nothing(fact, asked, answer):
    assert changed_statement(*read(fact, answer, asked)) is None


def test_without_the_question_the_wider_case_is_no_other_one():
    fact, _, answer = LEFT_OPEN[1]
    assert changed_statement(*read(fact, answer)) is not None


@pytest.mark.parametrize(("fact", "answer", "rule"), FOUND)
def test_what_another_rule_finds_is_not_silenced(fact, answer, rule):
    claim, known = read(fact, answer)
    assert rule in {one.rule for one in departures(claim, known)}
    assert not told_statement(claim, known)


def test_a_limit_of_an_age_in_other_words_is_no_other_force():
    claim, known = read("It must not be older than three months.", "It must be from within the last three months.")
    assert not [one.rule for one in departures(claim, known)]


@pytest.mark.timed
def test_forces_of_a_long_sentence_are_read_in_time_that_grows_with_it():
    def cost(times):
        reading = Reading.of("no dog may run " * times, 0)
        begun = time.process_time()
        assert len(meant_forces(reading)) == times
        return time.process_time() - begun

    cost(10)
    assert min(cost(1_600) for _ in range(3)) < 7 * min(cost(400) for _ in range(3))
