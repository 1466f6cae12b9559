"""Constraints that demand the same in other words are found and told, never refused (ADR 0115)."""

import pytest

from services.ercp.domain.duplicates import duplicates
from services.ercp.domain.predicates import parse_text, to_document
from services.ercp.domain.records import Constraint, PredicateForm
from services.ercp.domain.vocabulary import ConstraintType


def rules(*texts):
    forms = [to_document(parse_text(text)) for text in texts]
    return [
        Constraint(f"c{n}", ConstraintType.PREDICATE, "words", PredicateForm(each["predicate_name"], each["args"]))
        for n, each in enumerate(forms)
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("GreaterThan(tank.volume, 5 l, inclusive=true)", "GreaterThan(volume_of_the_tank, 5000 ml, inclusive=true)"),
        ("LessThan(cost, budget)", "GreaterThan(budget, cost)"),
        ("LessThan(share, 40%)", "LessThan(share, 0.4)"),
        ("Equal(vendor, Oracle)", "Equal(vendor, oracle)"),
        ("LessThan(ticket.price, 5 EUR)", "LessThan(ticket.cost, 5 EUR)"),
        ("Equal(water.boiling_point, 100 degC)", 'Equal(water.boiling_point, 373.15 K, condition="at sea level")'),
        ("TemporalOrder(signing of the contract, opening)", "TemporalOrder(contract signing, the opening)"),
        ("LessThan(deadline, 2 weeks)", "LessThan(deadline, 14 days)"),
    ],
)
def test_found(first, second):
    (found,) = duplicates(rules(first, "Equal(door.colour, green)", second))
    assert found.constraint_ids == ("c0", "c2")
    assert found.demand


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("LessThan(deadline, 30 days)", "LessThan(deadline, 30 days, inclusive=true)"),
        ("LessThan(deadline, 30 days)", "LessThan(deadline, 31 days)"),
        ("LessThan(cost, budget)", "LessThan(budget, cost)"),
        ("Equal(vendor, Oracle)", "NotEqual(vendor, Oracle)"),
        ("Equal(water.boiling_point, 93 degC)", 'Equal(water.boiling_point, 93 degC, condition="in Denver")'),
        ("TemporalOrder(audit, opening)", "TemporalOrder(opening, audit)"),
        ("Equal(a.b, 5 kg)", "Equal(a.b, 5 kg, tolerance=1%)"),
        ("Equal(a.b, 5 kg)", "Equal(a.b, 5)"),
    ],
)
def test_not_the_same(first, second):
    assert duplicates(rules(first, second)) == ()


def test_what_this_version_cannot_read_is_left_out():
    newer = Constraint("c9", ConstraintType.CUSTOM, "words", PredicateForm("Resembles", {}))
    assert duplicates([newer, newer]) == ()
