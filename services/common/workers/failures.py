"""Errors that were meant for the caller, on their way out of a child: as plain data, and made anew in the parent."""

from typing import Any, Final

from services.common import errors
from services.common.errors import CrpError, ErrorReason, FieldViolation

_KINDS: Final[dict[str, type[CrpError]]] = {
    kind.__name__: kind
    for kind in (errors.InvalidRequestError, errors.LimitExceededError, errors.UnavailableError, CrpError)
}


def as_data(error: CrpError) -> dict[str, Any]:
    """Return everything that the error tells."""
    return {
        "kind": type(error).__name__,
        "reason": error.reason.value,
        "message": error.message,
        "violations": [[one.field, one.description] for one in error.violations],
        "retry_after_s": error.retry_after_s,
        "metadata": error.metadata,
    }


def from_data(data: dict[str, Any]) -> CrpError:
    """Return the error that ``as_data`` was given; of a kind that is not passed on, a plain ``CrpError``."""
    return _KINDS.get(data["kind"], CrpError)(
        ErrorReason(data["reason"]),
        str(data["message"]),
        violations=tuple(FieldViolation(str(field), str(text)) for field, text in data["violations"]),
        retry_after_s=data["retry_after_s"],
        **{str(key): str(value) for key, value in data["metadata"].items()},
    )
