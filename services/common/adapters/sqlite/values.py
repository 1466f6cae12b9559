"""How Python values are kept in columns: moments as integer microseconds, tuples and mappings as JSON text."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_VARIABLES: Final = 500
"""Bound values per statement; far below SQLite's limit, and few distinct statements to prepare."""

_T = TypeVar("_T")


def micros(moment: datetime) -> int:
    """Return microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def optional_micros(moment: datetime | None) -> int | None:
    """Return microseconds since 1970 or ``None``."""
    return None if moment is None else micros(moment)


def moment(value: int) -> datetime:
    """Read what ``micros`` wrote."""
    return _EPOCH + value * _MICROSECOND


def optional_moment(value: int | None) -> datetime | None:
    """Read what ``optional_micros`` wrote."""
    return None if value is None else moment(value)


def json_list(values: Iterable[object]) -> str:
    """Return compact JSON text of a list."""
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def json_object(values: Mapping[str, str]) -> str:
    """Return compact JSON text of a mapping."""
    return json.dumps(dict(values), ensure_ascii=False, separators=(",", ":"))


def strings(text: str) -> tuple[str, ...]:
    """Read a list of strings."""
    return tuple(json.loads(text)) if text != "[]" else ()


def marks(values: Sequence[object]) -> str:
    """Return ``?,?,?`` for as many values."""
    return ",".join("?" * len(values))


def chunks(values: Sequence[_T], size: int = _VARIABLES) -> Iterator[Sequence[_T]]:
    """Yield slices that fit into one statement."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
