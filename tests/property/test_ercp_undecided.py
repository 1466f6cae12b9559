"""Undecided is not kept, whatever a draft and its constraints are (ADR 0115)."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ercp.domain import readings
from services.ercp.domain.duality import disagreement
from services.ercp.domain.duplicates import duplicates
from services.ercp.domain.predicates import Holds, PredicateError, describe, evaluate, parse_text, warm
from services.ercp.domain.records import Constraint, PredicateForm
from services.ercp.domain.solver import Consistency, check
from services.ercp.domain.standing import blocking, outcomes
from services.ercp.domain.vocabulary import ConstraintType, Standing
from tests.property.test_ercp_predicates import SIGNS, comparisons, others, read
from tests.tenth import examples

FORMS = st.one_of(comparisons(), others())
SENTENCES = st.lists(
    st.sampled_from(
        [
            "The volume of the tank is 3 litres.",
            "The tank holds at most 9 litres.",
            "In Denver, water boils at 93 °C.",
            "The audit comes before the opening.",
            "Salt is white because it scatters light.",
            "The cost might be 5 EUR!",
            "Nothing is said.",
        ]
    ),
    max_size=6,
).map(" ".join)
ABOUT = [
    ("GreaterThan", {"left": "tank.volume", "right": "5", "unit": "l"}),
    ("Equal", {"left": "tank.volume", "right": "3", "unit": "l"}),
    ("Equal", {"left": "water.boiling_point", "right": "100", "unit": "degC"}),
    ("TemporalOrder", {"before": "opening", "after": "audit"}),
    ("HasJustification", {"claim": "salt is white"}),
    ("NoContradiction", {"entity": "tank.volume"}),
    ("Resembles", {}),
]


@pytest.fixture(autouse=True, scope="module")
def _loaded():
    warm()


def constraint(number, form, *, immutable=False):
    name, args = form
    return Constraint(f"c{number}", ConstraintType.PREDICATE, "words", PredicateForm(name, args), immutable=immutable)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=SENTENCES,
    forms=st.lists(st.tuples(st.one_of(st.sampled_from(ABOUT), FORMS), st.booleans()), max_size=6),
)
def test_kept_and_broken_are_what_the_predicates_say_and_all_else_blocks_when_immutable(text, forms):
    facts = readings.facts_of(text, readings.sentences_of(text))
    rules = [constraint(number, form, immutable=fixed) for number, (form, fixed) in enumerate(forms)]
    found = outcomes(facts, rules)
    assert [each.constraint_id for each in found] == [each.constraint_id for each in rules]
    for rule, outcome in zip(rules, found, strict=True):
        assert (outcome.reason is None) == (outcome.standing is not Standing.UNDECIDED)
        assert outcome.why
        for place in outcome.places:
            assert text[place.sentence_start : place.sentence_end] == place.sentence
            assert place.sentence_start <= place.start < place.end <= len(text)
        try:
            holds = evaluate(readings.predicate_of(rule), facts).holds
        except PredicateError:
            holds = Holds.UNKNOWN
        expected = {Holds.TRUE: Standing.KEPT, Holds.FALSE: Standing.BROKEN, Holds.UNKNOWN: Standing.UNDECIDED}[holds]
        assert outcome.standing is expected
    undecided = [each.constraint_id for each in found if each.standing is Standing.UNDECIDED]
    assert set(blocking(found)) == {name for name in undecided if rules[int(name[1:])].immutable}


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(form=FORMS)
def test_a_predicates_own_words_never_disagree_with_it(form):
    predicate = read(form)
    if predicate is not None:
        assert disagreement(describe(predicate), predicate) == ""


SHARES = {
    "50%": Fraction(1, 2),
    "40%": Fraction(2, 5),
    "0.5": Fraction(1, 2),
    "0.4": Fraction(2, 5),
    "0.45": Fraction(9, 20),
}
BOUNDS = st.tuples(
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.sampled_from("xy"), st.sampled_from(list(SHARES))
)
PAIRS = st.tuples(st.sampled_from(["<", "<="]), st.just("x"), st.just("y"))


def satisfiable(constraints):
    points = [Fraction(number, 400) for number in range(100, 260)]
    return any(
        all(
            SIGNS[sign](values[left], SHARES[right] if right in SHARES else values[right])
            for sign, left, right in constraints
        )
        for x, y in itertools.product(points, repeat=2)
        for values in [{"x": x, "y": y}]
    )


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(BOUNDS, min_size=1, max_size=4), st.lists(PAIRS, max_size=1))
def test_a_fraction_beside_a_percentage_is_one_number_to_the_solver(bounds, pairs):
    constraints = [*bounds, *pairs]
    texts = [f"{left} {sign} {right}" for sign, left, right in constraints]
    # Both attributes have a percentage, one that excludes nothing here.
    texts += ["x < 90%", "y < 90%"]
    answer = check([(f"c{number}", parse_text(text)) for number, text in enumerate(texts)], 60_000)
    assert answer.status is (Consistency.SAT if satisfiable(constraints) else Consistency.UNSAT)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(forms=st.lists(FORMS, max_size=6))
def test_duplicates_are_groups_of_two_at_least_and_a_copy_is_always_found(forms):
    rules = [constraint(number, form) for number, form in enumerate(forms) if read(form) is not None]
    found = duplicates(rules)
    ids = [name for group in found for name in group.constraint_ids]
    assert len(ids) == len(set(ids))
    assert all(len(group.constraint_ids) > 1 for group in found)
    if rules:
        again = Constraint("copy", rules[0].type, "other words", rules[0].predicate)
        assert any({rules[0].constraint_id, "copy"} <= {*group.constraint_ids} for group in duplicates([*rules, again]))
