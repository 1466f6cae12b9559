"""Equal values in any two notations never conflict; different ones of the same thing always do (ADR 0094)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.reading.text_types import Claim, ClaimType
from services.common.reading.values import scan_values
from services.dpe.domain.alignment import align_values
from services.dpe.domain.facts import EnvelopeFact, read_fact
from tests.tenth import examples

SUBJECTS = ("The waiting period for dentures", "The guarantee on the pump", "The lease of the east hall")
NOTATIONS = {
    "days": (lambda n: f"{n} days", lambda n: f"{24 * n} hours", lambda n: f"{24 * 60 * n:,} minutes"),
    "years": (lambda n: f"{n} years", lambda n: f"{12 * n} months"),
    "metres": (lambda n: f"{n} m", lambda n: f"{100 * n} cm", lambda n: f"{n}.0 metres"),
    "money": (lambda n: f"EUR {n},000", lambda n: f"{n} thousand euros", lambda n: f"€{n}000"),
}


def conflicts(answer, fact):
    claim = Claim("c", answer, 0, len(answer), 0, ClaimType.FACTUAL, 1.0, (), scan_values(answer))
    return [pair for pair in align_values(claim, read_fact(0, EnvelopeFact("f", fact), ()).places) if not pair.equal]


@settings(max_examples=examples(120), deadline=None)
@given(
    subject=st.sampled_from(SUBJECTS),
    kind=st.sampled_from(sorted(NOTATIONS)),
    numbers=st.tuples(st.integers(2, 90), st.integers(2, 90)),
    data=st.data(),
)
def test_notation_never_counts_and_worth_always_does(subject, kind, numbers, data):
    own, other = (data.draw(st.sampled_from(NOTATIONS[kind])) for _ in range(2))
    fact = f"{subject} is {own(numbers[0])}."
    assert not conflicts(f"{subject} is {other(numbers[0])}.", fact)
    assert bool(conflicts(f"{subject} is {other(numbers[1])}.", fact)) is (numbers[0] != numbers[1])
