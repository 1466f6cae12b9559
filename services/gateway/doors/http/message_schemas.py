"""Models made of protobuf messages: they check requests and make the OpenAPI document; the contract stands once.

A request may leave everything out, for what is required its service knows; it may hold nothing that the contract does
not name, for a mistyped name would be a setting that silently does nothing. An answer is what ``json_of`` writes: every
field, ``null`` for what is absent, lower-case words for enums.
"""

from enum import StrEnum, unique
from types import GenericAlias
from typing import Annotated, Any, Final, Literal

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from pydantic import BaseModel, ConfigDict, Field, create_model

MAX_LIST: Final = 2_000
"""Members of a list in a request."""
_WHOLE: Final = {
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**53),
    FieldDescriptor.TYPE_INT64: (-(2**53), 2**53),
}
_NUMBERS: Final = frozenset({FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT})


@unique
class Side(StrEnum):
    """Whose messages are described."""

    REQUEST = "request"
    ANSWER = "answer"


class MessageModels:
    """Models by message, each made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[Side, str], type[BaseModel]] = {}

    def request(self, message: type[Message]) -> type[BaseModel]:
        """Return the model of a request.

        Raises:
            TypeError: it has a field of a type that has no JSON form here.
        """
        return self._model(message.DESCRIPTOR, Side.REQUEST)

    def answer(self, message: type[Message]) -> type[BaseModel]:
        """Return the model of an answer. Raises as ``request``."""
        return self._model(message.DESCRIPTOR, Side.ANSWER)

    def _model(self, described: Any, side: Side) -> type[BaseModel]:
        key = side, described.full_name
        if key not in self._made:
            fields: dict[str, Any] = {field.name: self._field(field, side) for field in described.fields}
            config = ConfigDict(extra="forbid" if side is Side.REQUEST else "allow", title=described.name)
            # A message may stand in a request and in an answer, which do not look the same.
            name = (
                described.name
                if side is Side.REQUEST or described.name.endswith("Response")
                else f"{described.name}Answer"
            )
            self._made[key] = create_model(name, __config__=config, **fields)
        return self._made[key]

    def _field(self, field: FieldDescriptor, side: Side) -> tuple[Any, Any]:
        kind = self._type(field, side)
        listed = GenericAlias(list, (kind,))
        if side is Side.ANSWER:
            optional = field.has_presence and not field.is_repeated
            return (listed if field.is_repeated else kind | None if optional else kind), ...
        if field.is_repeated:
            return Annotated[listed, Field(max_length=MAX_LIST)], []
        return kind | None, None

    def _type(self, field: FieldDescriptor, side: Side) -> Any:
        if field.type in _WHOLE:
            least, most = _WHOLE[field.type]
            return Annotated[int, Field(ge=least, le=most, strict=True)]
        if field.type in _NUMBERS:
            return Annotated[float, Field(allow_inf_nan=False, strict=True)]
        if field.type == FieldDescriptor.TYPE_BOOL:
            return Annotated[bool, Field(strict=True)]
        if field.type == FieldDescriptor.TYPE_STRING:
            return str
        if field.enum_type is not None:
            return Literal[_words(field.enum_type, side)]
        if field.message_type is not None:
            return self._model(field.message_type, side)
        raise TypeError(f"{field.full_name} has a type without a JSON form")


def _words(enum: EnumDescriptor, side: Side) -> tuple[str, ...]:
    """Return an enum's words as ``json_of`` writes them; an answer's may be empty: unset."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    words = tuple(value.name.removeprefix(prefix).lower() for value in enum.values if value.number)
    return words if side is Side.REQUEST else ("", *words)
