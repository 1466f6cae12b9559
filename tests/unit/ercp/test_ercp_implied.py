"""What constraints demand together, and texts that deny just that (ADR 0080)."""

import pytest

from services.ercp.domain import checking, readings
from services.ercp.domain.implied import MAX_IMPLIED, implied
from services.ercp.domain.records import Constraint, PredicateForm
from services.ercp.domain.vocabulary import ConstraintType, Detector, ErrorType


def constraint(number, name, **args):
    return Constraint(
        constraint_id=f"c{number}",
        type=ConstraintType.PREDICATE,
        nl_text=f"constraint {number}",
        predicate=PredicateForm(name, args),
    )


def together(text, constraints):
    """Return the constraints that a text denies together, each as a tuple of their ids."""
    facts = readings.facts_of(text, readings.sentences_of(text))
    found = checking.check(facts, checking.ReferenceTexts(constraints))
    return [tuple(each.source.removeprefix("constraint:") for each in one.evidence) for one in found if one.evidence]


BARN_BELOW_SILO = constraint(1, "LessThan", left="barn.height", right="silo.height")
SILO_12 = constraint(2, "Equal", left="silo.height", right="12", unit="m")


class TestComparisons:
    def test_a_bound_passes_down_a_chain(self):
        assert together("The height of the barn is 15 m.", [BARN_BELOW_SILO, SILO_12]) == [("c1", "c2")]
        assert together("The height of the barn is 9 m.", [BARN_BELOW_SILO, SILO_12]) == []

    def test_a_value_passes_along_equalities(self):
        alike = constraint(1, "Equal", left="barn.height", right="silo.height")
        assert ("c1", "c2") in together("The height of the barn is 9 m.", [alike, SILO_12])
        assert together("The height of the barn is 12 m.", [alike, SILO_12]) == []

    def test_what_differs_from_a_known_value_is_not_that_value(self):
        other = constraint(1, "NotEqual", left="barn.height", right="silo.height")
        assert together("The height of the barn is 12 m.", [other, SILO_12]) == [("c1", "c2")]

    def test_stated_comparisons_are_held_against_chains(self):
        chain = [
            constraint(1, "GreaterThan", left="anna.age", right="ben.age"),
            constraint(2, "GreaterThan", left="ben.age", right="carl.age"),
        ]
        assert ("c2", "c1") in together("Carl is older than Anna.", chain)
        assert together("Anna is older than Carl.", chain) == []


class TestOrders:
    STEPS = (
        constraint(1, "TemporalOrder", before="casting", after="cooling"),
        constraint(2, "TemporalOrder", before="cooling", after="polishing"),
    )

    def test_an_order_passes_along_steps(self):
        assert ("c1", "c2") in together("The polishing happens before the casting.", self.STEPS)
        assert together("The polishing happens after the casting.", self.STEPS) == []

    def test_a_date_bounds_what_comes_before_it(self):
        dated = [
            constraint(1, "TemporalOrder", before="casting", after="delivery"),
            constraint(2, "Equal", left="delivery.date", right="2027-04-10"),
        ]
        assert ("c1", "c2") in together("The casting is on 20 April 2027.", dated)
        assert together("The casting is on 2 April 2027.", dated) == []


def test_the_finding_names_all_its_constraints_and_is_the_solvers():
    facts = readings.facts_of(
        "The height of the barn is 15 m.", readings.sentences_of("The height of the barn is 15 m.")
    )
    (found,) = checking.check(facts, checking.ReferenceTexts([BARN_BELOW_SILO, SILO_12]))
    assert (found.type, found.detector) == (ErrorType.CONTRADICTION, Detector.SOLVER)
    assert found.confidence == checking.TOGETHER


def test_a_condition_breaks_the_chain():
    cold = constraint(2, "Equal", left="silo.height", right="12", unit="m", condition="winter")
    assert list(implied([BARN_BELOW_SILO, cold])) == []


@pytest.mark.parametrize("length", [2, 60])
def test_consequences_are_bounded(length):
    chain = [constraint(n, "LessThan", left=f"a{n}.size", right=f"a{n + 1}.size") for n in range(length)]
    assert len(list(implied(chain))) == min(MAX_IMPLIED, length * (length - 1) // 2)
