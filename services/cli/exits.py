"""Exit codes that scripts can rely on."""

from enum import IntEnum, unique

from services.common.errors import (
    ChainBrokenError,
    CrpError,
    DeadlineError,
    InvalidRequestError,
    LimitExceededError,
    NotFoundError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
)


@unique
class Exit(IntEnum):
    """What the command's exit status says."""

    OK = 0
    FAILURE = 1
    """Anything that has no code of its own."""
    USAGE = 2
    """The command line or the input is wrong; nothing was done."""
    VERDICT = 3
    """The work was done and its verdict is negative: a broken chain, a halted answer, a failing check."""
    NOT_FOUND = 4
    DENIED = 5
    UNAVAILABLE = 6
    """A limit, a deadline or a backend that is down: the same command may succeed later."""
    RISK_MEDIUM = 10
    """``check``: the answer's risk level is MEDIUM."""
    RISK_HIGH = 11
    RISK_CRITICAL = 12


_BY_ERROR: tuple[tuple[type[CrpError], Exit], ...] = (
    (InvalidRequestError, Exit.USAGE),
    (UnauthenticatedError, Exit.DENIED),
    (PermissionDeniedError, Exit.DENIED),
    (NotFoundError, Exit.NOT_FOUND),
    (ChainBrokenError, Exit.VERDICT),
    (LimitExceededError, Exit.UNAVAILABLE),
    (DeadlineError, Exit.UNAVAILABLE),
    (UnavailableError, Exit.UNAVAILABLE),
)


def exit_of(error: CrpError) -> Exit:
    """Return the exit code for an error."""
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), Exit.FAILURE)
