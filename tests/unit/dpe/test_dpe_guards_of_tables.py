"""What holds rules of tables, periods and dates back, each with the case that it is there for."""

import pytest

from services.common.reading.values import scan_values
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.rules.cells import changed_period
from services.dpe.domain.rules.columns import changed_column
from services.dpe.domain.rules.sources import read_claim, read_sources
from tests.each import each
from tests.fakes.checks import checker
from tests.unit.dpe.test_dpe_workings import PERMIT, TERM, found

COSTS = "Minutes: Item: Cost; Variant A: €186,000; Variant B: €274,000"
LIMITS = "Service: Cleaning; Limit, Basic: £100; Limit, Comfort: £300; Extra nights, Plus: £500"
LOANS = "Loan: Car loan; Interest per year: 6%; Fee: £80\nLoan: Home loan; Interest per year: 4%; Fee: £90"


def applied(rule, claim, fact, asked=""):
    return rule(read_claim(claim, 0, asked=asked), read_sources(read_fact(0, EnvelopeFact("", fact), ()), 0))


@pytest.mark.parametrize(
    ("claim", "is_same"),
    [
        ("The cost of Variant A is €274,000.", True),
        ("The cost of Variant A is €274,000, not more.", False),
        ("The cost of Variant A is from €274,000.", False),
        ("If it rains, the cost of Variant A is €274,000.", False),
    ],
)
def test_what_compares_or_limits_is_not_sure_to_speak_of_the_same(claim, is_same):
    assert applied(changed_column, claim, COSTS).is_same is is_same


def test_who_names_two_variants_takes_the_value_of_neither_from_the_other():
    assert applied(changed_column, "Cleaning has a Limit of £300 with Basic.", LIMITS) is not None
    assert applied(changed_column, "Cleaning has a Limit of £500 with Basic or Comfort.", LIMITS) is None


@each(
    ("claim", "asked", "departs"),
    [
        ("The car loan costs 6% interest per month.", "", True),
        ("Interest is 6% a month.", "What is the interest of the car loan?", True),
        ("The car loan costs 6% interest per year.", "", False),
        ("The car loan costs 5% interest per month.", "", False),
        ("The boat costs 6% interest per month.", "", False),
        ("The car loan costs £80 per month.", "", False),
        ("Of the car loan, 6% per month is due.", "", False),
    ],
)
def test_the_period_of_a_columns_head(claim, asked, departs):
    assert (applied(changed_period, claim, LOANS, asked) is not None) is departs


@pytest.mark.parametrize(
    ("fact", "answer", "words"),
    [
        ("The charge for a locker is £60 a year.", "The charge for a locker is £60 a month.",
         ("£60 a year", "£60 a month")),
        ("Staff may work abroad 60 days a year.", "If they ask, staff may work abroad 60 days a month.",
         ("60 days a year", "60 days a month")),
    ],
)  # fmt: skip
async def test_amounts_that_differ_in_their_period_are_told_with_it(fact, answer, words):
    (claim,) = (await checker().check(answer, [fact])).judged
    assert all(one in claim.why for one in words)


@each(
    ("fact", "asked", "answer", "values"),
    [
        (PERMIT, "It ends at 3:15 pm.", "Be there 60 minutes before 3:15 pm, at 2:15 pm.", {"2:15 pm"}),
        (PERMIT, "It ends at 3:15 pm.", "Be there 60 minutes before 3:15 pm, at 4:15 pm.", set()),
        (PERMIT, "It ends at 11:30 pm.", "Somebody stays another 60 minutes, until 0:30 am.", {"0:30 am"}),
        (PERMIT, "It ends at 3:15 pm.", "Somebody stays within 60 minutes before, at 4:15 pm.", set()),
        (PERMIT, "It ends at 3:15 pm.", "Somebody stays another 45 minutes, until 4:00 pm.", set()),
        (TERM, "I began on 10 October 2025.", "You are out after 18 months, on 10 April 2027.", {"10 April 2027"}),
        (TERM, "I end on 10 April 2027.", "You began 18 months before, on 10 October 2025.", {"10 October 2025"}),
        (TERM, "I began on 10 October 2025.", "You are out after 12 months, on 10 October 2026.", set()),
        (TERM, "I began on 10 October.", "You are out after 18 months, on 10 April 2003.", set()),
        (TERM, "I began in 2025.", "You are out after 18 months, in 2026.", set()),
        (TERM, "I began in 2025.", "You began in 2025.", set()),
    ],
)
def test_what_is_reached_by_a_length(fact, asked, answer, values):
    assert set(found(fact, asked, answer)) & {one.text for one in scan_values(answer)} == values
