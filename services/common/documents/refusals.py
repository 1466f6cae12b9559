"""Refusing what cannot be read, in one form."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from services.common.document_kinds import ACCEPTED
from services.common.errors import CrpError, ErrorReason, FieldViolation, InvalidRequestError, LimitExceededError

_DEPTH: Final = "Excessive depth"
"""How libxml2 says that elements nest deeper than it goes."""


def unsupported_media(message: str, *, field: str = "content", detail: str = "") -> InvalidRequestError:
    """Return the error for a document that cannot be read; ``detail`` is the dynamic part of the message."""
    return InvalidRequestError(
        ErrorReason.UNSUPPORTED_MEDIA,
        message,
        violations=(FieldViolation(field, f"must be one of: {ACCEPTED}"),),
        detail=detail,
    )


@contextmanager
def refusing_damage(kind: str) -> Iterator[None]:
    """Turn whatever a parser runs into inside of a damaged file into UNSUPPORTED_MEDIA.

    Args:
        kind: what is read, as in "the document is …".
    """
    try:
        yield
    except (CrpError, MemoryError):
        raise
    except RecursionError as error:
        raise _too_deep(kind) from error
    except Exception as error:
        if _DEPTH in str(error):
            raise _too_deep(kind) from error
        # Parsers meet damaged files with whatever comes first: KeyError, AttributeError, errors of their own.
        raise unsupported_media(
            f"the document is {kind} that is damaged or cut off and cannot be read; save it again from the program "
            "that made it",
            detail=type(error).__name__,
        ) from error


def _too_deep(kind: str) -> LimitExceededError:
    return LimitExceededError(
        ErrorReason.MESSAGE_TOO_LARGE,
        f"the document is {kind} whose elements nest deeper than in any that people write; save it in a simpler form",
        violations=(FieldViolation("content", "must nest its elements less deep"),),
        unit="nested elements",
    )
