"""Collecting every field violation of a request before refusing it (style: all at once, never one by one)."""

import re
from typing import Final

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
