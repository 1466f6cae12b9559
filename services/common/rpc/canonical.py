"""The one JSON form of a protobuf message that hashes, stores and exports use."""

from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message


def message_json(message: Message) -> dict[str, Any]:
    """Return the protobuf JSON mapping with proto field names, every field without presence printed.

    64-bit integers are strings, enums are names, timestamps RFC 3339: what any language's protobuf library gives.
    """
    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
