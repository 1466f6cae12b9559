"""Values in their places (ADR 0094): what each is said of, limits from both sides, what follows from what."""

import pytest

from services.common.reading.agreement import agrees
from services.common.reading.bounds import Bound, limit_of, out_of_bounds
from services.common.reading.text_types import Claim, ClaimType, Span
from services.common.reading.values import scan_values
from services.dpe.domain.alignment import align_values
from services.dpe.domain.cases import is_case
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.findings import AlignedValue
from services.dpe.domain.notation import in_fact_notation, restated
from tests.each import each
from tests.fakes.dpe_world import TableGrounding, analyse, app


def claim_of(text, start=0):
    return Claim("c", text, start, start + len(text), 0, ClaimType.FACTUAL, 1.0, (), scan_values(text))


def aligned(answer, *facts):
    views = [read_fact(number, EnvelopeFact(str(number), text), ()) for number, text in enumerate(facts)]
    return align_values(claim_of(answer), [place for view in views for place in view.places])


def conflicts(answer, *facts):
    return [(pair.claimed.text, pair.known.text) for pair in aligned(answer, *facts) if not pair.equal or pair.turned]


KEPT = "Claims files are kept for 10 years after the file is closed, and for 30 years when a person was injured."
MOTOR = (
    "Until 31 December 2025 a motor accident had to be reported within 14 days; since then it has to be reported "
    "within 7 days."
)
MENU = "Hall | Weekday | Weekend\nLarge hall | 120 EUR | 180 EUR\nSmall hall | 70 EUR | 95 EUR"


@each(
    ("answer", "fact", "conflict"),
    [
        ("Claims files are kept for 3 years after the file is closed.", KEPT, True),
        ("Claims files are kept for 10 years after the file is closed.", KEPT, False),
        ("Claims files are kept for 30 years when a person was injured.", KEPT, False),
        ("Claims files are kept for 10 years when a person was injured.", KEPT, True),
        ("A motor accident has to be reported within 30 days.", MOTOR, True),
        ("The small hall costs 70 EUR on a weekday.", MENU, False),
        ("The small hall costs 95 EUR on a weekday.", MENU, True),
        ("The small hall costs 120 EUR on a weekday.", MENU, True),
        ("The lamp runs for 20 minutes.", "The lamp runs for 20 hours.", True),
        ("The tank is cleaned once a month.", "The tank is cleaned once a year.", True),
        ("The tank is cleaned every twelve months.", "The tank is cleaned once a year.", False),
        ("The box costs 40 EUR a month.", "The box costs 40 EUR a year.", True),
        ("The notice period is 14 days.", "The notice period is 14 working days.", True),
        ("The notice period is 14 business days.", "The notice period is 14 working days.", False),
        ("Rent is due on the first working day.", "Rent is due on the third working day of each month.", True),
        ("Rent is due on the 3rd working day.", "Rent is due on the third working day of each month.", False),
        ("Rent is due on the third business day.", "Rent is due on the 3rd working day of the month.", False),
        ("The meeting is held on the first Monday.", "The meeting is held on the third Monday of the month.", True),
        ("In the first instance rent is due in May.", "In the second instance rent is due in May.", False),
        ("The deposit is three monthly rents.", "The tenant pays a deposit of two months' rent.", True),
        ("The deposit is two net monthly rents.", "The tenant pays a deposit of two months' rent.", False),
        ("The deposit is a month's rent.", "The tenant pays a deposit of two months' rent.", True),
        ("The contract can be ended at a month's notice.", "The contract can be ended at three months' notice.", True),
        ("The contract can be ended at a month's notice.", "The contract can be ended at one month's notice.", False),
    ],
)
def test_what_a_value_is_said_of(answer, fact, conflict):
    assert bool(conflicts(answer, fact)) is conflict


GAPS = "Leave a gap of 20 cm at the sides and back and 50 cm above the top."
PAY = "Primary carer; Maximum length: 40 weeks; Company pay: Full pay for 18 weeks, then half pay for 12 weeks"


