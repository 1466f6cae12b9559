"""Collecting every field violation of a request before refusing it (style: all at once, never one by one)."""

import re
from collections.abc import Sequence
from typing import Any, Final

from services.common.errors import FieldViolation, InvalidRequestError

_UUID4: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class Violations:
    """The violations found so far in one request."""

    def __init__(self) -> None:
        self._found: list[FieldViolation] = []

    @property
    def found(self) -> tuple[FieldViolation, ...]:
        """The violations, in the order in which they were found."""
        return tuple(self._found)

    def add(self, field: str, description: str) -> None:
        """Note that ``field`` (its proto path) is wrong; ``description`` says what is allowed, without the value."""
        self._found.append(FieldViolation(field, description))

    def require(self, condition: object, field: str, description: str) -> None:
        """Note a violation unless ``condition`` holds."""
        if not condition:
            self.add(field, description)

    def require_request_id(self, request_id: str, field: str = "request_id") -> None:
        """Note a violation unless ``request_id`` is a UUID (version 4) in its canonical lower-case form."""
        self.require(_UUID4.fullmatch(request_id), field, "must be a UUID (version 4) in lower case")

    def raise_if_any(self) -> None:
        """Raise ``InvalidRequestError`` (INVALID_FIELD) with all violations, if there are any."""
        if self._found:
            raise InvalidRequestError.of(*self._found)


def require_member(found: Violations, field: str, value: int, enum: Any) -> None:
    """Note a violation unless ``value`` is one of the enum's; the unset value is.

    Args:
        found: where it is noted.
        field: proto path.
        value: as sent.
        enum: generated wrapper of the enum.
    """
    if value not in enum.values():
        found.add(field, f"must be one of {_names(enum)}, or unset")


def require_members(found: Violations, field: str, values: Sequence[int], enum: Any) -> None:
    """Note a violation unless every value is one of the enum's and set, none twice. Arguments as ``require_member``."""
    known = set(enum.values()) - {0}
    if not set(values) <= known:
        found.add(field, f"may hold {_names(enum)}")
    if len(set(values)) < len(values):
        found.add(field, "must not hold a value twice")


def _names(enum: Any) -> str:
    return ", ".join(enum.keys()[1:])
