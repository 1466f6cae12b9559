"""What a sceptic tries first: right and wrong answers to one text, while both encoders bear everything out (ADR 0225).

Whatever tells the two apart is a rule's work.
"""

import pytest

from services.common.reading.agreement import agrees
from services.common.reading.clauses import clauses
from services.common.reading.reckoning import slips
from services.common.reading.values import scan_values
from services.dpe.domain.names import akin
from services.dpe.domain.rules.reading import act_root, root
from tests.fakes.dpe_world import TableGrounding, analyse, app, models
from tests.unit.dpe.test_dpe_vectors import EverythingNear

BOATS = "The gate opens at 7 am. Jumping from the jetty is prohibited, since the water is shallow."
FLAT = "Smoking is prohibited inside the flat and in the stairwell, but allowed on the balcony."
MUSEUM = "Photography is not permitted in the museum."
LEAVE = "Leave: Bereavement: five paid days for a partner, parent or child; two paid days for a sibling or grandparent."
CASH = "Conditions, Limits: Item: Cash; Limit, Basic: €500; Limit, Comfort: €1,500"
BICYCLE = "Conditions, Limits: Item: Bicycle; Limit, Basic: €1,000; Limit, Comfort: €2,000"
GUARANTEE = "The guarantee lasts 24 months from purchase, or 36 months if you register the machine within 30 days."
WATER = "Descale when the light flashes, or by this schedule: Hardness: Medium (7–14 °dH); Level: 2; Every: 3 months"  # noqa: RUF001
ABROAD = "Driving in the European Union is covered for up to 60 days a year."
BONUS = "The no-claims discount is 10% after one year and at most 40% after five years."
OFFICE = "The office is open from 9 am to 5 pm."
LOAN = "Fees: Account: Sole Trader; Monthly fee: £12; Overdraft, interest per year: 17.4%; Cards: 3"


async def verdicts(answer, *facts, query="What holds?"):
    parts = models()
    parts.embedding._calibration = EverythingNear()
    bears_out = TableGrounding(lambda _: 0.9)
    finished = await analyse(answer, *facts, query=query, using=app(embedding=parts.embedding, grounding=bears_out))
    return [str(one.verdict) for one in finished.analysis.outputs.fidelity.judgements.values()]


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        ((BOATS,), "You may not jump from the jetty."),
        ((FLAT,), "Smoking is allowed on the balcony."),
        ((FLAT,), "Smoking is prohibited in the stairwell."),
        ((LEAVE,), "For a grandparent you get two paid days of bereavement leave."),
        ((LEAVE,), "For a child you get five paid days of bereavement leave."),
        ((CASH, BICYCLE), "Under Comfort, the limit for cash is €1,500."),
        ((CASH, BICYCLE), "The limit for a bicycle is €1,000 more under Comfort than under Basic."),
        ((GUARANTEE,), "The guarantee lasts 36 months if you register within 30 days."),
        ((WATER,), "With 10 °dH your water is medium (level 2), so descale every 3 months."),
        ((ABROAD,), "Driving in the European Union is covered for up to 60 days a year."),
        ((BONUS,), "After one year the no-claims discount is 10%."),
        ((OFFICE,), "The office closes at 17:00."),
        ((OFFICE,), "The office opens at 9 am."),
        ((LOAN,), "The overdraft of a Sole Trader costs 17.4% per year."),
    ],
)
async def test_a_right_answer_stays_green(facts, answer):
    assert set(await verdicts(answer, *facts)) == {"SUPPORTED"}


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        ((BOATS,), "You may jump from the jetty."),
        ((BOATS,), "Jumping from the jetty is allowed."),
        ((FLAT,), "Smoking is prohibited on the balcony."),
        ((FLAT,), "No, because smoking is prohibited on the balcony as well as inside the flat and in the stairwell."),
        ((FLAT,), "Smoking is allowed in the stairwell."),
        ((LEAVE,), "For a parent you get two paid days of bereavement leave."),
        ((LEAVE,), "For a grandparent you get five paid days of bereavement leave."),
        ((CASH, BICYCLE), "Under Comfort, cash is covered up to €500 per claim."),
        ((CASH, BICYCLE), "Under Comfort, the limit for cash is €500."),
        ((GUARANTEE,), "The guarantee lasts 36 months from purchase, with or without registration."),
        ((ABROAD,), "Driving in the European Union is covered for up to 60 days per month."),
        ((OFFICE,), "The office opens at 5 pm."),
        ((OFFICE,), "The office closes at 9 am."),
    ],
)
async def test_a_wrong_answer_turns_red(facts, answer):
    assert "CONTRADICTED" in await verdicts(answer, *facts)


