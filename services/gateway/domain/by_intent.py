"""Which strategies a query asks for by what it wants done, where its caller names none (CRP-SPEC-008; ADR 0162)."""

from collections.abc import Mapping
from typing import Final

from services.common.questions.intent import Intent
from services.common.taxonomy import DispatchStrategy

_BY_INTENT: Final[Mapping[Intent, DispatchStrategy]] = {
    Intent.COMPARE: DispatchStrategy.HIERARCHICAL,
    Intent.SEVERAL: DispatchStrategy.FAN_OUT,
    Intent.VERIFY: DispatchStrategy.REFLEXIVE,
    Intent.EXTRACT: DispatchStrategy.PULL,
    Intent.STEPS: DispatchStrategy.AGENTIC,
}


def wanted_by(intent: Intent, *, first: bool) -> tuple[DispatchStrategy, ...]:
    """Return the strategies, most wanted first; push is always among them.

    Args:
        intent: of the query.
        first: it begins a session: only then there is nothing that a fan-out would be one child of.
    """
    strategy = _BY_INTENT.get(intent)
    if strategy is None or (strategy is DispatchStrategy.FAN_OUT and not first):
        return (DispatchStrategy.PUSH,)
    return (strategy, DispatchStrategy.PUSH)
