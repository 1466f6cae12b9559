"""The circuit breaker, the budget's sums and what flows back, by vectors (ADR 0007, 0096, ADR 0103)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from services.common.errors import ErrorReason, PreconditionError
from services.common.ports.sessions import SessionSnapshot
from services.common.taxonomy import BreakerState
from services.dag.domain.breaker import breaker, check_delegation
from services.dag.domain.budget import PROFILES, after_window, budget_left, starting_budget, warning
from services.dag.domain.returning import Returned, lowering
from services.dag.domain.view import DagView
from tests.contract.records import session, window

FILE = Path(__file__).resolve().parents[2] / "vectors/dag/budget.json"
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))["vectors"]


def cases(kind):
    found = [v for v in VECTORS if v["test_id"].startswith(f"dag-budget-{kind}-")]
    assert found
    return [pytest.param(v["input"], v["expected"], id=v["test_id"]) for v in found]


@pytest.mark.parametrize(("given", "expected"), cases("at"))
def test_every_boundary(given, expected):
    budget = given["safety_budget"]
    found = {
        "circuit_breaker": breaker(budget),
        "budget_warning": warning(budget),
        "delegates": breaker(budget) is BreakerState.CLOSED,
        **{
            name: {"review": profile.needs_review(budget), "halt": profile.depleted(budget)}
            for name, profile in PROFILES.items()
        },
    }
    assert found == expected


@pytest.mark.parametrize(("given", "expected"), cases("sum"))
def test_sums_of_hundredths_fall_on_the_boundary_exactly(given, expected):
    """1.0 - 0.05 ten times is 0.5000000000000001 in binary: it would leave the breaker CLOSED."""
    budget = starting_budget((), None)
    for risk in given["windows"]:
        budget = after_window(budget, risk.removeprefix("REFUSAL "), refusal=risk.startswith("REFUSAL "))
    assert {"safety_budget": budget, "circuit_breaker": breaker(budget)} == expected


@pytest.mark.parametrize(("given", "expected"), cases("returned"))
def test_what_flows_back_is_the_minimum(given, expected):
    windows = tuple(
        window("s", number, parent_ids=(), safety_budget=left) for number, left in enumerate(given["open_ends"], 1)
    )
    held, lowered_to = session("s", budget_ceiling=given["budget_ceiling"]), []
    for returned in given["returned"]:
        snapshot = SessionSnapshot(held, windows, (), None)
        found = lowering(snapshot, "agent", Returned("agent", "w", returned))
        if found is not None:
            held = found.step.session
            lowered_to.append(held.budget_ceiling)
            assert lowering(replace(snapshot, session=held), "agent", Returned("agent", "w", returned)) is None  # twice
    left = budget_left(held, DagView(windows, ()))
    assert {"safety_budget": left, "lowered_to": lowered_to} == expected


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


def test_a_ceiling_never_raises():
    assert starting_budget((0.4, 0.9), 0.99) == 0.4
    assert starting_budget((0.4, 0.9), 0.3) == 0.3