@pytest.mark.parametrize(
    ("answer", "fact", "conflict"),
    [
        ("Leave 20 cm free at the sides and back, and 30 cm above the top.", GAPS, ("30 cm", "50 cm")),
        (
            "You get full pay for 18 weeks and then half pay for 22 weeks, out of a maximum of 40 weeks' leave.",
            PAY,
            ("22 weeks", "12 weeks"),
        ),
    ],
    ids=["prose", "cells"],
)
def test_what_the_fact_states_is_not_what_was_changed_beside_a_value_that_it_does_not_state(answer, fact, conflict):
    assert conflicts(answer, fact) == [conflict]
    stated = {pair.claimed.text for pair in aligned(answer, fact) if pair.equal}
    assert stated == {value.text for value in scan_values(answer)} - {conflict[0]}


async def test_a_changed_value_is_reported_once_and_by_its_own_words():
    answer = "Leave 20 cm free at the sides and back, and 30 cm above the top."
    found = (await analyse(answer, GAPS)).analysis.outputs.distortion.found
    assert [answer[item.answer_span.start : item.answer_span.end] for item in found] == ["30 cm"]


@pytest.mark.parametrize(
    ("answer", "fact", "conflict"),
    [
        ("The patient may lift up to 2 kg.", "The patient must not lift more than 2 kg.", False),
        ("The patient may lift more than 2 kg.", "The patient must not lift more than 2 kg.", True),
        ("The pass is accepted until 3 May 2027.", "The pass is accepted until 3 May 2027.", False),
        ("The pass is accepted from 3 May 2027.", "The pass is accepted until 3 May 2027.", True),
        ("One host may look after six visitors at most.", "One host may look after at most six visitors.", False),
        ("One host may look after six visitors or more.", "One host may look after at most six visitors.", True),
        ("A notice of two months is too short.", "A notice of at least three months is required.", False),
        ("A notice of four months is too short.", "A notice of at least three months is required.", True),
    ],
)
def test_limits_from_both_sides(answer, fact, conflict):
    assert bool(conflicts(answer, fact)) is conflict


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("no fewer than 14 pages", (Bound.AT_LEAST, False)),
        ("no more than 14 pages", (Bound.AT_MOST, False)),
        ("a minimum length of 14 pages", (Bound.AT_LEAST, False)),
        ("14 days or longer", (Bound.AT_LEAST, False)),
        ("has had no repairs since 4 May 2024", (Bound.AT_MOST, True)),
        ("may not hang lower than 2.1 metres", (Bound.AT_LEAST, True)),
        ("14 pages", None),
    ],
)
def test_a_limit_with_its_negation(text, limit):
    assert limit_of(text, 0, scan_values(text)[-1]) == limit
    assert out_of_bounds(text, 0, scan_values(text)[-1]) is None


@pytest.mark.parametrize(
    ("answer", "facts", "equal"),
    [
        (
            "The clinic saw 215 patients in total.",
            ["The clinic saw 120 patients in the east and 95 in the west."],
            True,
        ),
        ("The fund shrank by 50 euros.", ["The fund held 500 euros in May and 450 euros in June."], True),
        ("A quarter of the shops are rented.", ["Of the 640 shops, 160 are rented."], True),
        ("A fifth of the shops are rented.", ["Of the 640 shops, 160 are rented."], False),
        ("Sales rose by 25 percent.", ["Sales rose from 80 euros in the first year to 100 euros in the second."], True),
        ("In total 7 dogs took part.", ["3 dogs from Kiel and 5 dogs from Bonn took part."], False),
        ("In total 8 dogs took part.", ["3 dogs from Kiel and 5 dogs from Bonn took part."], True),
        (
            "With the rent of 900 euros, 40 euros for the garage and 15 euros for the cellar, you pay 955 euros.",
            ["The rent is 900 euros.", "The garage costs 40 euros.", "The cellar costs 15 euros."],
            True,
        ),
        (
            "Without those that are broken or lent, 36 chairs are left.",
            ["Of the 50 chairs, 8 chairs are broken and 6 chairs are lent."],
            True,
        ),
        ("The bridge was built in three years.", ["The bridge was begun in 2019 and opened in 2022."], True),
        ("The course lasts 4 days.", ["The course runs from 3 May 2027 to 7 May 2027."], True),
        ("The lease runs until 2025.", ["The lease was signed on 1 April 2020 and runs for five years."], True),
        ("The desk closes at 18:45.", ["The desk closes 90 minutes before departure. Departure is at 20:15."], True),
    ],
)
def test_what_follows_from_values(answer, facts, equal):
    pairs = [pair for pair in aligned(answer, *facts) if pair.derivation]
    assert [pair.equal for pair in pairs] == [equal]
    assert "=" in pairs[0].derivation


