"""Which of the wanted strategies a dispatch takes (CRP-SPEC-008; SPEC-004 §14.3, §14.4)."""

from typing import Final

from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, PreconditionError
from services.common.taxonomy import DispatchStrategy

SERVED_STRATEGIES: Final = (DispatchStrategy.PUSH, DispatchStrategy.FAN_OUT, DispatchStrategy.FAN_IN)


def served_strategy(wanted: tuple[DispatchStrategy, ...], parents: int) -> DispatchStrategy:
    """Return the first wanted strategy that is served and fits the number of parents.

    Args:
        wanted: most wanted first; empty = no wish.
        parents: number of continuation ids that the request names; several are a fan-in (SPEC-004 §14.4).

    Raises:
        PreconditionError: UNSUPPORTED_STRATEGY with those that are served.
        InvalidRequestError: INVALID_FIELD: none of the served ones takes so many parents.
    """
    if not wanted:
        return DispatchStrategy.FAN_IN if parents > 1 else DispatchStrategy.PUSH
    served = [strategy for strategy in wanted if strategy in SERVED_STRATEGIES]
    for strategy in served:
        if parents >= 1 if strategy is DispatchStrategy.FAN_IN else parents <= 1:
            return strategy
    if served:
        text = (
            f"{', '.join(served)} does not take {parents} continuation ids: fan-in merges the windows that they name, "
            "push and fan-out continue one"
        )
        raise InvalidRequestError.of(FieldViolation("strategies", text))
    names = ", ".join(SERVED_STRATEGIES)
    raise PreconditionError(
        ErrorReason.UNSUPPORTED_STRATEGY,
        f"none of the wanted strategies ({', '.join(wanted)}) is served here; served: {names}",
        wanted=", ".join(wanted),
        served=names,
    )
