"""Orders by the days that clauses name, and whose value it is (ADR 0204)."""

import pytest

from services.ercp.domain import readings
from services.ercp.domain.predicates import Holds, evaluate
from services.ercp.domain.records import Constraint, PredicateForm
from services.ercp.domain.vocabulary import ConstraintType
from tests.each import each


def judged(text, name, **args):
    held = Constraint("c1", ConstraintType.PREDICATE, "A rule.", PredicateForm(name, args))
    return evaluate(readings.predicate_of(held), readings.facts_of(text, readings.sentences_of(text)))


KITCHEN = "On Monday 3 May 2027 the demolition crew rips out the old units. The power goes off on Tuesday the 4th."
WELL = "The survey is made in March. The drilling takes place in May."


@each(
    "text, before, after, holds",
    (
        (KITCHEN, "power", "demolition", Holds.FALSE),
        (KITCHEN, "demolition", "power", Holds.TRUE),
        (WELL, "drilling", "survey", Holds.FALSE),
        (WELL, "survey", "drilling", Holds.TRUE),
        ("We switch reads on 10 March, and writes follow on 8 March.", "reads", "writes", Holds.FALSE),
        (
            "The survey is made in March. If it rains, the drilling takes place in May.",
            "drilling",
            "survey",
            Holds.UNKNOWN,
        ),
        ("The survey is made in May. The drilling is on 8 May.", "drilling", "survey", Holds.UNKNOWN),
        (
            "A survey is on 3 March. A second survey is on 9 March. The drilling is on 5 March.",
            "survey",
            "drilling",
            Holds.UNKNOWN,
        ),
        ("The survey and the drilling are in March.", "survey", "drilling", Holds.UNKNOWN),
        ("The survey is on 3 March. The drilling is on 5 March 2027.", "drilling", "survey", Holds.UNKNOWN),
    ),
)
def test_days_of_two_clauses_put_events_into_order(text, before, after, holds):
    assert judged(text, "TemporalOrder", before=before, after=after).holds is holds


def test_the_clause_that_comes_too_late_is_shown_last():
    answer = judged(KITCHEN, "TemporalOrder", before="power", after="demolition")
    assert [KITCHEN[span.start : span.end] for span in answer.evidence][-1] == "The power goes off on Tuesday the 4th."


@pytest.mark.parametrize("rest", ["", " The van itself weighs 2,100 kg."])
def test_a_value_of_the_thing_that_a_sentence_names_goes_before_that_of_another(rest):
    text = f"On the scales the organ crate comes to 920 kg.{rest}"
    answer = judged(text, "LessThan", left="organ_crate.weight", right="850", unit="kg")
    assert answer.holds is Holds.FALSE
    assert [text[span.start : span.end] for span in answer.evidence] == ["920 kg"]


def test_a_thing_of_the_same_kind_with_another_name_is_another():
    text = "Late shift: four nurses on weekdays, two on Sundays."
    assert judged(text, "GreaterThan", left="night_shift.nurses", right="2").holds is Holds.UNKNOWN
    named = "Night shift: four nurses on weekdays, two on Sundays."
    assert judged(named, "GreaterThan", left="night_shift.nurses", right="2").holds is Holds.FALSE