OFFER = (
    "Call, What we offer: Scholarship: Harbour; Number: 12; Amount per year: £6,500; Length: 3 years; Level: Bachelor",
    "Call, What we offer: Scholarship: Estuary; Number: 8; Amount per year: £11,000; Length: 1 year; Level: Master",
    "Call, What we offer: Scholarship: Tideline; Number: 4; Amount per year: £3,200; Length: 2 years; Level: Master",
)
PLANS = (
    "Terms, Plans: Price per month; Hobby: €0; Studio: €79; Fleet: €540",
    "Terms, Plans: Extra requests, per 1,000; Hobby: not available; Studio: €0.35; Fleet: €0.14",
)
STOCK = (
    "Report, Products: Customer: Westlea Trust; Product: Influenza vaccine; Units affected: 1,240",
    "Report, Products: Customer: Westlea Trust; Product: Insulin cartridges; Units affected: 860",
    "Report, Products: Customer: Carden; Product: Insulin cartridges; Units affected: 415",
)
PRESENT = ("Present: 47 members in person and 12 by proxy, out of 84 members.",)
STORE = ("The store rose above the limit of 8 °C for six hours.", "The highest temperature measured was 15.3 °C.")


@each(
    ("answer", "facts", "derivation"),
    [
        ("There are 24 scholarships in total.", OFFER, "12 + 8 + 4 = 24"),
        ("There are 25 scholarships in total.", OFFER, ""),
        ("There are 24 scholarships.", OFFER, ""),
        ("Insulin cartridges: 1,275 units.", STOCK[1:], "860 + 415 = 1275"),
        ("Harbour and Tideline come to 16 scholarships.", OFFER, "12 + 4 = 16"),
        ("There are 12 scholarships at Master level.", OFFER, "8 + 4 = 12"),  # not the 12 of Harbour
        ("A Harbour scholarship held for three years is worth £19,500.", OFFER, "3 x £6,500 = 19500 GBP"),
        ("An Estuary scholarship is worth £33,000.", OFFER, ""),
        ("Ten thousand extra requests on Studio cost €3.50.", PLANS, "10 x €0.35 = 3.5 EUR"),
        ("Ten thousand extra requests on Fleet cost €3.50.", PLANS, ""),
        ("Studio costs €948 a year.", PLANS, "12 x €79 = 948 EUR"),
        ("Altogether 1,275 insulin cartridges were affected.", STOCK, "860 + 415 = 1275"),
        ("Westlea Trust had 2,100 units affected.", STOCK, "1,240 + 860 = 2100"),
        ("A small box costs £10 a month.", ("A small box costs £120 a year.",), "£120 / 12 = £10"),
        ("Counting proxies, 59 of the 84 members were represented.", PRESENT, "47 + 12 = 59"),
        ("At its worst the store was 7.3 °C above the limit.", STORE, "15.3 °C - 8 °C = 7.3 °C"),
    ],
)
def test_what_follows_from_rows_and_runs(answer, facts, derivation):
    found = [pair.derivation for pair in aligned(answer, *facts) if pair.derivation and pair.equal]
    assert found == ([derivation] if derivation else [])


