"""Values that are set, listed with commas, versions, and shares as fractions, in constraints in words (ADR 0116)."""

from decimal import Decimal

from services.ercp.domain.duality import disagreement
from services.ercp.domain.predicates import to_text
from services.ercp.domain.predicates.model import Amount
from services.ercp.domain.solver import Consistency, check
from services.ercp.domain.wording import understand_constraint
from services.ercp.domain.wording.amounts import read
from services.ercp.domain.wording.setting import demanded_by
from tests.each import each
from tests.patience import patient

TIMEOUT = "how its value is meant"
VERSION = "version, which is no number"
DEADLINE_MS = int(patient(2_000))


@each(
    ("words", "predicate"),
    [
        ("Set the timeout to 5.", "Equal(timeout, 5)"),
        ("Set the timeout to 5 seconds.", "Equal(timeout, 5 s)"),
        ("Always set connection timeout to 5 seconds", "Equal(connection_timeout, 5 s)"),
        ("Please set the discount to 20%.", "Equal(discount, 20%)"),
        ("Set the rate to 100.", "Equal(rate, 100)"),
        ("Set the deadline to 1 March 2027.", "Equal(deadline, 2027-03-01)"),
        ("Set the meeting to 5 pm.", "Equal(meeting, 17:00)"),
        ("Set the price to £5 a month.", "Equal(price, 5 GBP/month)"),
        ("Set the timeout to at most 5 seconds.", "LessThan(timeout, 5 s, inclusive=true)"),
        ("The answer takes at most 5 s.", "LessThan(answer, 5 s, inclusive=true)"),
        ("The pause must be between 2 and 5 s.", "Between(pause, 2 s, 5 s)"),
        ("The load must be at most 5 t.", "LessThan(load, 5 t, inclusive=true)"),
        ("The order must be at most 5 t shirts.", "LessThan(order_shirts, 5, inclusive=true)"),
        ("The order must be at most 3 t-shirts.", "LessThan(order_t_shirts, 3, inclusive=true)"),
        ("The retries must be at most 5 seats.", "LessThan(retries_seats, 5, inclusive=true)"),
        ("The priority is one of low, medium, high", 'OneOf(priority, "low | medium | high")'),
        ("The priority must be one of: low, medium, high", 'OneOf(priority, "low | medium | high")'),
        ("The port must be any of 80, 443, 8080.", 'OneOf(port, "80 | 443 | 8080")'),
        ("Use only version 2.3.", 'Equal(version, "2.3")'),
        ("The year must be 2020 or later.", "GreaterThan(year, 2020, inclusive=true)"),
        ("Research gets less than 0.4 of the budget.", "LessThan(research.share_of_budget, 40%)"),
        ("At most 0.25 of our budget goes to research.", "LessThan(research.share_of_budget, 25%, inclusive=true)"),
        ("Research gets between 0.2 and 0.4 of the budget.", "Between(research_budget, 20%, 40%)"),
        ("Research gets less than 1.4 of the budget.", "LessThan(research_budget, 1.4)"),
        ("The drift must be less than 0.5 of a degree.", "LessThan(drift_degree, 0.5)"),
    ],
)
def test_what_is_understood(words, predicate):
    found = understand_constraint(words)
    assert found.predicate is not None, found.reason
    assert to_text(found.predicate) == predicate
    assert not disagreement(words, found.predicate)


@each(
    ("words", "reason"),
    [
        ("Set the timeout to 5 seconds for uploads.", TIMEOUT),
        ("Set the maximum timeout to 5 seconds.", TIMEOUT),
        ("Set the speed limit to 50 km/h.", TIMEOUT),
        ("Set the spending cap to £500.", TIMEOUT),
        ("Set the largest order to £500.", TIMEOUT),
        ("Set the curfew to 10.", TIMEOUT),
        ("The hotel must be one of Hilton, Marriott, Ibis, near London.", "no rule knows"),
        ("Set the start time to 9.", TIMEOUT),
        ("Set the table to 5 people.", TIMEOUT),
        ("Set aside 5 minutes to rest.", TIMEOUT),
        ("Never set the timeout to 5 seconds.", TIMEOUT),
        ("Set the timeout and the delay to 5 seconds.", TIMEOUT),
        ("Set the timeout to 5 seconds and the retries to 3.", "several values"),
        ("The house is one of three, both red, all old.", TIMEOUT),
        ("The vendor is one of our oldest partners, a family firm, loyal.", "no rule knows"),
        ("The report is one of several, long, dull.", "no rule knows"),
        ("The priority must be one of low, medium, others.", "no rule knows"),
        ("The priority must not be one of low, medium, high.", "no rule knows"),
        ("Use at least version 2.3.", TIMEOUT),
        ("Node must be 18 or newer.", "alternative"),
        ("Python must be 3.11 or later.", VERSION),
        ("The version must be 2.3 or later.", "no operator puts versions into an order"),
        ("The drift must be within 0.5 of the target.", TIMEOUT),
    ],
)
def test_what_is_not_surely_read_is_not_understood(words, reason):
    found = understand_constraint(words)
    assert found.predicate is None, to_text(found.predicate)
    assert reason in found.reason


@each(
    ("words", "status"),
    [
        ("Research gets less than 0.4 of the budget.", Consistency.UNSAT),
        ("Research gets less than 0.6 of the budget.", Consistency.SAT),
        ("Research gets at most 40% of the budget.", Consistency.UNSAT),
    ],
)
def test_a_share_in_percent_and_as_a_fraction_are_of_one_thing(words, status):
    both = ["Research gets more than 50% of the budget.", words]
    predicates = [(str(at), understand_constraint(each_).predicate) for at, each_ in enumerate(both)]
    assert check(predicates, DEADLINE_MS).status is status


@each(
    ("words", "is_understood"),
    [
        ("The hotel is one of Ibis Budget, Park Inn, Hilton.", True),
        ("The hotel is one of Ibis Budget Centre, Park Inn, Hilton.", False),
        ("The grade is one of Red, 5, Blue.", False),
        ("The grade is one of Red, Green, Blue.", True),
        ("The port is one of 80, 443, 8080.", True),
        ("Set the two timeouts to 5 seconds.", False),
        ("Set the 5 second timeout to 10 seconds.", False),
    ],
)
def test_lists_are_of_names_or_of_values_and_what_is_set_holds_no_value(words, is_understood):
    assert (understand_constraint(words).predicate is not None) is is_understood


@each("words", ["Set the two timeouts to 5 seconds", "Set the timeout 2 seconds to 5 seconds"])
def test_what_is_set_with_a_value_in_its_name_is_left_as_it_is(words):
    assert demanded_by(words) == words


def test_fractions_are_shares_of_a_whole_and_else_numbers():
    assert [one.operand for one in read("from 0.2 to 0.4 of the budget")] == [_percent(20), _percent(40)]
    assert [one.operand for one in read("between 0.2 and 0.4")] == [Amount(Decimal("0.2")), Amount(Decimal("0.4"))]


def _percent(number):
    return Amount(Decimal(number), "%")
