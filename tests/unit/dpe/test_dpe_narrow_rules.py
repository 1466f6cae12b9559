"""What ages, shares, bands and days do not say: each pair was borne out, or contradicted, wrongly before."""

import pytest

from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.rules.ages import changed_age, told_age
from services.dpe.domain.rules.bands import changed_band, told_band
from services.dpe.domain.rules.day_hours import changed_day_hours
from services.dpe.domain.rules.rates import changed_share, told_share
from services.dpe.domain.rules.sources import read_claim, read_sources
from tests.each import each
from tests.fakes.checks import checker

DOCUMENTS = (
    "The passport photo must not be older than six months. The bank statement must not be older than three months."
)
VEHICLES = (
    "The vehicle must have been inspected within the last 12 months. Vehicles older than five years are not accepted."
)
DOMESTIC = "Domestic rates: parcels up to 10 kg cost €30, over 10 to 25 kg cost €60."
PARCELS = "Parcels up to 10 kg cost €30, parcels over 10 to 25 kg cost €60."
WEIGHTS = "Weight: up to 10 kg; Price: €30\nWeight: over 10 to 25 kg; Price: €60"
ORDERS = "Orders placed on Saturday before 12 noon are delivered on Monday by 9 am."
STAY = "Check-in is on Saturday from 3 pm and check-out is on Sunday by 10 am."
SHOP = "The shop opens at 9 am on Monday. The shop opens at 11 am on Saturday."
AGES_OPEN = (
    ("The dog must have been vaccinated within the last 12 months.", "The dog must not be older than 12 months."),
    ("The boiler must have been serviced in the past two years.", "The boiler must be at most two years old."),
    ("The boiler must be at most two years old.", "The boiler must have been serviced in the past two years."),
    ("Documents may be older than three months.", "Documents must be at least three months old."),
    ("Documents may be older than three months.", "Documents must be older than three months."),
    ("Documents must be older than three months.", "Documents may be older than three months."),
    ("Payslips older than two months are accepted.", "Payslips must be older than two months."),
    ("Payslips older than two months are also accepted.", "Payslips must be older than three months."),
    ("Cheese may be 12 months old or older.", "Cheese must be at least 12 months old."),
    ("No documents older than three months are required.", "Documents must be at most three months old."),
    ("The cheese need not be older than 12 months.", "The cheese must not be older than 12 months."),
    ("The cheese does not have to be older than 12 months.", "The cheese must be at most 12 months old."),
    ("The photo should not be older than six months.", "The photo must not be older than six months."),
    ("Drivers must be at least 18 years old.", "Drivers must be older than 18 years."),
    ("Drivers must be older than 18 years.", "Drivers must be at least 18 years old."),
    ("Kittens must be less than two months old.", "Kittens must be up to two months old."),
    (
        "Forms that are not signed must be older than two months.",
        "Forms that are signed must be at most two months old.",
    ),
    ("Children older than 12 years must pay the full fare.", "Children must be at least 6 years old."),
    ("Only payslips from the last two months are accepted.", "Payslips not older than one month are accepted."),
    (DOCUMENTS, "The card must be at most three months old."),
)
AGES_TOLD = (
    (DOCUMENTS, "The passport photo may be at most six months old."),
    (DOCUMENTS, "The bank statement must be from within the last three months."),
    (VEHICLES, "Vehicles must be no older than five years."),
    ("Drivers must be older than 18 years.", "Drivers must be more than 18 years old."),
    ("Kittens may be at most two months old.", "Kittens must not be older than two months."),
    (
        "The dog must be at least 12 weeks old. The dog must be at most 10 years old.",
        "The dog must be at least 12 weeks old.",
    ),
    ("Dogs younger than 12 weeks are not accepted.", "Dogs must be at least 12 weeks old."),
)
SHARES_OPEN = (
    ("The insurer pays 80% of the £1,000 claim.", "What do I pay?", "You pay £200."),
    ("The insurer pays 80% of the £1,000 claim.", "What do I pay?", "You pay £800."),
    ("The insurer pays 80% of the £1,000 claim.", "What is paid?", "The insured pays £300."),
    ("The customer pays 20% of £5,000 on signing.", "What is paid in total?", "The customer pays £5,000."),
    ("The customer pays 20% of £5,000 on signing.", "What is paid in total?", "The customer pays £1,000."),
    ("The customer pays 20% of £5,000 on signing.", "What does the customer pay?", "The customer pays £5,000."),
    ("VAT is 20% of £500.", "What is the total with VAT?", "£600"),
    ("VAT is 20% of £500.", "What is the total with VAT?", "£100"),
    ("The agent receives 3% of the £200,000 price.", "What does the owner receive?", "The owner receives £194,000."),
    ("The agent receives 3% of the £200,000 price.", "What does the owner receive?", "£6,000"),
    ("The landlord pays the tenant 20% of £5,000.", "What does the tenant pay the landlord?", "£1,000"),
    ("We pay 20% of £5,000.", "What do you pay?", "You pay £1,000."),
    ("The fee is 20% of £5,000.", "What is the fee in Ireland?", "£1,000"),
    ("The discount is 20% of £500.", "What is the discount?", "The discount is £400."),
)
BANDS_OPEN = (
    (DOMESTIC, "What does a parcel of 20 kg to France cost?", "A parcel of 20 kg costs €60."),
    (DOMESTIC, "What does a parcel of 20 kg to France cost?", "A parcel of 20 kg to France costs €30."),
    (f"{PARCELS} Parcels to France cost €90.", "What does a parcel of 20 kg to France cost?",
     "A parcel of 20 kg costs €90."),
    (f"{PARCELS} Express delivery costs €90.", "What does express delivery of a parcel of 20 kg cost?",
     "A parcel of 20 kg costs €90."),
    (f"{PARCELS} Express delivery costs €90.", "What does a parcel of 20 kg cost?", "A parcel of 20 kg costs €90."),
    (f"Parcels to France cost €90. {PARCELS}", "What does a parcel of 20 kg to France cost?",
     "A parcel of 20 kg costs €60."),
    (f"Parcel rates by weight.\n{WEIGHTS}", "What does a piano of 20 kg cost?", "A piano of 20 kg costs €60."),
    (WEIGHTS, "What does a parcel cost?", "A piano of 20 kg costs €60."),
)  # fmt: skip
DAYS_OPEN = (
    (ORDERS, "When is an order placed on Saturday delivered?", "It is delivered by 9 am."),
    (STAY, "If I arrive on Saturday, when must I check out?", "By 10 am."),
    (f"{SHOP} The desk opens at 9 am.", "When does the desk open on Saturday?", "It opens at 9 am."),
    (
        "The shop is open on Friday from 9 am to 5 pm and closed on Saturday from 1 pm to 2 pm.",
        "When does the shop open on Saturday?",
        "It opens at 9 am.",
    ),
    (SHOP, "When does the café open on Saturday?", "It opens at 9 am."),
    (SHOP, "When does the shop open on Saturday?", "The café opens at 9 am."),
)


