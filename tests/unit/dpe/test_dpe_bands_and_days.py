"""What an amount comes to in its band, and the hours of the day that was asked about, as a caller gets it."""

import pytest

from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.rules.bands import changed_band, told_band
from services.dpe.domain.rules.day_hours import changed_day_hours
from services.dpe.domain.rules.sources import read_claim, read_sources
from tests.each import each
from tests.fakes.checks import checker

WEIGHTS = "Weight: up to 10 kg; Price: €30\nWeight: over 10 to 25 kg; Price: €60\nWeight: over 25 to 40 kg; Price: €90"
AGES = "Age: 6 to 15; Fee: £4\nAge: 16 to 64; Fee: £9\nAge: 65 and over; Fee: £6"
LENGTHS = "Length: less than 5 m; Fee: €100\nLength: 5 m to 8 m; Fee: €150\nLength: more than 8 m; Fee: €220"
PARCELS = "Parcels up to 10 kg cost €30, parcels over 10 to 25 kg cost €60."
STAYS = "Stays up to 2 hours cost €3, from 2 to 5 hours €7 and over 5 hours €12."
LETTERS = "Letters up to 100 g cost £1.50, those over 100 g and up to 250 g £2.10."
HOURS = "Opening hours: Monday to Friday 9 am to 5 pm, Saturday 10 am to 2 pm."
MUSEUM = "The museum is open from 10 am to 6 pm on Tuesdays and from 12 noon to 8 pm on Thursdays."
SHOP = "The shop opens at 9 am on Monday. The shop opens at 11 am on Saturday."
BATH = "The bath is open on weekdays from 7 am to 9 pm and at weekends from 8 am to 6 pm."
IN_BAND = (
    (WEIGHTS, "What does a parcel of 20 kg cost?", "20 kg costs €60."),
    (WEIGHTS, "What does a parcel of 20 kg cost?", "A parcel of 20 kg costs €60."),
    (AGES, "What does a visitor aged 12 pay?", "A visitor aged 12 pays £4."),
    (AGES, "What does a visitor aged 70 pay?", "A visitor aged 70 pays £6."),
    (LENGTHS, "What is the fee for a boat of 7 m?", "A boat of 7 m costs €150."),
    (PARCELS, "What does a parcel of 20 kg cost?", "A parcel of 20 kg costs €60."),
    (PARCELS, "How much is a 20 kg parcel?", "A parcel of 20 kg costs €60."),
    (STAYS, "What does a stay of 4 hours cost?", "A stay of 4 hours costs €7."),
    (LETTERS, "What does a letter of 180 g cost?", "A letter of 180 g costs £2.10."),
)
OF_ANOTHER_BAND = (
    (WEIGHTS, "What does a parcel of 20 kg cost?", "20 kg costs €30."),
    (WEIGHTS, "What does a parcel of 20 kg cost?", "€30"),
    (WEIGHTS, "What does a parcel of 20 kg cost?", "A parcel of 20 kg costs €45."),
    (AGES, "What does a visitor aged 12 pay?", "A visitor aged 12 pays £9."),
    (LENGTHS, "What is the fee for a boat of 7 m?", "A boat of 7 m costs €100."),
    (PARCELS, "What does a parcel of 20 kg cost?", "A parcel of 20 kg costs €30."),
    (STAYS, "What does a stay of 4 hours cost?", "A stay of 4 hours costs €3."),
    (LETTERS, "What does a letter of 180 g cost?", "A letter of 180 g costs £1.50."),
)
NO_BAND = (
    (WEIGHTS, "What does a parcel of 50 kg cost?", "A parcel of 50 kg costs €90."),
    (WEIGHTS, "What does it cost?", "Two parcels of 20 kg cost €120 together."),
    (f"{WEIGHTS}\nWeight: up to 30 kg; Price: €200", "What does it cost?", "20 kg costs €60."),
    ("Weight: up to 25 kg; Price: €60", "What does a parcel of 20 kg cost?", "A parcel of 20 kg costs €60."),
    (AGES, "What do 12 tickets cost?", "12 tickets cost £48."),
    (WEIGHTS, "What does a parcel of 20 kg cost?", "A piano of 20 kg costs €60."),
)
WRONG_DAY = (
    (HOURS, "When does the library close on Saturday?", "It closes at 5 pm."),
    (HOURS, "When does the library close on Saturday?", "5 pm"),
    (HOURS, "When is the library open on Wednesday?", "From 10 am to 2 pm."),
    (MUSEUM, "When is the museum open on Thursday?", "It is open from 10 am to 6 pm."),
    (SHOP, "When does the shop open on Saturday?", "The shop opens at 9 am."),
    (BATH, "When does the bath close on Sunday?", "At 9 pm."),
)
RIGHT_DAY = (
    (HOURS, "When does the library close on Saturday?", "It closes at 2 pm."),
    (HOURS, "When is the library open on Wednesday?", "From 9 am to 5 pm."),
    (MUSEUM, "When is the museum open on Thursday?", "It is open from 12 noon to 8 pm."),
    (SHOP, "When does the shop open on Saturday?", "The shop opens at 11 am."),
    (BATH, "When does the bath close on Sunday?", "At 6 pm."),
    (SHOP, "When does the shop open on Saturday?", "The shop opens at 9 am on Monday."),
    (SHOP, "When does the shop open?", "The shop opens at 9 am."),
    (HOURS, "Can I come at 5 pm on Saturday?", "No, 5 pm is too late."),
    (SHOP, "When does the shop open on Saturday?", "The shop does not open at 9 am."),
    (f"{SHOP} The café opens at 9 am on Saturday.", "When does the café open on Saturday?", "At 9 am."),
)


def _read(fact, asked, answer):
    return read_claim(answer, 0, asked=asked), read_sources(read_fact(0, EnvelopeFact("", fact), ()), 0)


@each(("fact", "asked", "answer"), IN_BAND)
async def test_the_sum_of_the_band_is_borne_out(fact, asked, answer):
    result = await checker().check(answer, [fact], asked)
    assert [claim.verdict for claim in result.judged] == ["SUPPORTED"]


@each(("fact", "asked", "answer"), (*OF_ANOTHER_BAND, *WRONG_DAY))
async def test_the_sum_of_another_band_and_the_times_of_another_day_are_contradicted(fact, asked, answer):
    result = await checker().check(answer, [fact], asked)
    assert [(claim.verdict, claim.basis) for claim in result.judged] == [("CONTRADICTED", "VALUE_CONFLICT")]
    assert result.level in {"HIGH", "CRITICAL"}


@pytest.mark.parametrize(("fact", "asked", "answer"), NO_BAND)
def test_nothing_is_said_where_no_one_band_holds_an_amount(fact, asked, answer):
    claim, known = _read(fact, asked, answer)
    assert changed_band(claim, known) is None
    assert told_band(claim, known) == ()


@each(("fact", "asked", "answer"), RIGHT_DAY)
def test_times_of_the_day_that_was_asked_about_are_left_alone(fact, asked, answer):
    assert changed_day_hours(*_read(fact, asked, answer)) is None
