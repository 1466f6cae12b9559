"""What an answer works out itself from values that it names (ADR 0207): parts, multiples, sums over a sentence."""

import pytest

from services.common.reading.text_types import Claim, ClaimType
from services.common.reading.values import scan_values
from services.dpe.domain.alignment import align_values
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.findings import Verdict
from services.dpe.domain.worked_out import values_beside
from tests.each import each
from tests.fakes.dpe_world import analyse
from tests.unit.dpe.test_dpe_floors import analysed

ROW = "Plot type: Full plot; Annual rent: £76; Water charge: £22; Deposit: £50"
HALF = "Tenants aged 66 or over pay half the annual rent, but the full water charge."
FULL = "Tenants of every age pay the full water charge and the whole annual rent."


def reckoned(claims, *facts):
    """Return per claim of one sentence the text of what its values are worked out by."""
    views = [read_fact(number, EnvelopeFact(str(number), text), ()) for number, text in enumerate(facts)]
    places = [place for view in views for place in view.places]
    start, made = 0, []
    for text in claims:
        values = scan_values(text)
        moved = tuple(
            type(one)(**{**_fields(one), "start": one.start + start, "end": one.end + start}) for one in values
        )
        made.append(Claim("c", text, start, start + len(text), 0, ClaimType.FACTUAL, 1.0, (), moved))
        start += len(text) + 2
    found = []
    for claim in made:
        beside = [value for one in made if one is not claim for value in one.values]
        found.append([pair.derivation for pair in align_values(claim, places, frozenset(), beside) if pair.derivation])
    return found


def _fields(value):
    return {name: getattr(value, name) for name in type(value).__slots__}


@each(
    ("claim", "facts", "how"),
    [
        ("The rent is halved to £38.", (ROW, HALF), "0.5 x £76 = 38 GBP"),
        ("Half of the annual rent is due, which is £38.", (ROW, HALF), "Half of £76 = 38 GBP"),
        ("The rent is halved to £36.", (ROW, HALF), None),
        ("The rent is halved to £38.", (ROW, FULL), None),
        ("The rent is halved to £11.", (ROW, HALF), None),
        ("The rent is £22, 100 % of it due at once.", (ROW, "100 % of the rent is due on 1 October."), None),
    ],
    ids=["halved", "half of", "wrongly", "no fact says half", "half of what is not spoken of", "all of another"],
)
def test_a_part_that_the_sentence_names_is_worked_out(claim, facts, how):
    (found,) = reckoned([claim], *facts)
    assert found == ([how] if how else [])


@pytest.mark.parametrize(
    ("total", "how"),
    [("£60", "£38 + £22 = 60 GBP"), ("£61", None), ("£98", None)],
    ids=["right", "wrong", "not halved"],
)
def test_a_sum_follows_from_what_the_rest_of_the_sentence_names(total, how):
    rest = ["the rent is halved to £38", "and the £22 water charge is still payable in full."]
    found = reckoned([f"You would owe {total}", *rest], ROW, HALF)
    assert found[0] == ([how] if how else [])


def test_addends_that_stand_in_no_fact_give_no_sum():
    found = reckoned(["You would owe £70", "the rent is £40", "and £30 is for water."], ROW, HALF)
    assert found[0] == []


def test_the_last_of_a_list_is_no_sum_of_the_others():
    found = reckoned(["The bed costs £22", "the half plot £50", "and the full plot £72."], ROW, HALF)
    assert found[2] == []


def test_a_part_that_another_claim_names_is_no_part_of_this_one():
    found = reckoned(["Tenants over 66 pay half the rent", "and everybody else pays a rent of £38."], ROW, HALF)
    assert found[1] == []


def test_one_value_of_the_facts_is_no_two_addends():
    found = reckoned(["You would owe £44", "£22 is for water", "and £22 for the mains."], ROW, HALF)
    assert found[0] == []


def test_all_of_a_value_does_not_put_it_into_another_row():
    rows = ("Full plot: Annual rent: £76", "Half plot: Annual rent: £42", "100 % of the rent is due on 1 October.")
    found = reckoned(["The annual rent of the full plot is £42, 100 % of it due on 1 October."], *rows)
    assert found == [[]]


def test_the_first_of_a_claim_that_lists_is_no_sum_of_the_others():
    assert reckoned(["The charges are £72, £22 and £50."], ROW, HALF) == [[]]


def test_what_is_told_once_more_in_the_sentence_follows_with_it():
    found = reckoned(["You would owe £38", "since the rent is halved to £38."], ROW, HALF)
    assert found[0] == ["£38 = 38 GBP"]


def test_other_values_of_the_claim_itself_are_addends_too():
    halved = "since the rent is halved to £38."
    assert reckoned(["In total, with £22 for water, you owe £60", halved], ROW, HALF)[0] == ["£22 + £38 = 60 GBP"]
    assert reckoned(["You would owe £38 instead of £50", halved], ROW, HALF)[0] == []


def test_nothing_is_worked_out_over_a_sentence_of_very_many_claims():
    claims = [Claim(str(n), "x", n, n + 1, 0, ClaimType.FACTUAL, 1.0, (), scan_values("£5 and £7")) for n in range(9)]
    assert [value.text for value in values_beside(claims[0], claims[:2])] == ["£5", "£7"]
    assert values_beside(claims[0], claims) == []


async def test_an_answer_that_explains_its_total_fabricates_nothing():
    answer = "You would owe £{}: the rent is halved to £38, and the £22 water charge is payable in full."
    right, wrong = [await analyse(answer.format(total), ROW, HALF) for total in (60, 61)]
    assert not right.analysis.outputs.fabrication.found
    assert "£61" in [item.entity.text for item in wrong.analysis.outputs.fabrication.found]


PLAN = "Fees: Plan: Premium; Monthly fee: £55; Guest passes: 3 a month"
OTHER = "Fees: Plan: Standard; Monthly fee: £38; Guest passes: 1 a month"


@each(
    ("claim", "how"),
    [
        ("A year of Premium costs £660.", "12 x £55 = 660 GBP"),
        ("Premium costs £660 a year.", "12 x £55 = 660 GBP"),
        ("At £55 a month, a whole year of Premium comes to £660.", "12 x £55 = 660 GBP"),
        ("A quarter of Premium costs £165.", "3 x £55 = 165 GBP"),
        ("A year of Premium costs £600.", None),
        ("A year of Standard costs £660.", None),
        ("The monthly fee of Premium is £660 for whoever signs up for a year.", None),
        ("The joining fee of Premium is £660, valid a year.", None),
    ],
)
def test_a_monthly_fee_over_a_year(claim, how):
    (found,) = reckoned([claim], PLAN, OTHER)
    assert found == ([how] if how else [])


async def test_what_follows_from_a_rate_is_borne_out_and_told():
    finished = await analysed("A year of Premium costs £660.", PLAN, OTHER, support=0.1)
    (judgement,) = finished.analysis.outputs.fidelity.judgements.values()
    assert judgement.verdict is Verdict.SUPPORTED
    (told,) = [item.why for item in finished.analysis.outputs.fidelity.judgements.values()]
    assert told.startswith("12 x £55 = 660 GBP, by ")
