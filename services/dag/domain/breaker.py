"""The circuit breaker of the safety budget (CRP-SPEC-012 and -002 facts; ADR 0007, ADR 0103).

CLOSED above 0.50. HALF_OPEN above 0.10: the reflexive remedy is forced, which is the gateway's matter, and nothing is
delegated. OPEN up to 0.10: besides, profile ``spec-004`` holds answers for a person and ``spec-012`` refuses them: that
is ``BudgetProfile``'s matter. To delegate is to open an agent's session or a fan-out's window (SPEC-004 §6.1, §15.1).
"""

from typing import Final

from services.common.errors import ErrorReason, PreconditionError
from services.common.taxonomy import BreakerState

CLOSED_ABOVE: Final = 0.50
OPEN_UP_TO: Final = 0.10


def breaker(budget: float) -> BreakerState:
    """Return the state at a budget, which is kept to six decimals."""
    if budget > CLOSED_ABOVE:
        return BreakerState.CLOSED
    return BreakerState.HALF_OPEN if budget > OPEN_UP_TO else BreakerState.OPEN


def check_delegation(budget: float, session_id: str) -> None:
    """Refuse to delegate from a budget at which the breaker is not CLOSED.

    Args:
        budget: of who delegates, before a ceiling that the caller sets for whom it delegates to.
        session_id: of who delegates.

    Raises:
        PreconditionError: DELEGATION_SUSPENDED.
    """
    state = breaker(budget)
    if state is BreakerState.CLOSED:
        return
    text = (
        f"the safety budget is {budget:g} and the circuit breaker {state.value}: nothing more is delegated, neither to "
        "an agent's session nor to a fan-out; continue in a line, or merge what is open"
    )
    raise PreconditionError(
        ErrorReason.DELEGATION_SUSPENDED,
        text,
        session_id=session_id,
        safety_budget=f"{budget:g}",
        circuit_breaker=state.value,
    )