def test_a_sum_names_every_fact_that_it_is_added_up_from():
    (pair,) = [one for one in aligned("There are 24 scholarships in total.", *OFFER) if one.derivation]
    assert pair.derived_from == (0, 1, 2)


async def test_what_is_reckoned_out_is_left_open_by_a_model_that_cannot_reckon():
    using = app(grounding=TableGrounding(lambda _: 0.1))
    answer = "Kept up until its very end after all three years, one Harbour scholarship brings somebody £19,500."
    (judged,) = (await analyse(answer, *OFFER, using=using)).analysis.outputs.fidelity.judgements.values()
    assert str(judged.verdict) == "UNDECIDED"


SWITCHED = "Version 2 is frozen and will be switched off on 31 January 2025."


@each(
    ("answer", "length", "conflict"),
    [
        (
            "Version 2 will be switched off on 31 January 2026.",
            "Students may use Studio free of charge for twelve months with an address of the university.",
            True,
        ),
        (
            "With the extension of twelve months, version 2 will be switched off on 31 January 2026.",
            "The extension of version 2 is twelve months.",
            False,
        ),
    ],
)
def test_a_date_is_moved_by_a_length_of_its_own_matter_alone(answer, length, conflict):
    found = [one for one in conflicts(answer, SWITCHED, length) if "2026" in one[0]]
    assert bool(found) is conflict


def test_a_year_over_a_column_is_no_count():
    row = "Report, Generation: Technology: Solar; Output 2023 (GWh): 295; Availability 2023: 98.9%"
    assert conflicts("Solar had the highest availability of the four technologies, at 98.9%.", row) == []


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("With the rent of 900 euros and 40 euros for the garage, you pay 940 euros.", "SUPPORTED"),
        ("With the rent of 900 euros and 40 euros for the garage, you pay 950 euros.", "UNSUPPORTED"),
        ("With the rent of 900 euros and 40 euros for the stable, you pay 940 euros.", "UNSUPPORTED"),
    ],
    ids=["sum", "another sum", "an addend of something else"],
)
async def test_a_sum_that_the_claim_reckons_out_is_borne_out_by_its_addends(answer, verdict):
    facts = ("The rent is 900 euros.", "The garage costs 40 euros.", "The stable costs 60 euros.")
    using = app(grounding=TableGrounding(lambda _: 0.1))
    (judged,) = (await analyse(answer, *facts, using=using)).analysis.outputs.fidelity.judgements.values()
    assert str(judged.verdict) == verdict


@pytest.mark.parametrize(
    ("claimed", "known", "same"),
    [
        ("14 claims", "14 days", False),
        ("14", "14 days", True),
        ("3 cents", "EUR 0.03", True),
        ("half past six", "18:30", True),
        ("half past six in the morning", "18:30", False),
        ("400 megabits", "400 megabytes", False),
        ("5 kilonewtons", "5,000 newtons", True),
        ("400 international units", "400 IU", True),
    ],
)
def test_a_number_agrees_with_what_it_counts(claimed, known, same):
    assert agrees(scan_values(claimed)[0], scan_values(known)[0]) is same


HIRE = (
    "Hire terms, 2. Vehicle groups: Group: D; Example: Nine-seat minibus; Excess: 1,800 EUR; Full cover: 16 EUR per day"
)


@pytest.mark.parametrize(
    ("answer", "conflict"),
    [
        ("At 22 you may hire a minibus of these vehicle groups.", False),
        ("The minibus has seven seats.", True),
        ("Without full cover the excess of the minibus is 1,800 EUR.", False),
        ("The excess of the minibus is 1,200 EUR.", True),
    ],
    ids=["an age", "a count", "of another measure", "another value"],
)
def test_the_number_of_a_section_and_values_of_another_measure_displace_nothing(answer, conflict):
    assert bool(conflicts(answer, HIRE)) is conflict


