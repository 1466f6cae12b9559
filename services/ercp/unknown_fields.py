"""Fields of a request that this version does not know (ERCP 1.0 §10; ADR 0079): found and bounded.

They stand in ``extensions`` of the object that they were given in. Nothing here obeys them.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from google.protobuf.message import Message

from services.common.encoding import canonical_json
from services.common.message_json import struct_json
from services.common.rpc.validation import Violations
from services.ercp.domain.unknown import UnknownFields

MAX_NAMES: Final = 64
"""Names in one object."""
MAX_NAME_CHARS: Final = 200
MAX_LEVELS: Final = 16
"""Deepest nesting; ``{"x": 1}`` has one level."""
MAX_BYTES: Final = 16 * 1024
"""Of one object's, as canonical JSON."""
MAX_TOTAL_BYTES: Final = 256 * 1024
"""Of a whole request's."""
MUTATION_OPTIONS: Final = frozenset({"core", "max_parts"})
REQUEST: Final = "request"
_EXTENSIONS: Final = "extensions"
_MUTATION_CONFIG: Final = "mutation_config"
_MAX_MEMBERS: Final = 1_000
"""Members of a list that are looked at; a longer list is refused for its length."""


def unknown_fields(request: Message) -> tuple[UnknownFields, ...]:
    """Return the unknown fields of a checked request, object by object, in the order of its fields."""
    return tuple(UnknownFields(place, struct_json(struct)) for place, _, struct in _walk(request, ""))


def check(found: Violations, request: Message) -> None:
    """Note what is wrong with the unknown fields of a request."""
    total = 0
    for place, owner, struct in _walk(request, ""):
        try:
            fields = struct_json(struct)
            size = len(canonical_json(fields))
        except (ValueError, RecursionError):
            found.add(place, "holds an unknown field that RFC 8785 cannot print as JSON")
            continue
        total += size
        found.require(len(fields) <= MAX_NAMES, place, f"must have at most {MAX_NAMES} unknown fields")
        longest = max(map(len, fields))
        found.require(longest <= MAX_NAME_CHARS, place, f"unknown fields must have names of at most {MAX_NAME_CHARS}")
        found.require(_levels(fields) <= MAX_LEVELS, place, f"unknown fields must be at most {MAX_LEVELS} levels deep")
        found.require(size <= MAX_BYTES, place, f"unknown fields must be at most {MAX_BYTES} bytes as JSON")
        for name in _shadowing(owner, fields):
            found.add(f"{place}.{_EXTENSIONS}.{name}", "is a field of its own: set it there")
    found.require(total <= MAX_TOTAL_BYTES, REQUEST, f"unknown fields must be at most {MAX_TOTAL_BYTES} bytes together")


def _walk(message: Message, place: str) -> Iterator[tuple[str, Message | None, Any]]:
    """Yield place, owner and unknown fields of every object that has any."""
    for field in message.DESCRIPTOR.fields:
        if field.message_type is None:
            continue
        if field.name == _MUTATION_CONFIG:
            yield from _options(getattr(message, field.name))
        elif field.name == _EXTENSIONS:
            if getattr(message, _EXTENSIONS).fields:
                yield place or REQUEST, message, getattr(message, _EXTENSIONS)
        elif field.is_repeated:
            for number, part in enumerate(islice(getattr(message, field.name), _MAX_MEMBERS)):
                yield from _walk(part, f"{_inside(place, field.name)}[{number}]")
        elif message.HasField(field.name) and _EXTENSIONS in field.message_type.fields_by_name:
            yield from _walk(getattr(message, field.name), _inside(place, field.name))


def _options(config: Any) -> Iterator[tuple[str, None, Any]]:
    """Yield what a mutation_config holds beyond the options of the strategies."""
    unknown = type(config)()
    unknown.CopyFrom(config)
    for name in MUTATION_OPTIONS & set(unknown.fields):
        del unknown.fields[name]
    if unknown.fields:
        yield _MUTATION_CONFIG, None, unknown


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _levels(value: Any) -> int:
    if isinstance(value, Mapping):
        return 1 + max(map(_levels, value.values()), default=0)
    return 1 + max(map(_levels, value), default=0) if isinstance(value, list) else 0


def _shadowing(owner: Message | None, fields: Mapping[str, Any]) -> list[str]:
    """Return the names that are fields of the object itself; ``request_id`` is no field of the document's requests."""
    if owner is None:
        return []
    known = set(owner.DESCRIPTOR.fields_by_name) - {_EXTENSIONS, "request_id"}
    return sorted(known & set(fields))