FUEL = "Storage of fuel in the flat is forbidden."
YARD = "Parking is permitted in the yard but forbidden in front of the garage."
TALK = "Attending the talk is mandatory before a second resit, but optional before a first."
POOL = "Diving into the pool is prohibited, but allowed from the board on Sundays."
LUNCH = "Lunch is held from 12 pm to 2 pm; the kitchen closes at 12 pm on Sundays."
GRILL = "Grilling is allowed on the lawn, but not allowed on balconies."
WORK = "Work 8 hours a day and 48 hours a week."
SHOP = "The shop is open from 9 am to 5 pm, on Sundays it opens at 5 pm."


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (FUEL, "You may not store fuel in the flat."),
        (YARD, "Parking is allowed in the yard and forbidden in front of the garage."),
        (TALK, "Before a first resit, it's up to you whether you attend the talk."),
        (FLAT, "As smoking is prohibited in the flat, smoke on the balcony."),
        (POOL, "Diving is allowed from the board on Sundays."),
        (LUNCH, "The kitchen closes at 12 pm on Sundays."),
        (GRILL, "Grilling is not allowed on balconies."),
        (SHOP, "On Sundays the shop opens at 5 pm."),
    ],
)
async def test_what_is_said_of_another_case_turns_nothing_red(fact, answer):
    assert set(await verdicts(answer, fact)) == {"SUPPORTED"}


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (POOL, "Diving into the pool is allowed."),
        (GRILL, "Grilling is not allowed on the lawn."),
        (WORK, "You work 48 hours a day."),
        (FLAT, "You may not smoke on the balcony."),
    ],
)
async def test_the_case_that_is_named_is_the_one_that_counts(fact, answer):
    assert "CONTRADICTED" in await verdicts(answer, fact)


MASK = "Wearing a mask is required in the ward but optional in the cafeteria."
DEVICE = "Registering the device is optional but recommended."
LIFT = "Using the lift during a fire is forbidden."
DUCKS = "Feeding the ducks is prohibited."
FISHING = "Fishing needs a permit of the council and boats are prohibited."
JETTY = "Jumping from the jetty is prohibited. Visitors may use the old jetty by the gate."


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (YARD, "Apart from in front of the garage, parking in the yard is permitted."),
        (YARD, "You can't park in front of the garage, but you can in the yard."),
        (YARD, "Parking in the yard is fine, while parking in front of the garage is forbidden."),
        (YARD, "In the yard parking is permitted and in front of the garage it is forbidden."),
        (FLAT, "Smoking is prohibited everywhere in the flat save the balcony."),
        (FLAT, "Smoking inside the flat is prohibited even with the balcony door open."),
        (FLAT, "Smoking is allowed on the balcony, prohibited elsewhere in the flat."),
        (FLAT, "Because smoking is allowed on the balcony, step out there rather than smoke inside the flat."),
        (GRILL, "Grilling is allowed on the lawn."),
        (MASK, "In the cafeteria, it's up to you whether to wear a mask."),
        (DEVICE, "Registering the device is recommended."),
        (LIFT, "You may not use the lift during a fire."),
        ("Storing fuel in the flat is forbidden.", "You may not store fuel in the flat."),
        (FISHING, "You may fish from the old pier with a permit."),
        ("Feeding the ducks is allowed.", "Feel free to feed the ducks."),
    ],
)
async def test_a_case_that_is_set_apart_and_an_act_in_another_form_turn_nothing_red(fact, answer):
    assert set(await verdicts(answer, fact)) == {"SUPPORTED"}


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (FLAT, "On the balcony smoking is prohibited."),
        (FLAT, "In the flat and on the balcony, smoking is prohibited."),
        (FLAT, "Smoking is allowed in the flat, the stairwell and on the balcony."),
        (MASK, "In the ward wearing a mask is optional."),
        (POOL, "You may dive into the pool."),
        (DEVICE, "You must register the device."),
        (LIFT, "You may use the lift during a fire."),
        (DUCKS, "Feel free to feed the ducks."),
    ],
)
async def test_an_act_is_the_same_in_each_of_its_forms(fact, answer):
    assert "CONTRADICTED" in await verdicts(answer, fact)


