"""What a predicate does not carry is not dropped, and what says the same in other words is found (ADR 0168)."""

import pytest

from services.common.reading.values import scan_values
from services.ercp.domain import readings, standing
from services.ercp.domain.predicates import Predicate, PredicateName, Text, to_text
from services.ercp.domain.records import Constraint
from services.ercp.domain.suspecting import doubt_limits
from services.ercp.domain.vocabulary import ConstraintType, Undecided
from services.ercp.domain.wording import understand_constraint


@pytest.mark.parametrize(
    ("words", "predicate"),
    [
        ("Rooms may only be named Oak, Elm or Ash.", 'OneOf(rooms, "Oak | Elm | Ash")'),
        ("Books are kept in the attic or in the cellar.", 'OneOf(books, "attic | cellar")'),
        (
            "Guests leave no later than two hours before the ferry.",
            "GreaterThan(guests_leave_before_ferry, 2 h, inclusive=true)",
        ),
        ("Only four cars may park here.", "LessThan(park_cars, 4, inclusive=true)"),
        ("No sentence longer than 30 words.", 'Count("words", at_most=30, each="sentence")'),
        ("The rebates must add up to 12 percent.", "Equal(rebates.total, 12%)"),
        ("Use invoice number 90217.", 'Equal(invoice_number, "90217")'),
        ("The lease has to outlast the loan.", "GreaterThan(lease, loan)"),
        ("Order fewer chairs than tables.", "LessThan(chairs, tables)"),
        ("The agenda needs a break for lunch.", 'Contains("break for lunch", topic=true)'),
        ("Our neighbours don't like it. No fireworks.", 'NotContains("fireworks", topic=true)'),
        ("Keys must be in kebab-case.", 'Matches("[a-z0-9]+(?:-[a-z0-9]+)*", of="field")'),
        ("Version numbers have two parts.", 'Matches("\\\\d+(?:\\\\.\\\\d+){1}", of="version")'),
        ("The choir meets on Fridays only.", "Equal(choir, Friday)"),
    ],
)
def test_what_is_carried(words, predicate):
    found = understand_constraint(words)
    assert found.predicate is not None, found.reason
    assert to_text(found.predicate) == predicate


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("The oldest release that we keep is 2.40.", "may be a version"),
        ("Mind the minutes: nobody talks more than 20 a day.", "stands apart"),
        ("State the weight in kilograms, like 12 kg, not pounds.", "by an example"),
        ("One guard for every eight swimmers at least.", "one number by another"),
        ("The fare has to be 10 percent lower than in May.", "difference to something else"),
        ("Only members of the crew may board after 7 pm.", "who alone"),
        ("The shop opens at 10:00 and closes by 18:00.", "several values"),
        ("At most 20 pages, maps excluded.", "exception"),
        ("Every section needs a map.", "several parts"),
        ("It must thank the donors and give the next date.", "two things"),
        ("Mention the prize only once.", "how often"),
        ("Ask before filming, or leave the camera at home.", "alternative"),
    ],
)
def test_what_is_left_over_is_refused(words, reason):
    found = understand_constraint(words)
    assert found.predicate is None, to_text(found.predicate)
    assert reason in found.reason


def told(words: str, draft: str) -> str:
    found = understand_constraint(words)
    predicate = found.predicate or Predicate(PredicateName.IN_WORDS, Text(words))
    constraint = Constraint("c1", ConstraintType.PREDICATE, words, readings.form_of(predicate))
    facts = readings.facts_of(draft, readings.sentences_of(draft))
    (outcome,) = doubt_limits(facts, [constraint], standing.outcomes(facts, [constraint]))
    return "suspected" if outcome.reason is Undecided.SUSPECTED else outcome.standing.value


@pytest.mark.parametrize(
    ("words", "keeps", "breaks"),
    [
        ("At most a quarter of the lamps may be red.", "There are 40 lamps. Red ones: 8 lamps.", ""),
        ("The pauses together must stay below 15 seconds.", "Pause 4 s, then 6 s.", "Pause 9 s, then 8 s."),
        ("The answer takes at most 5 s.", "The answer takes 300 ms.", "The answer takes 2 minutes."),
        ("No alcohol.", "", "For the toast there is cider."),
        ("Use invoice number 90217.", "It is invoice number 90217.", "Your invoice number is 90271."),
        ("The model name is Lumo 7.", "Meet the Lumo 7.", "Meet the Lumo 9, our best lamp."),
        ("Must mention the order number 55-2001.", "Your order 55-2001 is here.", "Your order is here."),
        ("Paths must be lower case.", "Call `/rooms` and `/rooms/{id}`.", "Call `/rooms` and `/Keys`."),
        ("The outage may not last more than 60 minutes.", "", "Nobody can log in for an hour and ten minutes."),
        ("Split it into exactly three categories.", "Rent: 500\nFood: 200\nFun: 90", "Rent: 500\nFood: 200"),
    ],
)
def test_breaches_in_other_words(words, keeps, breaks):
    assert keeps == "" or told(words, keeps) in {"kept", "undecided"}
    assert breaks == "" or told(words, breaks) == "broken"


def test_what_is_made_without_is_not_of_the_kind():
    for draft in ("We pour alcohol-free beer.", "There is no wine.", "Serve it with oat milk instead of cheese."):
        assert told("No alcohol.", draft) == "undecided"
        assert told("No dairy.", draft) == "undecided"


def test_a_time_past_its_limit_is_suspected_and_lengths_of_time_are_not():
    assert (
        told("The choir must be home by 9 pm.", "Dinner is at 6 pm. The bus is back at 22:15. Sleep well.")
        == "suspected"
    )
    assert (
        told("The walk must take at most 2 hours.", "Lunch takes 45 minutes. The museum takes 3 hours.") == "undecided"
    )


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("It takes an hour and ten minutes.", "4200 second"),
        ("It takes 2 days and 6 hours.", "194400 second"),
        ("It starts at half past midnight.", "00:30"),
    ],
)
def test_times_in_two_parts(text, normal):
    assert [value.normal for value in scan_values(text)] == [normal]


def test_an_hour_and_five_minutes_that_are_something_else_are_two():
    assert "300 second" in [value.normal for value in scan_values("It takes an hour and 5 minutes are left.")]
