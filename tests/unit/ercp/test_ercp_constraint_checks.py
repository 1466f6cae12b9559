"""Constraints held against a text before it is analysed (ADR 0078), and how far "about" reaches, everywhere alike."""

import json
from pathlib import Path

import pytest

from services.common.taxonomy import ConstraintState
from services.ercp.domain import readings
from services.ercp.domain.checking import CONSTRAINT_PREFIX, ReferenceTexts, check
from services.ercp.domain.constraint_checks import MAX_WHY, MAX_WORDS, check_constraints
from services.ercp.domain.predicates import ABOUT_TOLERANCE, demand_of, parse_text, to_document
from services.ercp.domain.records import Constraint, PredicateForm
from services.ercp.domain.vocabulary import ConstraintType, Detector

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/ercp/fidelity.json").read_text(encoding="utf-8"))["vectors"]


def rule(name, *, constraint_id="r1", words="A rule.", **args):
    return Constraint(constraint_id, ConstraintType.PREDICATE, words, PredicateForm(name, args))


def held(text, *constraints):
    return check_constraints(text, readings.sentences_of(text), constraints).verdicts


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["test_id"] for vector in VECTORS])
def test_the_state_and_the_words_that_deny_it(vector):
    form = vector["constraint"]
    (verdict,) = held(vector["text"], rule(form["predicate_name"], **form["args"]))
    assert verdict.state == vector["expected"]["state"]
    assert [vector["text"][start:end] for start, end in verdict.spans] == vector["expected"]["denied"]
    assert verdict.why
    assert verdict.detector is Detector.SOLVER


def test_what_is_violated_is_what_the_predicate_check_reports():
    text = "The tank has a volume of 5 l. The valve is blue. The audit was on 2024-03-01."
    rules = [
        rule("Equal", constraint_id="r1", left="tank.volume", right="7", unit="l"),
        rule("Equal", constraint_id="r2", left="tank.volume", right="5", unit="l"),
        rule("LessThan", constraint_id="r3", left="deadline", right="30", unit="day"),
        rule("TemporalOrder", constraint_id="r4", before="2024-06-01", after="audit"),
    ]
    found = check_constraints(text, readings.sentences_of(text), rules)
    denied = {each.constraint_id for each in found.verdicts if each.state is ConstraintState.VIOLATED}
    reported = {
        evidence.source.removeprefix(CONSTRAINT_PREFIX)
        for suspicion in check(found.facts, ReferenceTexts(rules))
        for evidence in suspicion.evidence
        if evidence.source.startswith(CONSTRAINT_PREFIX)
    }
    assert denied == reported == {"r1", "r4"}
    assert [each.state.value for each in found.verdicts] == ["VIOLATED", "HELD", "UNKNOWN", "VIOLATED"]


def test_a_predicate_of_a_newer_version_is_unknown_and_says_so():
    (verdict,) = held("The tank has a volume of 5 l.", rule("Resembles", left="a", right="b"))
    assert (verdict.state, verdict.spans) == (ConstraintState.UNKNOWN, ())
    assert "cannot be read" in verdict.why


def test_an_empty_text_denies_nothing():
    (verdict,) = held("", rule("Equal", left="tank.volume", right="7", unit="l"))
    assert verdict.state is ConstraintState.UNKNOWN


def test_words_are_cut_to_what_the_dpe_service_takes():
    values = " ".join(f"The volume of the tank is {number} l." for number in range(40))
    long = rule("Equal", words="x" * 5_000, left="tank.volume", right="7", unit="l")
    (verdict,) = held(values, long)
    assert len(verdict.nl_text) == MAX_WORDS
    assert len(verdict.why) <= MAX_WHY
    assert verdict.state is ConstraintState.VIOLATED


def test_about_reaches_as_far_where_it_is_read_demanded_and_learned():
    text = "The boiling point of water is about 100 °C."
    facts = readings.facts_of(text, readings.sentences_of(text))
    ((fact, learned),) = readings.equalities(facts)
    demanded = demand_of(fact, text)
    assert ABOUT_TOLERANCE == "2%"
    tolerances = {to_document(each)["args"]["tolerance"] for each in (learned, demanded, parse_text("a ≈ 100 degC"))}
    assert tolerances == {ABOUT_TOLERANCE}
    for other, state in (("98 °C", "HELD"), ("97.9 °C", "VIOLATED"), ("102 °C", "HELD"), ("104 °C", "VIOLATED")):
        form = readings.form_of(learned)
        assert held(f"The boiling point of water is {other}.", rule(form.name, **form.args))[0].state == state


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Pause 9 s before the first step, 8 s before the second and 7 s before the third.", "VIOLATED"),
        ("Pause 9 s before the first step, and at most 8 s before the others.", "UNKNOWN"),
        ("Pause 25 seconds before the second step, and at least 3 seconds before the first.", "VIOLATED"),
        ("The pauses take 18 seconds in total.", "HELD"),
    ],
    ids=["parts", "parts and a limit", "a part that is too much", "named"],
)
def test_one_part_says_nothing_of_a_total_but_that_it_is_too_much(text, state):
    (verdict,) = held(text, rule("LessThan", left="pauses.total", right="20", unit="s", inclusive=True))
    assert verdict.state.name == state


def test_midnight_ends_one_day_and_begins_the_next():
    home = rule("LessThan", left="end", right="22:00", inclusive=True)
    assert held("The end is at half past midnight.", home)[0].state.name == "UNKNOWN"
    assert held("The end is at 23:30.", home)[0].state.name == "VIOLATED"


def test_a_row_that_names_an_option_beside_another_word_is_no_choice_of_options():
    colours = rule("OneOf", left="colours", options="red | green | blue")
    rows = "Mon: Ann in Red, Bob in Green\nTue: Ann in Pink, Bob in Red\nWed: Ann in Blue, Bob in Red"
    assert held(rows, colours)[0].state.name == "UNKNOWN"
    slots = "Mon: Ann - Red, Bob - Green\nTue: Ann - Pink, Bob - Red\nWed: Ann - Blue, Bob - Red"
    assert held(slots, colours)[0].state.name == "VIOLATED"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("The rent is 90 euros a month. The salary is 500 euros a year.", "UNKNOWN"),
        ("The rent is 90 euros per month. The salary is 500 euros per year.", "VIOLATED"),
        ("The rent is 90 euros a month. The salary is 500 euros.", "UNKNOWN"),
        ("The rent is 90 euros a month. The salary is 500 euros a month.", "HELD"),
        ("The rent is 900 euros a month. The salary is 500 euros a month.", "VIOLATED"),
        ("The rent is 90 euros. The salary is 500 euros.", "HELD"),
    ],
)
def test_amounts_for_different_periods_are_not_compared(text, state):
    (verdict,) = held(text, rule("LessThan", left="rent", right="salary"))
    assert verdict.state.name == state
