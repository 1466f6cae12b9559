"""Reading and writing predicates: forms, types, units, sizes, and errors that name what is wrong (ERCP §8, §10)."""

from decimal import Decimal

import pytest

from services.ercp.domain.predicates import (
    Amount,
    Path,
    PredicateError,
    Text,
    canonical,
    describe,
    parse_predicate,
    parse_text,
    requirement_in,
    to_document,
    to_text,
)
from tests.each import each

EXAMPLE = {"left": "water.boiling_point", "right": "100", "unit": "C"}


def test_the_documents_own_example():
    predicate = parse_predicate("Equal", EXAMPLE)
    assert predicate.left == Path(("water", "boiling_point"))
    assert predicate.right == Amount(Decimal(100), "degC")
    assert to_text(predicate) == "Equal(water.boiling_point, 100 degC)"
    assert to_document(predicate) == {
        "predicate_name": "Equal",
        "args": {"left": "water.boiling_point", "right": "100", "unit": "degC"},
    }


def test_the_constraint_of_the_canonical_example():
    predicate = parse_text("BoilingPointAtSeaLevel ≈ 100°C")
    assert to_text(predicate) == 'Equal(boiling_point, 100 degC, tolerance=2%, condition="sea level")'


@each(
    ("written", "printed"),
    [
        ("a.b = 5", "Equal(a.b, 5)"),
        ("a.b != 5 km", "NotEqual(a.b, 5 km)"),
        ("deadline ≤ 30 days", "LessThan(deadline, 30 day, inclusive=true)"),
        ("deadline > P1DT12H", "GreaterThan(deadline, 36 h)"),
        ("Equal(a, P1Y2M)", "Equal(a, 14 month)"),
        ("Equal(a, $5)", "Equal(a, 5 USD)"),
        ("Equal(a, right=7)", "Equal(a, 7)"),
        ("Equal(cost, budget.value)", "Equal(cost, budget.value)"),
        ("LessThan(cost, budget)", "LessThan(cost, budget)"),
        ("Equal(france.capital, Paris)", "Equal(france.capital, Paris)"),
        ('Equal(a, "12 m")', 'Equal(a, "12 m")'),
        ("Equal(a, 2024-03-01T10:00:00+02:00)", "Equal(a, 2024-03-01T08:00:00Z)"),
        ("TemporalOrder(contract signing, 2024-03-01)", "TemporalOrder(contract signing, 2024-03-01)"),
        ('HasJustification("so (it is), because")', 'HasJustification("so (it is), because")'),
        ("NoContradiction( Water.BoilingPoint )", "NoContradiction(water.boiling_point)"),
        ("Equal(a, 5 m/s^2)", "Equal(a, 5 m/s²)"),
    ],
)
def test_text_form(written, printed):
    predicate = parse_text(written)
    assert to_text(predicate) == printed
    assert parse_text(printed) == predicate


