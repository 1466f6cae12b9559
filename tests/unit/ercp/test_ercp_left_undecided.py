"""What a first-time user found told as broken or kept that was not so: undecided is better than false (ADR 0221)."""

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
]
"""An amount that another sentence, or another thing by name, has."""


@each("words, draft, standing", [*ELSEWHERE])
def test_a_draft(words, draft, standing):
    assert stands(words, draft) is standing
