"""The circuit breaker and the budget's arithmetic at every boundary (CRP-SPEC-012 facts; decisions 6, 28; ADR 0103)."""

import pytest

from services.common.errors import ErrorReason, PreconditionError
from services.dag.domain.breaker import breaker, check_delegation
from services.dag.domain.budget import PROFILES, after_window, starting_budget, warning

BOUNDARIES = [
    # budget, state, warning, review and halt of spec-004, review and halt of spec-012
    (1.0, "CLOSED", "", False, False, False, False),
    (0.500001, "CLOSED", "", False, False, False, False),
    (0.5, "HALF_OPEN", "caution", False, False, False, False),
    (0.250001, "HALF_OPEN", "caution", False, False, False, False),
    (0.25, "HALF_OPEN", "caution", False, False, False, False),
    (0.249999, "HALF_OPEN", "low", False, False, True, False),
    (0.100001, "HALF_OPEN", "low", False, False, True, False),
    (0.1, "OPEN", "low", True, False, True, True),
    (0.000001, "OPEN", "low", True, False, True, True),
    (0.0, "OPEN", "low", True, True, True, True),
]


@pytest.mark.parametrize("row", BOUNDARIES, ids=[f"{row[0]:g}" for row in BOUNDARIES])
def test_every_boundary(row):
    budget, state, said, *holds = row
    first, second = PROFILES["spec-004"], PROFILES["spec-012"]
    found = [check(budget) for one in (first, second) for check in (one.needs_review, one.depleted)]
    assert (breaker(budget), warning(budget), found) == (state, said, holds)


@pytest.mark.parametrize(
    ("risks", "left", "state"),
    [
        (["MEDIUM"] * 9, 0.55, "CLOSED"),
        (["MEDIUM"] * 10, 0.5, "HALF_OPEN"),
        (["CRITICAL", "HIGH"], 0.5, "HALF_OPEN"),
        (["HIGH"] * 3, 0.55, "CLOSED"),
        (["MEDIUM"] * 17, 0.15, "HALF_OPEN"),
        (["HIGH"] * 6, 0.1, "OPEN"),
        (["MEDIUM"] * 18, 0.1, "OPEN"),
        (["CRITICAL", "CRITICAL", "HIGH", "MEDIUM"], 0.1, "OPEN"),
        (["MEDIUM"] * 20, 0.0, "OPEN"),
    ],
)
def test_sums_of_hundredths_fall_on_the_boundary_exactly(risks, left, state):
    """1.0 - 0.05 ten times is 0.5000000000000001 in binary: it would leave the breaker CLOSED."""
    budget = starting_budget((), None)
    for risk in risks:
        budget = after_window(budget, risk)
    assert (budget, breaker(budget)) == (left, state)


@pytest.mark.parametrize(("budget", "state"), [(0.5, "HALF_OPEN"), (0.35, "HALF_OPEN"), (0.1, "OPEN"), (0.0, "OPEN")])
def test_delegation_is_refused_with_its_own_reason(budget, state):
    with pytest.raises(PreconditionError) as caught:
        check_delegation(budget, "crp_sess_x")
    assert caught.value.reason is ErrorReason.DELEGATION_SUSPENDED
    expected = {"session_id": "crp_sess_x", "safety_budget": f"{budget:g}", "circuit_breaker": state}
    assert caught.value.metadata == expected


@pytest.mark.parametrize("budget", [0.500001, 0.51, 1.0])
def test_a_closed_breaker_delegates(budget):
    check_delegation(budget, "crp_sess_x")


@pytest.mark.parametrize(("risk", "left"), [("LOW", 0.5), ("MEDIUM", 0.5), ("HIGH", 0.35), ("CRITICAL", 0.15)])
def test_a_refusal_is_free_unless_its_analysis_found_something(risk, left):
    assert after_window(0.5, risk, refusal=True) == left


def test_a_ceiling_never_raises():
    assert starting_budget((0.4, 0.9), 0.99) == 0.4
    assert starting_budget((0.4, 0.9), 0.3) == 0.3