@pytest.mark.parametrize(
    ("answer", "fact", "conflict"),
    [
        (
            "A complaint file has to be retained for five years, counted from the day the final response was given.",
            "Complaint files are kept for 6 years from the date of the final response.",
            True,
        ),
        (
            "An open vial can stay in the bag for a maximum of four months.",
            "An open vial may be carried for no more than 28 days.",
            True,
        ),
        (
            "An open vial can stay in the bag for a maximum of four weeks.",
            "An open vial may be carried for no more than 28 days.",
            False,
        ),
        ("The tour of the old town takes two hours.", "The museum's guided walk for schools takes 90 minutes.", False),
    ],
    ids=["other words", "same side", "equal", "of something else"],
)
def test_a_value_is_held_against_that_of_a_paraphrase(answer, fact, conflict):
    assert bool(conflicts(answer, fact)) is conflict


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("A file has to be kept for five years, counted from the day the answer was given.", False),
        ("A rotor that has been in use for eight years must be retired.", True),
        ("The radius leaves a hospital three kilometres from the shop open to others.", True),
        ("Once a hire has lasted 18 weeks, the owner pays for the removal.", True),
        ("The notice period is 14 days.", False),
    ],
)
def test_a_value_of_a_case_is_told_from_one_that_is_said(text, case):
    value = scan_values(text)[-1]
    assert is_case(text, value) is case


def test_claims_are_restated_as_the_facts_write_their_values():
    claims = [claim_of("Report it within three days."), claim_of("Report it within 5 days."), claim_of("Report it.")]
    facts = [scan_values("Report it within 72 hours."), scan_values("Report it within 5 days.")]
    assert restated(claims, facts) == {"Report it within three days.": "Report it within 72 hours."}
    assert restated(claims, []) == {}


def test_a_claim_in_the_notation_of_its_fact():
    claim = claim_of("They have three days, until 4 July 2025, for it.", start=10)
    values = tuple(value for value in claim.values)
    shifted = claim_of("x" * 10 + claim.text).values
    claim = Claim("c", claim.text, 10, claim.end, 0, ClaimType.FACTUAL, 1.0, (), shifted)
    known = scan_values("within 72 hours of 2025-07-04")
    pairs = [AlignedValue(own, other, equal=True) for own, other in zip(shifted, known, strict=True)]
    asked = in_fact_notation(claim, pairs)
    assert asked.text == "They have 72 hours, until 2025-07-04, for it."
    assert len(values) == len(known)
    place = asked.text.index("hours")
    own = asked.span(place, place + 5)
    assert claim.text[own.start : own.end] == "three days"
    tail = asked.span(asked.text.index("for it"), len(asked.text))
    assert claim.text[tail.start : tail.end] == "for it."
    assert asked.span(0, 4) == Span(0, 4)


async def test_the_encoders_are_asked_in_the_notation_of_the_fact():
    model = TableGrounding(lambda _: 0.9)
    await analyse(
        "A loss must be reported within three days.",
        "A loss must be reported within 72 hours.",
        using=app(grounding=model),
    )
    assert [request.claim for call in model.calls for request in call] == ["A loss must be reported within 72 hours."]


async def test_a_derived_value_is_no_fabrication():
    fact = "The clinic saw 120 patients in the east and 95 patients in the west."
    right = await analyse("The clinic saw 215 patients in total.", fact)
    wrong = await analyse("The clinic saw 217 patients in total.", fact)
    assert not right.analysis.outputs.fabrication.found
    assert [item.entity.text for item in wrong.analysis.outputs.fabrication.found] == ["217"]


TIERS = (
    "Cover: Sum insured; Basic: £40,000; Plus: £75,000; Premier: £150,000",
    "Cover: Valuables (share of sum insured); Basic: 20%; Plus: 30%; Premier: 40%",
)