@each(
    ("name", "args", "field", "fault"),
    [
        ("Equals", EXAMPLE, "predicate_name", "'Equals' is unknown"),
        ("Equal", {"left": "a"}, "args.right", "is missing"),
        ("Equal", {"right": "5"}, "args.left", "is missing"),
        ("Equal", {"left": 5, "right": 5}, "args.left", "is a number"),
        ("Equal", {"left": "5 km", "right": 5}, "args.left", "is no attribute"),
        ("Equal", {"left": "a..b", "right": 5}, "args.left", "is no attribute"),
        ("Equal", {"left": ".".join("abcdefghi"), "right": 5}, "args.left", "has 9 parts"),
        ("Equal", {"left": "a" * 201, "right": 5}, "args.left", "is 201 characters long"),
        ("LessThan", {"left": "a", "right": "a"}, "args.right", "is the same as args.left"),
        ("Equal", {"left": "a", "right": True}, "args.right", "is a boolean"),
        ("Equal", {"left": "a", "right": None}, "args.right", "is missing"),
        ("Equal", {"left": "a", "right": [1]}, "args.right", "is a list"),
        ("Equal", {"left": "a", "right": {"value": 1}}, "args.right", "is an object"),
        ("Equal", {"left": "a", "right": float("nan")}, "args.right", "no number"),
        ("Equal", {"left": "a", "right": float("inf")}, "args.right", "no number"),
        ("Equal", {"left": "a", "right": "NaN"}, "args.right", "'NaN' is no number"),
        ("Equal", {"left": "a", "right": "1e31"}, "args.right", "sensible size"),
        ("Equal", {"left": "a", "right": "1e-31"}, "args.right", "sensible size"),
        ("Equal", {"left": "a", "right": "1" * 31}, "args.right", "sensible size"),
        ("Equal", {"left": "a", "right": "12..6"}, "args.right", "does not parse at column 3"),
        ("Equal", {"left": "a", "right": "5 parsecks"}, "args.right", "'parsecks' is not a known unit"),
        ("Equal", {"left": "a", "right": "5", "unit": "foo"}, "args.unit", "'foo' is not a known unit"),
        ("Equal", {"left": "a", "right": "5", "unit": 3}, "args.unit", "is a number"),
        ("Equal", {"left": "a", "right": "5 m", "unit": "kg"}, "args.unit", "kg is not the right side's own m"),
        ("Equal", {"left": "a", "right": "Paris", "unit": "kg"}, "args.unit", "no number"),
        ("Equal", {"left": "a", "right": "2024-02-30"}, "args.right", "no day of the calendar"),
        ("Equal", {"left": "a", "right": "P1M2D"}, "args.right", "no single length of time"),
        ("Equal", {"left": "a", "right": "5", "tolerance": "-1"}, "args.tolerance", "out of range"),
        ("Equal", {"left": "a", "right": "5", "tolerance": "101%"}, "args.tolerance", "out of range"),
        ("Equal", {"left": "a", "right": "5 kg", "tolerance": "1 m"}, "args.tolerance", "m does not go with kg"),
        ("Equal", {"left": "a", "right": "x y", "tolerance": "1"}, "args.tolerance", "no number"),
        ("LessThan", {"left": "a", "right": "New York"}, "args.right", "has no order"),
        ("LessThan", {"left": "a", "right": "5", "inclusive": "maybe"}, "args.inclusive", "is a text"),
        ("NoContradiction", {"entity": 7}, "args.entity", "is a number"),
        ("TemporalOrder", {"before": "a b", "after": "a  b"}, "args.after", "is the same"),
        ("TemporalOrder", {"before": "…", "after": "b"}, "args.before", "no letter"),
        ("HasJustification", {"claim": "x" * 2001}, "args.claim", "2,001 characters"),
        ("HasJustification", {"claim": "a\x00b"}, "args.claim", "control characters"),
        ("Equal", EXAMPLE | {f"x{n}": 1 for n in range(14)}, "args", "17 arguments"),
        ("Equal", EXAMPLE | {"later": "x" * 5000}, "args", "unknown arguments"),
        ("Equal", EXAMPLE | {"later": float("nan")}, "args", "no JSON value"),
    ],
)
def test_what_is_wrong_is_named(name, args, field, fault):
    with pytest.raises(PredicateError) as refused:
        parse_predicate(name, args)
    assert refused.value.field == field
    assert fault in refused.value.fault
    assert refused.value.allowed


@pytest.mark.parametrize(
    ("text", "field", "fault"),
    [
        ("", "text", "does not parse at column 1"),
        ("Equal(a", "text", "does not parse at column 8"),
        ("Equal(a,,b)", "text", "does not parse at column 9"),
        ("Equal(a, 5, 6)", "text", "3 arguments without a name"),
        ("Equal(a, 5, left=b)", "args.left", "is given twice"),
        ("Foo(a)", "predicate_name", "'Foo' is unknown"),
        ("Equal(a, 5" + " " * 10_000 + ")", "text", "characters long"),
        ('Equal(a, "\\q")', "args.right", "broken escape"),
    ],
)
def test_what_is_wrong_in_the_text_form_is_named(text, field, fault):
    with pytest.raises(PredicateError) as refused:
        parse_text(text)
    assert (refused.value.field, fault in refused.value.fault) == (field, True)


