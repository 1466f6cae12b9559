"""A length that is counted back from an event turns what is later and earlier."""

from services.common.reading.bounds import Bound, bound_of
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