@pytest.mark.parametrize(
    ("answer", "derivation"),
    [
        ("Under Plus valuables can make up 30% of the sum insured, so £22,500.", "30% of £75,000 = 22500 GBP"),
        ("Under Plus valuables can make up 30% of the sum insured, so £12,000.", None),
        ("Under Plus valuables can make up 30% of the sum insured, so £23,500.", None),
        ("Under Plus valuables can make up 10% of the sum insured, so £7,500.", None),
    ],
    ids=["own column", "other column", "wrong sum", "a share that stands nowhere"],
)
def test_a_share_that_the_claim_names_is_taken_of_a_value_of_its_own_column(answer, derivation):
    money = [pair for pair in aligned(answer, *TIERS) if pair.claimed.unit == "GBP"]
    found = [pair.derivation for pair in money if pair.equal and pair.derivation]
    assert found == ([derivation] if derivation else [])


def test_since_says_nothing_of_a_date_but_its_side():
    facts = ("Approved by: Committee, 12 March 2025", "In force from: 7 April 2025")
    assert conflicts("It has been in force since 12 March 2025.", *facts) == [("12 March 2025", "7 April 2025")]
    assert conflicts("It has been in force since 7 April 2025.", *facts) == []


@pytest.mark.parametrize(
    ("answer", "turned"),
    [
        ("Patients younger than sixteen years are outside its scope.", False),
        ("Patients under 16 years of age are left out of it.", False),
        ("It applies to patients under 16 years of age.", True),
    ],
)
def test_who_lies_outside_of_a_scope_lies_on_the_same_side_as_whom_it_does_not_apply_to(answer, turned):
    found = conflicts(answer, "It does not apply to patients under 16 years of age.")
    assert bool(found) is turned


LOST = "Bonus interest is earned for a year. You lose all of it if you make more than four withdrawals."


@pytest.mark.parametrize(
    ("answer", "fact", "conflict"),
    [
        ("You earn a bonus if you don't make more than four withdrawals.", LOST, False),
        ("You lose all of it if you don't make more than four withdrawals.", LOST, True),
        ("A second guide is paid if there are more than ten guests.", "One guide leads at most ten guests.", False),
        (
            "The deposit is kept if you cancel more than two classes.",
            "The deposit is kept if you cancel at most two.",
            True,
        ),
    ],
)
def test_a_condition_is_turned_together_with_what_depends_on_it(answer, fact, conflict):
    assert any(pair.turned for pair in aligned(answer, fact)) is conflict


BEHIND = "Passwords of accounts shall have a minimum length of 14 characters and shall not contain the user name."
BEFORE = "Passwords of accounts shall not contain the user name and shall have a minimum length of 14 characters."
DENIED = "Passwords of accounts shall be known to nobody and need not have a minimum length of 14 characters."


@pytest.mark.parametrize(
    ("answer", "fact", "conflict"),
    [
        ("The password of an account must have no more than 14 characters.", BEHIND, True),
        ("The password of an account must have no more than 14 characters.", BEFORE, True),
        ("The password of an account must have at least 14 characters.", BEHIND, False),
        ("The password of an account must have at least 14 characters.", BEFORE, False),
        ("The password of an account need not have a minimum of 14 characters.", DENIED, False),
    ],
)
def test_a_second_verb_of_a_sentence_is_denied_for_itself(answer, fact, conflict):
    assert any(pair.turned for pair in aligned(answer, fact)) is conflict


@pytest.mark.parametrize(
    ("answer", "is_found"),
    [
        ("It is £0.25 a day per book, up to £8.", False),
        ("The charge is £0.25 a day per book, and at most £8.", False),
        ("The fine is £8 per book and day, at most £0.25 per book.", True),
    ],
)
async def test_a_value_and_its_limit_are_told_apart_by_the_limit(answer, is_found):
    done = await analyse(answer, "The fine is £0.25 per book and day, at most £8 per book.")
    assert bool(done.analysis.outputs.distortion.found) is is_found
