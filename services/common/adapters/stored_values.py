"""Reading single values back from any store, and naming the record that one of them spoils (ADR 0101)."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, TypeAlias, TypeVar

UNREADABLE: Final = (ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""What reading a value raises that is none of its kind."""
MAX_NUMBER: Final = 2**53 - 1
"""The highest number that JSON tells exactly (RFC 8785)."""
_MAX_NAME_CHARS: Final = 200

_E = TypeVar("_E", bound=Enum)
Parse: TypeAlias = Callable[[Any], Any]


def shown(value: object) -> str:
    """Return an id as a fault names it, whatever it has become."""
    if isinstance(value, str | int):
        return str(value)[:_MAX_NAME_CHARS]
    return value.decode(errors="backslashreplace")[:_MAX_NAME_CHARS] if isinstance(value, bytes) else "?"


def word_of(kind: type[_E], never: _E | None = None) -> Callable[[str], _E]:
    """Return what reads an enum's value; a word that is none of them is a KeyError, and so is ``never``'s."""
    return {member.value: member for member in kind if member is not never}.__getitem__


def number_of(value: int) -> int:
    """Read a number that counts; ValueError for one that is negative, or that JSON cannot tell exactly (RFC 8785)."""
    if 0 <= value <= MAX_NUMBER:
        return value
    raise ValueError


def strings_in(values: Sequence[Any]) -> tuple[str, ...]:
    """Read a list of strings; ValueError when something else is among them."""
    if any(type(value) is not str for value in values):
        raise ValueError
    return tuple(values)
