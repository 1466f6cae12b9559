"""The safety budget (CRP-SPEC-012 and -002 facts; SPEC-004 §6.4; ADR 0007).

It starts at 1.0, the final analysis of each window takes something off, nothing ever gives it back. Amounts are kept to
six decimals so that sums of hundredths stay what they say. A refusal takes nothing (ADR 0096, ADR 0103).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.common.ports.sessions import SessionRecord
from services.dag.domain.view import DagView

FULL_BUDGET: Final = 1.0
COST_BY_RISK: Final[Mapping[str, float]] = {"LOW": 0.0, "MEDIUM": 0.05, "HIGH": 0.15, "CRITICAL": 0.35}
REFUSALS_UP_TO: Final = "MEDIUM"
"""A refusal is LOW by its report's own rule (ADR 0096); one that all the same found more than this is charged."""
CAUTION_UP_TO: Final = 0.50
LOW_BELOW: Final = 0.25
HALT_REASON: Final = "SAFETY_BUDGET_DEPLETED"
_DECIMALS: Final = 6


@unique
class BudgetWarning(StrEnum):
    """CRP-Safety-Budget-Warning; NONE is no header."""

    NONE = ""
    CAUTION = "caution"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class BudgetProfile:
    """Where review and halt begin.

    Attributes:
        review_from: budgets up to here ask for a person.
        review_inclusive: whether ``review_from`` itself does.
        halt_from: budgets up to and including this one end the session.
    """

    name: str
    review_from: float
    review_inclusive: bool
    halt_from: float

    def needs_review(self, budget: float) -> bool:
        """Say whether a person has to look."""
        return budget < self.review_from or (self.review_inclusive and budget == self.review_from)

    def depleted(self, budget: float) -> bool:
        """Say whether the session ends (SPEC-004 §4.3)."""
        return budget <= self.halt_from


PROFILES: Final[Mapping[str, BudgetProfile]] = {
    "spec-004": BudgetProfile("spec-004", review_from=0.10, review_inclusive=True, halt_from=0.0),
    "spec-012": BudgetProfile("spec-012", review_from=0.25, review_inclusive=False, halt_from=0.10),
}


def starting_budget(parent_budgets: Iterable[float], ceiling: float | None) -> float:
    """Return what a window starts with: the minimum of its parents' (§6.4), 1.0 for a root, lowered by a ceiling."""
    inherited = min(parent_budgets, default=FULL_BUDGET)
    return _clean(inherited if ceiling is None else min(inherited, ceiling))


def after_window(budget: float, risk_level: str, *, refusal: bool = False) -> float:
    """Return the budget after a window of this risk, never below 0.0.

    Args:
        budget: before it.
        risk_level: of the delivered analysis.
        refusal: the analysis found that the answer says that there is none, and asserts nothing (ADR 0096).
    """
    cost = COST_BY_RISK[risk_level]
    free = refusal and cost <= COST_BY_RISK[REFUSALS_UP_TO]
    return max(0.0, _clean(budget if free else budget - cost))


def budget_left(session: SessionRecord, dag: DagView) -> float:
    """Return what a session has left: the smallest of its ceiling and of what stands at the ends of its branches."""
    return min((session.budget_ceiling, *(leaf.safety_budget for leaf in dag.leaves())))


def warning(budget: float) -> BudgetWarning:
    """Return caution from 0.50 down, low below 0.25."""
    if budget < LOW_BELOW:
        return BudgetWarning.LOW
    return BudgetWarning.CAUTION if budget <= CAUTION_UP_TO else BudgetWarning.NONE


def _clean(amount: float) -> float:
    return round(amount, _DECIMALS)
