"""Predicates and their solver against what must hold for all of them: round trips, brute force, cores, monotony."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.common.grounding.words import sentences
from services.ercp.domain.predicates import (
    Holds,
    Predicate,
    PredicateError,
    Span,
    canonical,
    evaluate,
    extract_facts,
    parse_predicate,
    parse_text,
    to_document,
    to_text,
)
from services.ercp.domain.solver import Consistency, check, warm
from tests.tenth import examples

MS = 30_000
NAMES = st.sampled_from(["Equal", "NotEqual", "LessThan", "GreaterThan"])
SEGMENT = st.from_regex(r"[a-z][a-z0-9]{0,6}(_[a-z]{1,5})?", fullmatch=True).filter(lambda text: text != "value")
PATH = st.lists(SEGMENT, min_size=1, max_size=3).map(".".join)
NUMBER = st.decimals(-(10**9), 10**9, places=3, allow_nan=False).map(lambda number: format(number, "f"))
UNIT = st.sampled_from(["", "km", "m", "degC", "degF", "day", "h", "%", "EUR", "kg/m³", "GB"])
TEXT = st.text(min_size=1, max_size=40).filter(lambda text: any(char.isalnum() for char in text))


@pytest.fixture(scope="module", autouse=True)
def _loaded():
    warm()


@st.composite
def comparisons(draw):
    name, left, unit = draw(NAMES), draw(PATH), draw(UNIT)
    args = {"left": left, "right": draw(NUMBER)}
    if unit:
        args["unit"] = unit
    if name in {"Equal", "NotEqual"}:
        if draw(st.booleans()):
            args["tolerance"] = draw(st.sampled_from(["2%", "0.5", "0"]))
    elif draw(st.booleans()):
        args["inclusive"] = True
    if draw(st.booleans()):
        args["condition"] = draw(TEXT)
    return name, args


@st.composite
def others(draw):
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return "TemporalOrder", {"before": draw(TEXT), "after": draw(TEXT)}
    if kind == 1:
        return "HasJustification", {"claim": draw(TEXT)}
    if kind == 2:
        return "NoContradiction", {"entity": draw(PATH)}
    if kind == 3:
        return "Equal", {"left": draw(PATH), "right": draw(TEXT)}
    return draw(NAMES), {"left": draw(PATH), "right": f"{draw(PATH)}.{draw(SEGMENT)}"}


def read(form) -> Predicate | None:
    try:
        return parse_predicate(*form)
    except PredicateError:
        return None


@given(st.one_of(comparisons(), others()))
def test_what_is_printed_reads_back(form):
    predicate = read(form)
    if predicate is None:
        return
    document = to_document(predicate)
    assert parse_predicate(document["predicate_name"], document["args"]) == predicate
    assert parse_text(to_text(predicate)) == predicate
    assert canonical(parse_text(to_text(predicate))) == canonical(predicate)


@given(comparisons())
def test_every_generated_comparison_can_be_read(form):
    name, args = form
    if args.get("condition", "x").isprintable():
        assert parse_predicate(name, args).name == name


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text):
    for attempt in (lambda: parse_text(text), lambda: parse_predicate("Equal", {"left": "a", "right": text})):
        refused = None
        try:
            attempt()
        except PredicateError as error:
            refused = error
        assert refused is None or (refused.fault and refused.allowed)


UNITS = {"m": Fraction(1), "cm": Fraction(1, 100), "km": Fraction(1000)}
BOUND = st.tuples(
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.sampled_from("xyz"),
    st.integers(0, 3),
    st.sampled_from(list(UNITS)),
)
PAIR = st.tuples(st.sampled_from(["<", "<="]), st.sampled_from("xyz"), st.sampled_from("xyz"))
SIGNS = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def holds(constraint, values):
    if len(constraint) == 3:
        sign, left, right = constraint
        return SIGNS[sign](values[left], values[right])
    sign, name, number, unit = constraint
    return SIGNS[sign](values[name], number * UNITS[unit])


def written(constraint):
    if len(constraint) == 3:
        sign, left, right = constraint
        return f"{left} {sign} {right}"
    sign, name, number, unit = constraint
    return f"{name} {sign} {number} {unit}"


def satisfiable(constraints):
    """Try every place where three values can lie: on the constants, and three steps between each two of them."""
    constants = sorted({each[2] * UNITS[each[3]] for each in constraints if len(each) == 4} | {Fraction(0)})
    points = [constants[0] - step for step in (3, 2, 1)] + [constants[-1] + step for step in (1, 2, 3)] + constants
    for low, high in itertools.pairwise(constants):
        points += [low + (high - low) * Fraction(step, 4) for step in (1, 2, 3)]
    return any(
        all(holds(each, dict(zip("xyz", place, strict=True))) for each in constraints)
        for place in itertools.product(points, repeat=3)
    )


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(BOUND, PAIR.filter(lambda each: each[1] != each[2])), min_size=1, max_size=6))
def test_the_solver_agrees_with_brute_force(constraints):
    predicates = [(f"c{number}", parse_text(written(each))) for number, each in enumerate(constraints)]
    answer = check(predicates, MS)
    assert answer.status is (Consistency.SAT if satisfiable(constraints) else Consistency.UNSAT)
    if answer.status is Consistency.UNSAT:
        by_name = {f"c{number}": each for number, each in enumerate(constraints)}
        core = [by_name[name] for name in answer.core]
        assert answer.is_minimal
        assert not satisfiable(core)
        assert all(satisfiable(core[:place] + core[place + 1 :]) for place in range(len(core)))


EVENTS = st.sampled_from(["signing", "payment", "delivery", "audit", "launch"])


def is_acyclic(edges):
    return any(
        all(order.index(before) < order.index(after) for before, after in edges)
        for order in itertools.permutations(sorted({event for edge in edges for event in edge}))
    )


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(EVENTS, EVENTS).filter(lambda pair: pair[0] != pair[1]), min_size=1, max_size=7))
def test_orders_can_hold_exactly_when_they_form_no_circle(edges):
    named = [(f"c{number}", parse_text(f"TemporalOrder({a}, {b})")) for number, (a, b) in enumerate(edges)]
    answer = check(named, MS)
    assert (answer.status is Consistency.SAT) == is_acyclic(edges)
    core = [edges[int(name[1:])] for name in answer.core]
    assert all(is_acyclic(core[:place] + core[place + 1 :]) for place in range(len(core)))


SAID = [
    ("Equal(water.boiling_point, 100 degC)", "The boiling point of water is 100 °C."),
    ("Equal(water.boiling_point, 100 degC)", "The boiling point of water is 90 °C."),
    ("LessThan(project.deadline, 30 days)", "The deadline of the project is 20 days."),
    ("NoContradiction(bridge.limit)", "The limit of the bridge is 40 t. It is old. The limit of the bridge is 30 t."),
    ("TemporalOrder(signing, payment)", "The signing comes before the payment."),
    ("HasJustification(the beam bends)", "The beam bends because its load rises."),
    ("HasJustification(the beam bends)", "The beam bends. Nobody is hurt."),
]
IRRELEVANT = st.lists(
    st.sampled_from([
        "Cooks in the mountains wait longer for their pasta.", "The town has 4,000 inhabitants.",
        "Bread costs 3 euros.",
        "The museum opens at nine.", "After the match the fans went home.", "It rained, because clouds came in.",
        "The height of the tower is 300 m.", "Is that all?", "Tomatoes are red; cucumbers are not.",
    ]),
    max_size=5,
)  # fmt: skip


@settings(max_examples=examples(80), deadline=None)
@given(st.sampled_from(SAID), IRRELEVANT, IRRELEVANT)
def test_text_about_other_things_changes_no_answer(said, before, after):
    predicate, text = said
    whole = " ".join([*before, text, *after])

    def answer(each):
        facts = extract_facts(each, [Span(*place) for place in sentences(each)])
        found = evaluate(parse_text(predicate), facts)
        return found.holds, [each[span.start : span.end] for span in found.evidence]

    assert answer(whole) == answer(text)
    assert answer(text)[0] is not Holds.UNKNOWN
