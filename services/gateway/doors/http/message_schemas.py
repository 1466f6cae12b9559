"""Models made of protobuf messages: they check requests and make the OpenAPI document; the contract stands once.

A request may leave everything out, for what is required its service knows; it may hold nothing that the contract does
not name, for a mistyped name would be a setting that silently does nothing. An answer is what ``json_of`` writes: every
field, ``null`` for what is absent, lower-case words for enums. Bytes of a request are base64 (RFC 4648 §4),
and of a choice of fields it may hold one.
"""

import base64
from enum import StrEnum, unique
from types import GenericAlias
from typing import Annotated, Any, Final, Literal

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    create_model,
    model_validator,
)

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
            checks: dict[str, Any] = _choices(described) if side is Side.REQUEST else {}
            self._made[key] = create_model(name, __config__=config, __validators__=checks, **fields)
        return self._made[key]

    def _field(self, field: FieldDescriptor, side: Side) -> tuple[Any, Any]:
        kind = self._type(field, side)
        if side is Side.REQUEST and field.is_repeated and field.message_type is not None:
            kind = _or_text(kind, _TEXT_ALONE.get(field.message_type.full_name))
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
        if (plain := _PLAIN.get((side, field.type))) is not None:
            return plain
        if field.enum_type is not None:
            return Literal[_words(field.enum_type, side)]
        if field.message_type is not None:
            return self._model(field.message_type, side)
        raise TypeError(f"{field.full_name} has a type without a JSON form")


_TEXT_ALONE: Final = {"crp.dpe.v1.GroundingText": "content"}
"""Messages of which a list may have the one field as a mere text in their place, as `/v1/check` takes facts."""


def _or_text(form: Any, name: str | None) -> Any:
    if name is None:
        return form
    return Annotated[str, AfterValidator(lambda text: form(**{name: text}))] | form


def _decoded(value: Any) -> bytes:
    """Return bytes from either alphabet of base64 (RFC 4648 §4, §5), padded or not, as JSON of protobuf has it."""
    try:
        standard = value.translate(_STANDARD).rstrip("=")
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (AttributeError, TypeError, ValueError):
        raise ValueError("must be base64 (RFC 4648), without line breaks") from None


_STANDARD: Final = str.maketrans("-_", "+/")
_BYTES: Final = Annotated[
    bytes, PlainValidator(_decoded), WithJsonSchema({"type": "string", "contentEncoding": "base64"})
]

_PLAIN: Final[dict[tuple[Side, int], Any]] = {
    **{(side, FieldDescriptor.TYPE_BOOL): Annotated[bool, Field(strict=True)] for side in Side},
    **{(side, FieldDescriptor.TYPE_STRING): str for side in Side},
    (Side.REQUEST, FieldDescriptor.TYPE_BYTES): _BYTES,
}


def _choices(described: Any) -> dict[str, Any]:
    """Return what refuses two fields of one choice: of two, a message keeps the last, whatever was meant."""
    groups = [names for one in described.oneofs if len(names := [field.name for field in one.fields]) > 1]
    if not groups:
        return {}

    def one_of_each(form: BaseModel) -> BaseModel:
        for names in groups:
            if sum(getattr(form, name) is not None for name in names) > 1:
                raise ValueError(f"must have one of {', '.join(names)}, not more")
        return form

    return {"one_of_each": model_validator(mode="after")(one_of_each)}


def _words(enum: EnumDescriptor, side: Side) -> tuple[str, ...]:
    """Return an enum's words as ``json_of`` writes them; an answer's may be empty: unset."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    words = tuple(value.name.removeprefix(prefix).lower() for value in enum.values if value.number)
    return words if side is Side.REQUEST else ("", *words)