def _read(fact, asked, answer):
    return read_claim(answer, 0, asked=asked), read_sources(read_fact(0, EnvelopeFact("", fact), ()), 0)


@each(("fact", "answer"), AGES_OPEN)
def test_an_age_of_something_else_or_that_is_only_allowed_tells_nothing_and_denies_nothing(fact, answer):
    claim, known = _read(fact, "How old may it be?", answer)
    assert told_age(claim, known) == ()
    assert changed_age(claim, known) is None


@each(("fact", "answer"), AGES_TOLD)
def test_the_limit_of_one_thing_in_a_list_is_told_and_no_other_denies_it(fact, answer):
    claim, known = _read(fact, "How old may it be?", answer)
    assert told_age(claim, known)
    assert changed_age(claim, known) is None


def test_two_limits_of_one_thing_on_one_side_tell_nothing():
    fact = "The dog must be at least 12 weeks old. The dog must be at least 15 weeks old."
    claim, known = _read(fact, "How old must it be?", "The dog must be at least 12 weeks old.")
    assert told_age(claim, known) == ()
    assert changed_age(claim, known) is None


async def test_what_has_to_be_older_where_it_may_be_is_found():
    fact, answer = "Documents may be older than three months.", "Documents must be at least three months old."
    (claim,) = (await checker().check(answer, [fact], "How old may documents be?")).judged
    assert claim.verdict != "SUPPORTED"


@each(("fact", "asked", "answer"), SHARES_OPEN)
def test_a_share_of_something_else_or_the_rest_of_it_tells_nothing_and_denies_nothing(fact, asked, answer):
    claim, known = _read(fact, asked, answer)
    assert told_share(claim, known) == ()
    assert changed_share(claim, known) is None


@pytest.mark.parametrize(
    ("fact", "asked", "answer"),
    [
        ("You pay 20% of the £850 claim.", "What do I pay?", "£170"),
        ("The customer pays 20% of £5,000 on signing.", "What does the customer pay on signing?", "£1,000"),
    ],
)
def test_a_share_of_the_very_thing_is_told(fact, asked, answer):
    assert told_share(*_read(fact, asked, answer))


@each(("fact", "asked", "answer"), BANDS_OPEN)
def test_a_band_of_another_scale_or_beside_another_price_tells_nothing_and_denies_nothing(fact, asked, answer):
    claim, known = _read(fact, asked, answer)
    assert told_band(claim, known) == ()
    assert changed_band(claim, known) is None


@each(("fact", "asked", "answer"), DAYS_OPEN)
def test_times_of_another_event_or_of_every_day_are_left_alone(fact, asked, answer):
    assert changed_day_hours(*_read(fact, asked, answer)) is None


def test_what_may_be_older_than_it_must_not_be_is_found():
    must_not = "The passport photo must not be older than three months."
    for answer, is_found in (
        ("The passport photo may be older than three months.", True),
        ("The passport photo may be older than two months.", False),
        ("The bank statement may be older than three months.", False),
    ):
        assert (changed_age(*_read(must_not, "", answer)) is not None) is is_found
