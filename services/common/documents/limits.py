"""Refusing what is too large, in one form."""

from services.common.errors import ErrorReason, FieldViolation, LimitExceededError


def require_at_most(unit: str, found: int, limit: int) -> None:
    """Raise MESSAGE_TOO_LARGE when ``found`` exceeds ``limit``.

    Args:
        unit: what is counted, for people: bytes, pages, characters, facts.
        found: how many there are, at least.
        limit: how many are taken.
    """
    if found > limit:
        raise LimitExceededError(
            ErrorReason.MESSAGE_TOO_LARGE,
            f"the document has {found} or more {unit}, at most {limit} are taken; split it",
            violations=(FieldViolation("content", f"must have at most {limit} {unit}"),),
            unit=unit,
            found=str(found),
            limit=str(limit),
        )
