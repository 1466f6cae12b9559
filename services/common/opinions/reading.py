"""Reading an endpoint's answer: one JSON object of a known form, or a reason why it is refused whole (ADR 0119)."""

from collections.abc import Sequence
from typing import Any, Final

from services.common.strict_json import read_json

MOST_CHARS: Final = 1_000_000
"""A longer answer is refused unread: thousands of votes take less."""


class RefusedAnswerError(Exception):
    """The answer is none; ``reason`` is a stable word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_object(text: str, names: Sequence[str]) -> tuple[Any, ...]:
    """Return the members of the one object that the answer is, in the order of ``names``.

    Raises:
        RefusedAnswerError: ``too_long``, ``not_json`` (also: text around the object), ``too_deep``, ``other_shape``.
    """
    if len(text) > MOST_CHARS:
        raise RefusedAnswerError("too_long")
    try:
        value = read_json(text)
    except RecursionError:
        raise RefusedAnswerError("too_deep") from None
    except ValueError:
        raise RefusedAnswerError("not_json") from None
    if not isinstance(value, dict) or value.keys() != set(names):
        raise RefusedAnswerError("other_shape")
    return tuple(value[name] for name in names)
