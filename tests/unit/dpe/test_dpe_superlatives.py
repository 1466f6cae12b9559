"""Which row of a table has the least or the most of what is asked for (ADR 0216)."""

import pytest

from services.common.questions.answering import UNREADABLE_FRAGMENT
from services.dpe.domain.asked_places import Asked
from services.dpe.domain.superlatives import compared, names_extreme
from tests.unit.dpe.test_dpe_answer_places import checked, place_of
from tests.unit.dpe.test_dpe_asked_places import places_of

ROWS = tuple(
    f"Gym, Plans: Plan: {plan}; Price: £{price}; Notice: {days} days; Guest visits: {guests}"
    for plan, price, days, guests in (("Plus", 44, 60, 3), ("Basic", 19, 14, 0), ("Student Basic", 22, 30, 1))
)
ACROSS = (
    "Membership plans: Monthly price; Starter: £19; Regular: £29; Plus: £44",
    "Membership plans: Joining fee; Starter: £25; Regular: £15; Plus: none",
)


def best(question, *facts):
    group = compared(Asked(question, places_of(*facts)))
    return None if group is None else (group.best[0], group.best[1].text)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which plan is the cheapest?", ("Basic", "£19")),
        ("Which is the most expensive plan?", ("Plus", "£44")),
        ("Which plan has the longest notice?", ("Plus", "60 days")),
        ("Which plan has the shortest notice?", ("Basic", "14 days")),
        ("Which plan offers the most guest visits?", ("Plus", "3")),
        ("Which plan is the cheapest with a sauna?", None),  # another condition
        ("Which plan is best?", None),
        ("Which plan has the longest contract?", None),  # no such column
        ("Which plan is the cheapest for 2?", None),  # an amount of the asker's
        ("Which other plan is the cheapest?", None),
        ("Which plan is the cheapest apart from Basic?", None),
        ("Which is the cheapest plan, Plus or Basic?", None),  # the best of some
        ("How many guest visits has the largest plan?", None),  # another column decides which
    ],
)
def test_a_column_is_compared_where_nothing_else_is_asked(question, name):
    assert best(question, *ROWS) == name


def test_a_table_with_a_column_for_each_thing_is_compared_along_its_row():
    assert best("Which plan has the highest monthly price?", *ACROSS) == ("plus", "£44")


def test_a_column_with_a_cell_that_gives_no_amount_is_not_compared():
    assert best("Which plan has the lowest joining fee?", *ACROSS) is None


def test_of_two_columns_that_may_be_meant_none_is():
    rows = ("Plans: Plan: A; Fee: £4; Price: £9", "Plans: Plan: B; Fee: £5; Price: £8")
    assert best("Which plan is the cheapest?", *rows) is None


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ("Plus", ("other", "£19")),
        ("Basic", ("own", "£19")),
        ("Student Basic", ("other", "£19")),
        ("£44", ("other", "£19")),
        ("£19", ("own", "£19")),
        ("The cheapest plan is Plus, at £44.", ("other", "£19")),
        ("The cheapest plan is Basic.", ("own", "£19")),
        ("Plus or Basic", None),
        ("It is not Plus.", None),
        ("Platinum", None),
        ("Anything but Basic", None),
        ("Basic, with none", None),
        ("The longest is Basic", None),
        ("The longest notice is that of Plus", ("own", "60 days")),  # true, whatever was asked
    ],
)
async def test_an_answer_gives_the_name_or_the_amount_of_it(answer, place):
    assert await place_of("Which plan is the cheapest?", answer, *ROWS) == place


@pytest.mark.parametrize(
    ("claim", "place"),
    [
        ("The Plus plan is the cheapest.", ("other", "£19")),
        ("Basic is the cheapest plan.", ("own", "£19")),
        ("Plus has the longest notice, 60 days.", ("own", "60 days")),
        ("Basic has the longest notice.", ("other", "60 days")),
        ("Plus is the cheapest plan for families.", None),
        ("Basic is a cheap plan.", None),
        ("The Plus plan is " + "really " * 14 + "the cheapest.", None),
    ],
)
async def test_a_claim_that_calls_something_the_least_is_held_against_all(claim, place):
    assert await place_of("Tell me about the plans.", claim, *ROWS) == place


@pytest.mark.parametrize(("question", "is_asked"), [("Which plan is the cheapest?", True), ("Are dogs let in?", False)])
async def test_what_a_claim_calls_by_itself_answers_no_other_question(question, is_asked):
    answer = "Basic" if is_asked else "Basic is the cheapest plan."
    analysis = await checked(question, answer, *ROWS)
    [place] = analysis.outputs.attribution.answer_places.values()
    assert (place.is_own, place.is_asked) == (True, is_asked)
    assert (analysis.outputs.completeness.relevance.score >= UNREADABLE_FRAGMENT) is is_asked


async def test_so_many_claims_are_held_against_the_cells():
    analysis = await checked("", " ".join(["The Plus plan is the cheapest."] * 12), *ROWS)
    assert len(analysis.outputs.attribution.answer_places) == 8


def test_tables_of_two_documents_are_not_one():
    rows = ("Hall, Plans: Plan: A; Price: £4", "Pool, Plans: Plan: B; Price: £5")
    assert len({place.within for place in places_of(*rows)}) == 2


async def test_the_sentence_names_what_has_the_least():
    analysis = await checked("Which plan is the cheapest?", "Plus.", *ROWS)
    assert "Basic: £19 in " in analysis.outputs.fidelity.judgements["c1"].why
    assert analysis.outputs.fidelity.judgements["c1"].why.endswith("; the answer says Plus.")


def test_a_total_is_none_of_the_things_that_are_compared():
    rows = [
        f"Sales: Region: {name}; Revenue: €{amount}" for name, amount in (("North", 40), ("South", 90), ("Total", 130))
    ]
    assert best("Which region has the highest revenue?", *rows) == ("South", "€90")


def test_amounts_with_a_sign_are_not_compared():
    rows = [f"Sales: Region: {name}; Change: {amount}" for name, amount in (("North", "+3%"), ("West", "-9%"))]
    assert best("Which region has the smallest change?", *rows) is None


def test_only_a_superlative_names_the_extreme():
    assert names_extreme("the least expensive plan")
    assert not names_extreme("an expensive plan")
