"""A message as the JSON of the document: lower-case words for enums, ISO 8601 times, every field printed (ERCP 1.0 §3).

It is what signatures are over and what the HTTP surface writes. A field that is absent is ``null``, an empty list
``[]``; google.protobuf.Struct is the JSON object that it holds. What stands in ``extensions`` stands beside the other
fields, and never in the place of one (§10, ADR 0079).
"""

from datetime import UTC
from typing import Any, Final

from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.encoding import iso_micros

_STRUCT: Final = "google.protobuf.Struct"
_EXTENSIONS: Final = "extensions"


def json_of(message: Message) -> dict[str, Any]:
    """Return a message as a JSON object."""
    fields = message.DESCRIPTOR.fields
    known = {field.name: _field(message, field) for field in fields if not _is_extensions(field)}
    if len(known) == len(fields):
        return known
    return {**known, **{name: part for name, part in _unknown(message).items() if name not in known}}


def _unknown(message: Any) -> dict[str, Any]:
    return struct_json(message.extensions)


def _field(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated:
        return [_value(field, each) for each in value]
    if field.has_presence and not message.HasField(field.name):
        return {} if _is(field, _STRUCT) else None
    return _value(field, value)


def _value(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        return word_of(field.enum_type, value)
    if isinstance(value, Timestamp):
        return iso_micros(value.ToDatetime(tzinfo=UTC))
    if isinstance(value, Struct):
        return struct_json(value)
    return json_of(value) if isinstance(value, Message) else value


def word_of(enum: Any, number: int) -> str:
    """Return an enum value's word: ``RUN_STATUS_CONVERGED`` is ``converged``; empty for the unset one."""
    if number == 0:
        return ""
    found = enum.values_by_number.get(number)
    if found is None:  # of a newer minor version (§10)
        return str(number)
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return str(found.name.removeprefix(prefix).lower())


def struct_json(struct: Struct) -> dict[str, Any]:
    """Return the JSON object of a Struct; whole numbers are integers, as callers wrote them."""
    return {name: _plain(value) for name, value in struct.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return struct_json(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, str | bool | float) or value is None:
        return value
    return [_plain(each) for each in value]


def _is_extensions(field: Any) -> bool:
    return field.name == _EXTENSIONS and _is(field, _STRUCT)


def _is(field: Any, name: str) -> bool:
    return field.message_type is not None and field.message_type.full_name == name
