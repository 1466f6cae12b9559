"""What a first-time user found told as broken or kept that was not so: undecided is better than false (ADR 0221)."""

from services.ercp.domain.wording.understanding import understand_constraint
from tests.each import each
from tests.unit.ercp.test_ercp_plainly_meant import BROKEN, KEPT, UNDECIDED, stands

CAR = "We pay at most 30 € per day for a rental car."
ELSEWHERE = [
    (CAR, "The excess is EUR 450. For a rental car we pay 175 euros per week.", UNDECIDED),
    (CAR, "The excess is €450. The rental car costs nothing.", UNDECIDED),
    (CAR, "Our invoice is €450. We will send you a rental car tomorrow.", UNDECIDED),
    (CAR, "We pay the invoice of €450. The rental car costs nothing.", UNDECIDED),
    (CAR, "We pay the invoice of €20. You get a rental car.", UNDECIDED),
    (CAR, "We pay the rental car; the excess is €450.", UNDECIDED),
    (CAR, "The excess is €450.", UNDECIDED),
    (CAR, "For a rental car we pay €25 per day. The excess is €450.", KEPT),
    (CAR, "The excess is €450. We pay €40 a day for a rental car.", BROKEN),
    (CAR, "You get a rental car. It costs €40 a day.", BROKEN),
    (CAR, "For the rental car we pay a daily rate of €40.", BROKEN),
    (CAR, "It costs €40.", BROKEN),
    ("We pay at most 30 € for a rental car.", "You get a rental car. It costs €40.", BROKEN),
    ("We pay at most 30 € for a rental car.", "You get a rental car. Lunch costs €40.", UNDECIDED),
]
"""An amount that another sentence, or another thing by name, has."""
LEAST, MOST = "The excess is at least €250.", "The excess is at most EUR 2,000."
SHARES = [
    (LEAST, "The excess is 10 % but at least €250.", UNDECIDED),
    (LEAST, "The excess is 10 %, at most €100.", UNDECIDED),
    (LEAST, "The excess is €200.", BROKEN),
    ("The discount is at least 10 %.", "The discount is €5.", UNDECIDED),
]
"""A share is an amount of which nobody knows how much it is."""
POINTS = [
    (MOST, "The excess is EUR 2.500.", UNDECIDED),
    (MOST, "The excess is EUR 1.500.", UNDECIDED),
    (MOST, "For each claim an excess of EUR 2.500 is yours.", UNDECIDED),
    (MOST, "The excess is EUR 2.500,00.", BROKEN),
    (MOST, "The excess is EUR 2,500.", BROKEN),
    (MOST, "The excess is EUR 1.50.", KEPT),
]
"""A point before three digits parts thousands or begins a fraction."""
WORDS = [
    ('Do not use the word "guarantee".', "There is no guarantee.", BROKEN),
    ('Do not use the word "guarantee".', "We do not guarantee a date.", BROKEN),
    ("Do not mention the investigation.", "The investigation is not closed.", UNDECIDED),
]
"""A word is there where it is denied as well; a thing may be mentioned or not."""
NOT_UNDERSTOOD = [
    ("Do not promise a rental car.", "many words"),
    ("The draft must not promise a refund.", "many words"),
    ("The excess is at most EUR 2.000.", "thousands"),
    ("The deductible is 10 % but at least €250.", "own constraint"),
    ("The fee is 5 euros and at most 2 %.", "own constraint"),
]


@each("words, draft, standing", [*ELSEWHERE, *SHARES, *POINTS, *WORDS])
def test_a_draft(words, draft, standing):
    assert stands(words, draft) is standing


@each("words, reason", NOT_UNDERSTOOD)
def test_words_that_may_mean_something_else(words, reason):
    found = understand_constraint(words)
    assert found.predicate is None
    assert reason in found.reason
