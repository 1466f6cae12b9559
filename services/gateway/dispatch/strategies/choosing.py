"""Which of the wanted strategies a dispatch takes (CRP-SPEC-008; SPEC-004 §14.3, §14.4)."""

from collections.abc import Mapping
from typing import Final

from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, PreconditionError
from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.strategies.agentic import Agentic
from services.gateway.dispatch.strategies.fan import FanIn, FanOut
from services.gateway.dispatch.strategies.hierarchical import Hierarchical
from services.gateway.dispatch.strategies.pull import Pull
from services.gateway.dispatch.strategies.push import Push
from services.gateway.dispatch.strategies.reflexive import Reflexive
from services.gateway.dispatch.strategies.strategy import Strategy

SERVED: Final[tuple[Strategy, ...]] = (Push(), Pull(), Reflexive(), Hierarchical(), Agentic(), FanOut(), FanIn())
"""Those that this deployment carries out; a further one is a file and an entry here."""
_BY_NAME: Final[Mapping[DispatchStrategy, Strategy]] = {strategy.name: strategy for strategy in SERVED}


def strategy_named(name: DispatchStrategy) -> Strategy:
    """Return a served strategy by its word; raises KeyError for one that is not served."""
    return _BY_NAME[name]


def served_strategy(wanted: tuple[DispatchStrategy, ...], parents: int) -> DispatchStrategy:
    """Return the first wanted strategy that is served and fits the number of parents.

    Args:
        wanted: most wanted first; empty = no wish.
        parents: number of windows that the request names; several are a fan-in (SPEC-004 §14.4, §15.1).

    Raises:
        PreconditionError: UNSUPPORTED_STRATEGY with those that are served.
        InvalidRequestError: INVALID_FIELD: none of the served ones takes so many parents.
    """
    if not wanted:
        return DispatchStrategy.FAN_IN if parents > 1 else DispatchStrategy.PUSH
    served = [name for name in wanted if name in _BY_NAME]
    for name in served:
        if _BY_NAME[name].takes(parents):
            return name
    if served:
        text = (
            f"{', '.join(served)} does not take {parents} windows: fan-in merges those that continuation_ids and "
            "agent_sessions name, every other strategy continues one"
        )
        raise InvalidRequestError.of(FieldViolation("strategies", text))
    names = ", ".join(_BY_NAME)
    raise PreconditionError(
        ErrorReason.UNSUPPORTED_STRATEGY,
        f"none of the wanted strategies ({', '.join(wanted)}) is served here; served: {names}",
        wanted=", ".join(wanted),
        served=names,
    )