def test_an_argument_of_a_newer_version_is_kept():
    predicate = parse_predicate("Equal", EXAMPLE | {"scope": {"b": 1, "a": [True, None]}})
    assert to_document(predicate)["args"]["scope"] == {"b": 1, "a": [True, None]}
    assert canonical(predicate) != canonical(parse_predicate("Equal", EXAMPLE))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Equal(a, 1 km)", "Equal(a, 1000 m)"),
        ("Equal(a, 100 degC)", "Equal(a, 373.15 K)"),
        ("Equal(a, 50%)", "Equal(a, 0.5)"),
        ("LessThan(a, b)", "GreaterThan(b, a)"),
        ("Equal(a, b.value)", "Equal(b, a.value)"),
        ("Equal(a, Paris)", 'Equal(a, "paris")'),
        ("Equal(a, 5, tolerance=0)", "Equal(a, 5)"),
    ],
)
def test_one_demand_has_one_canonical_form(first, second):
    assert canonical(parse_text(first)) == canonical(parse_text(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("LessThan(a, 5)", "LessThan(a, 5, inclusive=true)"),
        ("Equal(a, 5 kg)", "Equal(a, 5)"),
        ("Equal(a, 5)", 'Equal(a, 5, condition="sea level")'),
        ("LessThan(a, b)", "LessThan(b, a)"),
        ("Equal(a, 5)", "Equal(a, 5, tolerance=1%)"),
        ("TemporalOrder(a, b)", "TemporalOrder(b, a)"),
    ],
)
def test_different_demands_have_different_canonical_forms(first, second):
    assert canonical(parse_text(first)) != canonical(parse_text(second))


@pytest.mark.parametrize(
    ("predicate", "sentence"),
    [
        ("Equal(water.boiling_point, 100 degC)", "The boiling point of water must be 100 °C."),
        ("Equal(a, 5 kg, tolerance=2%)", "The a must be 5 kg, give or take 2 %."),
        ("NotEqual(a, 1 day)", "The a must be not 1 day."),
        ("LessThan(deadline, 30 days, inclusive=true)", "The deadline must be at most 30 days."),
        ("GreaterThan(launch, 2024-03-01)", "The launch must be after 1 March 2024."),
        ("LessThan(cost, budget)", "The cost must be less than budget."),
        ('Equal(x, 5, condition="rain")', "The x must be 5 (condition: rain)."),
        ("NoContradiction(water)", "All statements about water must agree with one another."),
        ("TemporalOrder(signing, 2024-03-01)", '"signing" must come before 1 March 2024.'),
        ("HasJustification(It is so.)", "A reason must be given for this claim: It is so."),
    ],
)
def test_description(predicate, sentence):
    assert describe(parse_text(predicate)) == sentence


@pytest.mark.parametrize(
    ("sentence", "predicate"),
    [
        ("The deadline must be at most 30 days.", "LessThan(deadline, 30 day, inclusive=true)"),
        ("The deadline of the project must not exceed 30 days.", "LessThan(project.deadline, 30 day, inclusive=true)"),
        ("Water boils at 93 °C in Denver.", 'Equal(water.boiling_point, 93 degC, condition="in Denver")'),
        ("The cost must be less than the budget.", "LessThan(cost, budget)"),
        ("The capital of France is Paris.", "Equal(france.capital, paris)"),
        ("The survey comes before the purchase.", "TemporalOrder(The survey comes, the purchase)"),
        ("BoilingPointAtSeaLevel ≈ 100 °C", 'Equal(boiling_point, 100 degC, tolerance=2%, condition="sea level")'),
    ],
)
def test_a_demanding_sentence_gives_its_predicate(sentence, predicate):
    found = requirement_in(sentence)
    assert found is not None
    assert to_text(found) == predicate


@pytest.mark.parametrize("sentence", ["", "Be brief.", "The limit is between 5 and 10 kg.", "x is 5 m and y is 6 m."])
def test_a_sentence_that_is_not_plain_gives_none(sentence):
    assert requirement_in(sentence) is None


def test_a_bare_word_is_a_text_where_texts_are_allowed_and_an_attribute_where_not():
    assert parse_text("Equal(a, Paris)").right == Text("Paris")
    assert parse_text("LessThan(a, Paris)").right == Path(("paris",))
