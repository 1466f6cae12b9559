"""What the rules of ADR 0218 find reaches the verdict, whatever the encoders say: both bear everything out here."""

import pytest

from tests.fakes.dpe_world import TableGrounding, analyse, app, models
from tests.unit.dpe.test_dpe_vectors import EverythingNear

WARD = "No visitor other than a parent may enter the ward after 8 pm."
CLOCK = "Everyone but the manager has to clock in."
TAX = "All but the smallest businesses must register for VAT."
GUARANTEE = "The guarantee does not cover anything other than manufacturing defects."
DELIVERY = "We deliver to all European countries but Switzerland and Norway."
CHARGE = "There is no charge for any service except printing."
SURGERY = "The surgery is open Monday to Friday. On Wednesdays it closes at 13:00. The surgery is closed at weekends."
OFFICE = "The ticket office is open daily. The café is closed on Mondays."
CENTRE = "The centre is open daily from 9 to 21, except on Saturdays from 10 to 18."
BANK = "The bank is open Monday to Friday. In case of a bank holiday on Monday, the bank is closed on Monday."


async def verdict(answer, fact):
    parts = models()
    parts.embedding._calibration = EverythingNear()
    bears_out = TableGrounding(lambda _: 0.9)
    finished = await analyse(answer, fact, using=app(embedding=parts.embedding, grounding=bears_out))
    [judgement] = finished.analysis.outputs.fidelity.judgements.values()
    return str(judgement.verdict)


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (WARD, "Parents may enter the ward after 8 pm."),
        (CLOCK, "The manager does not have to clock in."),
        (CLOCK, "The manager need not clock in."),
        (TAX, "The smallest businesses need not register for VAT."),
        (GUARANTEE, "The guarantee covers manufacturing defects."),
        (DELIVERY, "We do not deliver to Switzerland."),
        (OFFICE, "The ticket office is open on Mondays."),
        (CENTRE, "The centre is open on Sundays."),
    ],
)
async def test_an_exception_says_nothing_against_what_it_allows(fact, answer):
    assert await verdict(answer, fact) == "SUPPORTED"


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (DELIVERY, "We deliver to Switzerland."),
        (DELIVERY, "We deliver to Norway."),
        (CHARGE, "There is no charge for printing."),
        (SURGERY, "The surgery is closed on Wednesdays."),
        (OFFICE, "The ticket office is closed on Mondays."),
        (BANK, "The bank is closed on Mondays."),
    ],
)
async def test_what_an_exception_turns_is_contradicted_though_in_other_words(fact, answer):
    assert await verdict(answer, fact) == "CONTRADICTED"
