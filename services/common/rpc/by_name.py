"""Values from messages and messages from values, field by field of the same name.

For types whose fields are those of the contract: a field that both have passes through without a line of its own. What
differs in name or kind stays with the caller.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, TypeVar

from google.protobuf.message import Message

from services.common.rpc import enums

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ValueT = TypeVar("ValueT", bound="DataclassInstance")
MessageT = TypeVar("MessageT", bound=Message)

_WORDS: Final[Mapping[str, enums.EnumTable[Any]]] = {**enums.TAXONOMY, "SearchMode": enums.RETRIEVAL_MODES}
"""The words of each enum of the contract that a value may hold, by its name there."""


def read_by_name(message: Message, kind: type[ValueT], **given: Any) -> ValueT:
    """Return a value with what a valid message says; what it leaves open has the value's default.

    Args:
        message: a field that it does not have, or that is not set, is left open; so is a plain one that is empty or 0.
        kind: a dataclass; sequences are tuples, enums words of the taxonomy.
        given: further fields, or other values for some.

    Raises:
        KeyError: a list holds a number of an enum that has no word.
    """
    found: dict[str, Any] = {}
    for one in fields(kind):
        described = message.DESCRIPTOR.fields_by_name.get(one.name)
        if described is None or (described.has_presence and not message.HasField(one.name)):
            continue
        value, words = getattr(message, one.name), _words_of(described)
        if described.is_repeated:
            found[one.name] = tuple(value if words is None else (words[number] for number in value))
        elif words is not None:
            found |= {one.name: words[value]} if value in words else {}
        elif value or described.has_presence:
            found[one.name] = value
    return kind(**found | given)


def fill_by_name(message: MessageT, value: "DataclassInstance") -> MessageT:
    """Return the message with what a value says; ``None``, and the default of a field with presence, are not sent."""
    for one in fields(value):
        described, said = message.DESCRIPTOR.fields_by_name.get(one.name), getattr(value, one.name)
        if described is None or said is None or (described.has_presence and said == one.default):
            continue
        words = _words_of(described)
        if described.is_repeated:
            getattr(message, one.name).extend(said if words is None else (words.number(word) for word in said))
        else:
            setattr(message, one.name, said if words is None else words.number(said))
    return message


def _words_of(described: Any) -> enums.EnumTable[Any] | None:
    return None if described.enum_type is None else _WORDS[described.enum_type.name]
