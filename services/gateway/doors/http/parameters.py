"""Requests that stand in path and query: read into a message, and described for the OpenAPI document."""

from typing import Any, Final

from fastapi import Request
from google.protobuf.message import Message

from services.common.rpc.validation import Violations

_BOOLS: Final = {"true": True, "false": False}


def filled(kind: type[Message], request: Request) -> Message:
    """Return the message that path and query ask for.

    Raises:
        InvalidRequestError: INVALID_FIELD naming every parameter that it has no field for, or whose value is none.
    """
    message, found = kind(), Violations()
    fields: dict[str, Any] = {field.name: field for field in kind.DESCRIPTOR.fields}
    given = [*request.path_params.items(), *request.query_params.multi_items()]
    for name, text in given:
        field = fields.get(name)
        if field is None:
            found.add(name, f"is no parameter here; known are {', '.join(fields)}")
            continue
        if sum(one == name for one, _ in given) > 1:
            found.add(name, "must be given once")
            continue
        try:
            setattr(message, name, _value(field, text))
        except ValueError:
            found.add(name, f"must be {_allowed(field)}")
    found.raise_if_any()
    return message


def parameters(kind: type[Message], path: str) -> list[dict[str, Any]]:
    """Return the fields of a message as the parameters of an operation."""
    listed = []
    for field in kind.DESCRIPTOR.fields:
        in_path = f"{{{field.name}}}" in path
        schema: dict[str, Any] = {"type": "string"}
        if field.enum_type is not None:
            schema["enum"] = list(_words(field.enum_type).values())
        elif field.cpp_type == field.CPPTYPE_UINT32:
            schema = {"type": "integer", "minimum": 0, "maximum": 2**32 - 1}
        elif field.cpp_type == field.CPPTYPE_BOOL:
            schema = {"type": "boolean"}
        place = "path" if in_path else "query"
        listed.append({"name": field.name, "in": place, "required": in_path, "schema": schema})
    return listed


def _allowed(field: Any) -> str:
    """Say what a parameter may be."""
    if field.enum_type is not None:
        return f"one of {', '.join(_words(field.enum_type).values())}"
    if field.cpp_type == field.CPPTYPE_BOOL:
        return "true or false"
    if field.cpp_type == field.CPPTYPE_UINT32:
        return "a whole number from 0 to 4294967295"
    return "Unicode text"


def _value(field: Any, text: str) -> Any:
    if field.enum_type is not None:
        words = {word: number for number, word in _words(field.enum_type).items()}
        if text not in words:
            raise ValueError(text)
        return words[text]
    if field.cpp_type == field.CPPTYPE_BOOL:
        return _BOOLS[text] if text in _BOOLS else int("no bool")
    if field.cpp_type == field.CPPTYPE_UINT32:
        return int(text) if text.isascii() else int("no digits")
    text.encode()  # a half of a surrogate pair is no text
    return text


def _words(enum: Any) -> dict[int, str]:
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {value.number: value.name.removeprefix(prefix).lower() for value in enum.values if value.number}
