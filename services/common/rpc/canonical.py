"""The one JSON form of a protobuf message that hashes, stores and exports use."""

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

_WELL_KNOWN: Final = "google.protobuf."
_INT64: Final = frozenset({FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64})
_Printed = Callable[[Any], Any]


def message_json(message: Message) -> dict[str, Any]:
    """Return the protobuf JSON mapping with proto field names, every field without presence printed.

    64-bit integers are strings, enums are names, timestamps RFC 3339: what any language's protobuf library gives. What
    ``MessageToDict`` asks of every field of every message is asked once for each type here, since a report may hold
    thousands of messages; types with a mapping of their own are left to it.
    """
    plan = _plan_of(message.DESCRIPTOR)
    if plan is None:
        return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return _printed(message, plan)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the fields of a type are printed: by number, and what stands for those without presence that are unset."""

    fields: Mapping[int, tuple[str, bool, _Printed | None]]
    unset: tuple[tuple[str, Callable[[], Any]], ...]


def _printed(message: Message, plan: _Plan) -> dict[str, Any]:
    found: dict[str, Any] = {}
    fields = plan.fields
    for field, value in message.ListFields():
        name, is_repeated, printed = fields[field.number]
        if not is_repeated:
            found[name] = value if printed is None else printed(value)
        else:
            found[name] = list(value) if printed is None else [printed(each) for each in value]
    for name, default in plan.unset:
        if name not in found:
            found[name] = default()
    return found


@cache
def _plan_of(kind: Descriptor) -> _Plan | None:
    """Return how a type is printed; ``None`` for one that is left to ``MessageToDict``."""
    if kind.full_name.startswith(_WELL_KNOWN) or kind.is_extendable or any(map(_is_left, kind.fields)):
        return None
    fields = {
        field.number: (field.name, field.is_repeated and not _is_map(field), _printer_of(field))
        for field in kind.fields
    }
    unset = tuple((field.name, _default_of(field)) for field in kind.fields if not field.has_presence)
    return _Plan(fields, unset)


def _is_left(field: FieldDescriptor) -> bool:
    """Say whether a field's mapping is the library's: shortest digits of four bytes, maps but those of text to text."""
    if _is_map(field) and field.message_type is not None:
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        return key.cpp_type != FieldDescriptor.CPPTYPE_STRING or _printer_of(value) is not None
    return bool(field.cpp_type == FieldDescriptor.CPPTYPE_FLOAT)


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _default_of(field: FieldDescriptor) -> Callable[[], Any]:
    if field.is_repeated:
        return dict if _is_map(field) else list
    printed = _printer_of(field)
    default = field.default_value if printed is None else printed(field.default_value)
    return lambda: default


def _printer_of(field: FieldDescriptor) -> _Printed | None:
    """Return what prints a value of the field; ``None`` where the value stands as it is."""
    if _is_map(field):
        return dict
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        return message_json
    if field.enum_type is not None:
        names = {number: value.name for number, value in field.enum_type.values_by_number.items()}
        return lambda number: names.get(number, number)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda value: base64.b64encode(value).decode()
    if field.cpp_type in _INT64:
        return str
    return _double if field.cpp_type == FieldDescriptor.CPPTYPE_DOUBLE else None


def _double(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
