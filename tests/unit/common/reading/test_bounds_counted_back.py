"""Sides of values behind what they count, in front of an event, and of what nobody can say (ADR 0094)."""

from services.common.reading.bounds import Bound, bound_of, limit_of
from services.common.reading.values import scan_values
from tests.each import each


@each(
    "text, side",
    (
        ("no later than 30 days before it is due", Bound.AT_LEAST),
        ("at the latest 2 weeks before the exam", Bound.AT_LEAST),
        ("later than 30 days before the event", Bound.AT_MOST),
        ("not earlier than 30 days before it", Bound.AT_MOST),
        ("at least 30 days before the return", Bound.AT_LEAST),
        ("within 30 days before the return", Bound.AT_MOST),
        ("no later than 30 days after it", Bound.AT_MOST),
        ("no later than 3 May", Bound.AT_MOST),
    ),
)
def test_later_than_a_length_before_an_event_is_less_of_it(text, side):
    assert bound_of(text, 0, scan_values(text)[0]) is side


@each(
    "text, side",
    (
        ("One host can look after six visitors at most", Bound.AT_MOST),
        ("six visitors at the very most may come in", Bound.AT_MOST),
        ("four withdrawals a year at most", Bound.AT_MOST),
        ("groups of 10 people or fewer", Bound.AT_MOST),
        ("five nights max", Bound.AT_MOST),
        ("five nights tops.", Bound.AT_MOST),
        ("ten max, please", Bound.AT_MOST),
        ("It costs £50 tops", Bound.AT_MOST),
        ("three days at the latest", Bound.AT_MOST),
        ("two adults minimum", Bound.AT_LEAST),
        ("15 bags or more per trip", Bound.AT_LEAST),
        ("two guides at least", Bound.AT_LEAST),
        ("The limit is two.", Bound.AT_MOST),
        ("The maximum is £50.", Bound.AT_MOST),
        ("The minimum is three nights.", Bound.AT_LEAST),
        ("after six visits", Bound.AT_LEAST),
        ("One host can look after six visitors", None),
        ("three cotton tops", None),
        ("the 3 rooms maximum occupancy rule", None),
        ("ten people or more than that", None),
        ("6 visitors and one host at most", None),
        ("3 guards look at the most recent log", None),
        ("It takes 5 people at least three days", None),
        ("The age limit is 18.", None),
    ),
)
def test_a_side_behind_what_is_counted(text, side):
    assert bound_of(text, 0, scan_values(text)[0]) is side


@each(
    "text, side",
    (
        ("a card that has not been used for more than 12 months", None),
        ("once nobody has slept there for more than 45 days", None),
        ("You may not stay for more than 30 days", Bound.AT_MOST),
        ("has been used for more than 12 months", Bound.AT_LEAST),
    ),
)
def test_how_long_something_has_not_been_so_has_no_side(text, side):
    limit = limit_of(text, 0, scan_values(text)[0])
    assert (None if limit is None else limit[0]) is side


@each(
    ("text", "side"),
    (
        ("The ban on prohibited substances ends before 2030.", Bound.AT_MOST),
        ("Forbidden goods over 20 kg cost more than £5.", Bound.AT_LEAST),
        ("Smoking was banned after 2007.", Bound.AT_LEAST),
        ("These are banned goods above 20 kg.", Bound.AT_LEAST),
        ("Parking is forbidden after 8 pm.", Bound.AT_MOST),
        ("Dogs are strictly prohibited on the beach before 7 pm.", Bound.AT_LEAST),
        ("Parking is not forbidden after 8 pm.", Bound.AT_LEAST),
    ),
)
def test_only_what_is_forbidden_now_turns_the_side_behind_it(text, side):
    read = limit_of(text, 0, scan_values(text)[-1])
    assert read is not None
    assert read[0] is side


@each(
    ("text", "per"),
    (("12 hourly employees", ""), ("3 hourly updates", ""), ("£20 hourly", "hour"), ("3 daily updates", "day")),
)
def test_what_is_counted_is_not_for_an_hour(text, per):
    assert [value.per for value in scan_values(text)] == [per]
