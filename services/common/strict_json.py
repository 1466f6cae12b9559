"""Reading callers' JSON as I-JSON (RFC 7493): no name twice in an object, no NaN, no infinity.

Of a name that stands twice parsers take the first value, the last or both, so that a record made of such a text says
one thing to who signs it and another to who reads it. RFC 8785, which records are written in, is for I-JSON alone.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn

_MOST_PATH_CHARS: Final = 180
NO_NUMBER: Final = "is no number of JSON"
"""What is told of ``NaN`` and of infinities."""


class RepeatedNameError(ValueError):
    """An object of the text names a member twice; ``path`` leads to it, as ``a.b[2].c``."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} stands twice")
        self.path = path


class _Twice(dict[str, Any]):
    """An object with a repeated name, until the text was read and its place can be told."""

    __slots__ = ("name",)
    name: str


def read_json(text: str, root: str = "") -> Any:
    """Return the value of a JSON text.

    Args:
        text: the text.
        root: what paths begin with.

    Raises:
        RepeatedNameError: an object names a member twice; the first one in the order of the text.
        ValueError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    repeated: list[_Twice] = []

    def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) == len(pairs):
            return fields
        marked = _Twice(fields)
        seen: set[str] = set()
        marked.name = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        repeated.append(marked)
        return marked

    value = json.loads(text, parse_constant=_no_number, object_pairs_hook=once)
    if repeated:
        raise RepeatedNameError(_path(value, root))
    return value


def _path(value: Any, root: str) -> str:
    """Return the path of the first repeated name; a repeated member that was dropped may hide the only one."""
    waiting: list[tuple[str, Any]] = [(root, value)]
    while waiting:
        path, found = waiting.pop()
        if isinstance(found, _Twice):
            return _joined(path, found.name)
        waiting.extend(reversed(list(_members(path, found))))
    return root or "the text"


def _members(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((_joined(path, name), member) for name, member in value.items())
    elif isinstance(value, list):
        yield from ((f"{path}[{place}]", member) for place, member in enumerate(value))


def _joined(path: str, name: str) -> str:
    shown = name.encode("utf-8", "replace").decode()
    return (f"{path}.{shown}" if path else shown)[-_MOST_PATH_CHARS:]


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} {NO_NUMBER}")
