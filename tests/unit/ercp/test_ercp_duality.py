"""Words and predicate that disagree (ERCP 1.0 §2 constraint duality, ADR 0115)."""

from services.ercp.domain.duality import MAX_CHARS, disagreement
from services.ercp.domain.predicates import parse_text
from tests.each import each


@each(
    ("words", "predicate", "said"),
    [
        ("The tank holds at least 5 litres.", "tank.volume > 5 l", "with inclusive true and not GreaterThan"),
        ("The tank holds at least 5 litres.", "tank.volume < 5 l", '"at least", which is GreaterThan'),
        ("The tank holds at least 5 litres.", "tank.volume = 5 l", "not Equal"),
        ("The tank holds at least 5 litres.", "tank.volume >= 6 l", "not the one in args.right"),
        ("At most 5 people may attend.", "attendance.size <= 6", "not the one in args.right"),
        ("At most 5 people may attend.", "attendance.size < 6", "with inclusive true"),
        ("At most five people may attend.", "attendance.size <= 6", "not the one in args.right"),
        ("The fee is no more than $1,200.", "fee <= 1300 USD", "not the one in args.right"),
        ("The fee must not exceed $1,200.", "fee < 1200 USD", '"at most", which is LessThan with inclusive true'),
        ("The fee is more than 10 EUR.", "fee >= 10 EUR", "without inclusive"),
        ("Exactly 3 reviewers sign.", "reviewer.count < 3", "which is Equal and not LessThan"),
        ("The vendor must not be Oracle.", "Equal(vendor, Oracle)", "NotEqual forbids it"),
        ("Never use the Oracle.", "Equal(vendor, Oracle)", "NotEqual forbids it"),
        ("The limit must not be 5 kg.", "Equal(limit, 5 kg)", "NotEqual forbids it"),
        ("The vendor must be Oracle.", "NotEqual(vendor, Oracle)", "Equal demands it"),
    ],
)
def test_a_plain_disagreement_is_told(words, predicate, said):
    assert said in disagreement(words, parse_text(predicate))


@each(
    ("words", "predicate"),
    [
        ("The tank holds at least 5 litres.", "tank.volume >= 5 l"),
        ("The tank holds at least 5 litres.", "tank.volume >= 5000 ml"),
        ("At most 3 months may pass.", "delay <= 90 days"),
        ("At most 50 percent may be debt.", "debt.share <= 0.5"),
        ("Weigh at most 5.", "weight <= 5 kg"),
        ("Leave at least 20% of the seats free.", "occupancy <= 80%"),
        ("Nobody gets more than 100 records.", "page.size <= 100"),
        ("Reject orders of more than 100 pieces.", "order.size <= 100"),
        ("If more than 5 people come, open the hall.", "hall.size <= 5"),
        ("At least 2 of the 5 reviewers sign.", "reviewer.count >= 5"),
        ("More than 5 and less than 10 people attend.", "attendance.size < 10"),
        ("At least 30 days before the event the fee is 5 EUR.", "fee = 5 EUR"),
        ("Deliver within 30 days.", "deadline < 30 days"),
        ('The source says: "at most 5 kg".', "weight = 4 kg"),
        ("The vendor must be IBM, not Oracle.", "Equal(vendor, IBM)"),
        ("The vendor must not be anything other than Oracle.", "Equal(vendor, Oracle)"),
        ("The vendor must not be Oracle Cloud.", "Equal(vendor, Oracle)"),
        ("The vendor must not be Oracle.", "NotEqual(vendor, Oracle)"),
        ("The vendor must be Oracle.", "Equal(vendor, Oracle)"),
        ("At least 5 litres must fit in, " + "and so on, " * MAX_CHARS, "tank.volume > 5 l"),
        ("The audit must not come before the opening.", "TemporalOrder(opening, audit)"),
    ],
)
def test_what_agrees_or_is_not_plain_is_no_disagreement(words, predicate):
    assert disagreement(words, parse_text(predicate)) == ""
