"""The JSON form of messages is the protobuf library's own, for every message of the contract."""

import importlib
import pkgutil
import random

import crp
from google.protobuf.json_format import MessageToDict
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct

from services.common.rpc.canonical import message_json
from tests.each import each

DEPTH = 4
FILES = [
    importlib.import_module(found.name).DESCRIPTOR
    for found in pkgutil.walk_packages(crp.__path__, "crp.")
    if found.name.endswith("_pb2")
]
KINDS = {kind.full_name: kind for file in FILES for kind in file.message_types_by_name.values()}
SCALARS = {
    "CPPTYPE_INT32": (0, 1, -(2**31)),
    "CPPTYPE_INT64": (0, 1, -(2**63), 2**53 + 1),
    "CPPTYPE_UINT32": (0, 1, 2**32 - 1),
    "CPPTYPE_UINT64": (0, 1, 2**64 - 1),
    "CPPTYPE_DOUBLE": (0.0, -0.0, 0.1, 1e300, 3.0, float("inf"), float("-inf")),
    "CPPTYPE_FLOAT": (0.0, 0.5, 0.1),
    "CPPTYPE_BOOL": (False, True),
}


def filled(kind, rng, depth=DEPTH):
    """Return a message with about two thirds of its fields set, some to what unset ones read as."""
    message = GetMessageClass(kind)()
    if kind.full_name.startswith("google.protobuf.") and kind.name not in {"Timestamp", "Duration"}:
        if isinstance(message, Struct):
            message.update({"a": [1.5, None, {"b": "c"}], "d": True})
        return message
    for field in kind.fields:
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if rng.random() < 1 / 3 or (field.message_type is not None and not is_map and not depth):
            continue
        if is_map:
            value = field.message_type.fields_by_name["value"]
            getattr(message, field.name).update({key: scalar(value, rng) for key in ("", "a", "é")})
        elif field.message_type is not None:
            parts = [filled(field.message_type, rng, depth - 1) for _ in range(rng.randint(0, 2))]
            if field.is_repeated:
                getattr(message, field.name).extend(parts)
            elif parts:
                getattr(message, field.name).CopyFrom(parts[0])
        elif field.is_repeated:
            getattr(message, field.name).extend(scalar(field, rng) for _ in range(rng.randint(0, 3)))
        else:
            setattr(message, field.name, scalar(field, rng))
    return message


def scalar(field, rng):
    if field.enum_type is not None:
        return rng.choice([*field.enum_type.values_by_number, 9_999])
    if field.cpp_type == field.CPPTYPE_STRING:
        return rng.choice((b"", b"\x00\xff") if field.type == field.TYPE_BYTES else ("", "a", '"\u2028é'))
    if field.containing_type.full_name in {"google.protobuf.Timestamp", "google.protobuf.Duration"}:
        return rng.choice((0, 1, 999_999_999))
    return rng.choice(next(values for name, values in SCALARS.items() if getattr(field, name) == field.cpp_type))


@each("name", sorted(KINDS))
def test_a_message_is_written_as_the_library_writes_it(name):
    rng = random.Random(name)
    for _ in range(5):
        message = filled(KINDS[name], rng)
        theirs = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
        assert repr(message_json(message)) == repr(theirs)  # in the library's order, and -0.0 is not 0.0
