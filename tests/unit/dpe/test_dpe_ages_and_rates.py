"""How old something may be, amounts for a period, and shares that come to an amount, as a caller gets it."""

import pytest

from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.rules.ages import changed_age, told_age
from services.dpe.domain.rules.rates import told_share
from services.dpe.domain.rules.sources import read_claim, read_sources
from tests.each import each
from tests.fakes.checks import checker

STATEMENT = "The statement must not be older than three months."
CERTIFICATE = "The certificate must have been issued within the last 30 days."
PAYSLIPS = "Only payslips from the last two months are accepted."
CHEESE = "The cheese must be at least 12 months old."
PHOTOGRAPH = "The photograph must have been taken in the past two years."
AGE = "How old may it be?"
BORNE_OUT = (
    (STATEMENT, AGE, "The statement must be from within the last three months."),
    (STATEMENT, "How old may the statement be?", "It may be at most three months old."),
    (STATEMENT, "How old may the statement be?", "It must be dated within the last three months."),
    (CERTIFICATE, AGE, "The certificate must be no older than 30 days."),
    (PAYSLIPS, AGE, "Payslips not older than two months are accepted."),
    (PHOTOGRAPH, AGE, "The photograph must not be older than two years."),
    ("Payslips must not be more than two months old.", AGE, "Payslips older than two months are refused."),
    ("Payslips older than two months are not accepted.", AGE, "Payslips must be no more than two months old."),
    (CHEESE, AGE, "The cheese must be 12 months old or older."),
    ("The fee is 20% of £5,000.", "What is the fee?", "£1,000"),
    ("The fee is 20% of £5,000.", "What is the fee?", "The fee is £1,000."),
    ("The deposit is a quarter of the €2,400 rent.", "How much is the deposit?", "The deposit is €600."),
    ("Members pay 15 percent of $300 on joining.", "What do members pay on joining?", "$45"),
    ("The excess comes to 10% of the £850 claim.", "How much is the excess?", "£85"),
    ("The grant covers half of the £1,200 cost.", "How much does the grant cover?", "The grant covers £600."),
    ("The bonus is 5 % of a salary of €40,000.", "How high is the bonus?", "€2,000"),
    ("Tenants pay two thirds of a bill of €900.", "What do tenants pay?", "Tenants pay €600."),
)
CONTRADICTED = (
    (STATEMENT, AGE, "The statement must be from within the last six months."),
    (STATEMENT, "How old may the statement be?", "It may be at most six months old."),
    (STATEMENT, AGE, "The statement must be at least three months old."),
    (CERTIFICATE, AGE, "The certificate must be no older than 60 days."),
    (CERTIFICATE, AGE, "The certificate must be older than 30 days."),
    (PAYSLIPS, AGE, "Payslips not older than four months are accepted."),
    (PHOTOGRAPH, AGE, "The photograph must not be older than five years."),
    (CHEESE, AGE, "The cheese must not be older than 12 months."),
    (CHEESE, AGE, "The cheese must be at least 6 months old."),
    ("Payslips older than two months are not accepted.", AGE, "Payslips must be no more than four months old."),
    ("The fee is 20% of £5,000.", "What is the fee?", "£900"),
    ("The fee is 20% of £5,000.", "What is the fee?", "The fee is £5,000."),
    ("The deposit is a quarter of the €2,400 rent.", "How much is the deposit?", "The deposit is €800."),
    ("Members pay 15 percent of $300 on joining.", "What do members pay on joining?", "$55"),
    ("The grant covers half of the £1,200 cost.", "How much does the grant cover?", "The grant covers £700."),
    ("Tenants pay two thirds of a bill of €900.", "What do tenants pay?", "Tenants pay €601."),
    ("The tenant pays £700 a month and the deposit.", "What does the tenant pay?", "£700 a year"),
    ("The tenant pays £700 a month and the deposit.", "What does the tenant pay?", "£700 a year and the deposit"),
    ("The hire costs $40 per day plus insurance.", "What does the hire cost?", "$40 per week"),
    ("Lockers cost €5 a week and a deposit of €10.", "What do lockers cost?", "€5 a day"),
)
OPEN = (
    ("The fee is 20% of the £5,000 rent.", "What is the rent?", "The rent is £1,000."),
    ("The fee fell by 20% of £5,000.", "What is the fee?", "The fee is £1,000."),
    ("The fee is at most 20% of £5,000.", "What is the fee?", "The fee is £1,000."),
    ("The fee is 20% of £5,000 and £30.", "What is the fee?", "The fee is £1,000."),
    ("The fee is 20% of £5,000.", "What is the fee on £6,000?", "£1,000"),
    (STATEMENT, AGE, "The passport must be from within the last three months."),
    (STATEMENT, AGE, "If it is signed, the statement must be from within the last three months."),
)
UNTOUCHED = (
    ("The fee is 20% of the £5,000 rent.", "What is the rent?", "The rent is £5,000."),
    ("The fee is 20% of £5,000. The fee for members is £900.", "What do members pay?", "The fee for members is £900."),
    ("The rent is £700 a month. The club costs £700 a year.", "What does the club cost?", "£700 a year"),
    (STATEMENT, AGE, "The passport must not be older than six months."),
)


@each(("fact", "asked", "answer"), BORNE_OUT)
async def test_a_limit_or_an_amount_in_other_words_is_borne_out(fact, asked, answer):
    result = await checker().check(answer, [fact], asked)
    assert [claim.verdict for claim in result.judged] == ["SUPPORTED"]


@each(("fact", "asked", "answer"), CONTRADICTED)
async def test_another_limit_or_amount_is_contradicted_by_rule(fact, asked, answer):
    result = await checker().check(answer, [fact], asked)
    assert [claim.verdict for claim in result.judged] == ["CONTRADICTED"]
    assert {claim.basis for claim in result.judged} <= {"VALUE_CONFLICT", "DISTORTION"}
    assert result.level in {"HIGH", "CRITICAL"}


@pytest.mark.parametrize(("fact", "asked", "answer"), OPEN)
def test_what_a_share_or_a_limit_is_not_said_of_is_not_borne_out(fact, asked, answer):
    claim, known = read_claim(answer, 0, asked=asked), read_sources(read_fact(0, EnvelopeFact("", fact), ()), 0)
    assert not told_age(claim, known)
    assert not told_share(claim, known)


@pytest.mark.parametrize(("fact", "asked", "answer"), UNTOUCHED)
async def test_what_another_place_says_is_not_contradicted_by_rule(fact, asked, answer):
    result = await checker().check(answer, fact.replace(". ", ".\n").split("\n"), asked)
    assert not {claim.basis for claim in result.judged} & {"VALUE_CONFLICT", "DISTORTION"}


def test_ages_that_tell_groups_apart_limit_none_of_them():
    fact = "Children younger than 6 years travel free, those older than 12 years pay the full fare."
    known = read_sources(read_fact(0, EnvelopeFact("", fact), ()), 0)
    assert changed_age(read_claim("Children older than 6 years pay a fare.", 0), known) is None
    assert changed_age(read_claim("Children must be older than 6 years.", 0), known) is None