ADMISSION = "Admission: £8 for adults, seniors or students, £4 for children and £2 for dogs."
DEPOSIT = "The deposit is €50 for a bike, €80 for a trailer or a tandem, and €20 for a helmet."
MEMBERS = "Adults pay £5, silver and bronze members £3."
SMALL, LARGE = "Wash: Load: Small; Weight: 1–3 kg; Powder: 40 g", "Wash: Load: Large; Weight: 4–7 kg; Powder: 90 g"  # noqa: RUF001
PARCELS = "Delivery takes 2–4 days within the UK and 5–10 days abroad."  # noqa: RUF001
HOURS = "Reading room hours: Monday to Friday 9 am to 5 pm; Saturday 10 am to 2 pm."
FEE = "The fee is £10 per month."


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        ((ADMISSION,), "Students pay £8."),
        ((ADMISSION,), "Children pay £4."),
        ((DEPOSIT,), "The deposit for a tandem is €80."),
        ((DEPOSIT,), "The deposit for a helmet is €20."),
        ((MEMBERS,), "Adults pay £5."),
        ((MEMBERS,), "Silver members pay £3."),
        ((SMALL, LARGE), "For 5 kg use 90 g of powder."),
        ((PARCELS,), "Delivery within the UK may take 3 days."),
        ((OFFICE, "In summer the office is open from 5 pm to 9 pm."), "The office opens at 5 pm."),
        ((HOURS,), "On Saturday the reading room opens at 10 am."),
        ((HOURS,), "On Friday the reading room closes at 5 pm."),
        ((FEE,), "The fee is £10 a month."),
        ((FEE,), "The fee is £120 a year."),
    ],
)
async def test_an_amount_of_a_list_a_range_or_a_period_is_right_in_its_place(facts, answer):
    assert set(await verdicts(answer, *facts)) == {"SUPPORTED"}


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        ((ADMISSION,), "Students pay £4."),
        ((ADMISSION,), "Children pay £8."),
        ((DEPOSIT,), "The deposit for a tandem is €20."),
        ((SMALL, LARGE), "For 5 kg use 40 g of powder."),
        ((HOURS,), "On Saturday the reading room opens at 2 pm."),
        ((HOURS,), "On Friday the reading room closes at 9 am."),
        ((FEE,), "The fee is £10 a year."),
    ],
)
async def test_an_amount_of_a_list_a_range_or_a_period_is_not_borne_out_in_another(facts, answer):
    assert "SUPPORTED" not in await verdicts(answer, *facts)


@pytest.mark.parametrize(
    ("act", "verb"),
    [("using", "use"), ("registering", "register"), ("diving", "dive"), ("running", "run"), ("paying", "pay")],
)
def test_an_act_has_the_root_of_its_verb(act, verb):
    assert act_root(act) == root(verb)


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (MASK, "In the ward it's up to you whether to wear a mask."),
        (MASK, "In the ward, it's up to you whether to wear a mask."),
        (TALK, "Before a second resit, it's up to you whether you attend the talk."),
        (JETTY, "You may jump from the old jetty by the gate."),
        (MUSEUM, "You can take photos in the museum."),
        (LOAN, "The overdraft of a Sole Trader costs 17.4% per month."),
        (
            "Before a second resit, students must attend an advisory talk.",
            "You're welcome to attend an advisory talk before the second resit, but whether you go is up to you.",
        ),
    ],
)
async def test_a_wrong_answer_in_other_words_is_not_borne_out(fact, answer):
    assert "SUPPORTED" not in await verdicts(answer, fact)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("UK", "United Kingdom", True),
        ("the EU", "European Union", True),
        ("U.S.", "United States of America", True),
        ("FOS", "Financial Ombudsman Service", True),
        ("UK", "Ukraine", False),
        ("EU", "United Kingdom", False),
    ],
)
def test_an_acronym_is_its_name(one, other, is_same):
    assert akin(one, other) is akin(other, one) is is_same


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("60 days a year", "60 days per month", False),
        ("60 days in any year", "60 days each year", True),
        ("4% a month", "4% per year", False),
        ("two visits a year", "two visits per month", False),
        ("two weeks a year", "two weeks", True),
        ("30 days of a month", "30 days", True),
    ],
)
def test_an_amount_is_for_its_length_of_time(one, other, is_same):
    first, second = scan_values(one)[0], scan_values(other)[0]
    assert agrees(first, second) is agrees(second, first) is is_same


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("The maximum is 600 mg, which comes to four 200 mg tablets.", ["four 200 mg"]),
        ("The maximum is 600 mg, which comes to three 200 mg tablets.", []),
        ("The pack weighs 2 kg, that is four bags of 500 g.", []),
        ("The pack weighs 2 kg, that is five bags of 500 g.", ["five bags of 500 g"]),
        ("The fee is £12, so 3 guests at £5 pay less.", []),
    ],
)
def test_an_amount_in_pieces_is_reckoned(text, wrong):
    assert [text[one.wrong.start : one.wrong.end] for one in slips(text)] == wrong


async def test_what_is_reached_by_a_length_from_the_askers_time_is_no_invention():
    fact = "Report a lost device to the Service Desk within one hour of noticing it."
    asked = "I noticed at 14:10 that my laptop is missing. By what time must I have reported it?"
    parts = models()
    parts.embedding._calibration = EverythingNear()
    using = app(embedding=parts.embedding, grounding=TableGrounding(lambda _: 0.9))
    answer = "By 15:10, because you have one hour from the moment you noticed."
    finished = await analyse(answer, fact, query=asked, using=using)
    assert not finished.analysis.outputs.fabrication.found
    finished = await analyse(answer.replace("15:10", "15:40"), fact, query=asked, using=using)
    assert finished.analysis.outputs.fabrication.found


async def test_a_clause_without_words_of_its_own_is_claimed_with_the_one_before():
    finished = await analyse("The insurer may cancel at once, but you may not. Feel free to ask.", "It may cancel.")
    [first, last] = finished.analysis.outputs.text.claims
    assert first.text == "The insurer may cancel at once, but you may not."
    assert (str(first.claim_type), str(last.claim_type)) == ("FACTUAL", "META")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("You're welcome to bring a guest to the talk.", "FACTUAL"),
        ("Since you mentioned a dog, the ground floor is closed to you.", "FACTUAL"),
        ("You're welcome!", "META"),
        ("You asked about the talk.", "META"),
    ],
)
async def test_politeness_is_no_way_around_the_check(text, kind):
    finished = await analyse(text, "The talk is in the hall.")
    assert {str(one.claim_type) for one in finished.analysis.outputs.text.claims} == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "It lasts 6 months or 6,000 miles, whichever you reach first.",
        "It runs from then and ends at the period or the limit, whichever comes first.",
    ],
)
def test_two_ends_of_one_thing_are_one_claim(text):
    assert [text[one.start : one.end] for one in clauses(text, 0, len(text))] == [text]


@pytest.mark.parametrize(
    ("fact", "answer", "contradicted"),
    [
        ("A letter takes 2 to 4 working days.", "A letter may take 3 days.", False),
        ("A letter takes 2 to 4 working days.", "A letter may take five days.", False),
        ("A letter takes 2 to 4 working days.", "A letter may take 10 days.", True),
        ("A letter takes 3 to 5 days.", "A letter may take 3 working days.", False),
        ("A letter takes 3 to 5 days.", "A letter may take 2 working days.", False),
        ("A letter takes 3 to 5 days.", "A letter may take 7 working days.", True),
        ("A letter takes 2 to 4 working days.", "A letter takes 6 working days.", True),
    ],
)
async def test_days_that_may_be_so_many_working_days_are_not_another_number(fact, answer, contradicted):
    assert ("CONTRADICTED" in await verdicts(answer, fact)) is contradicted
