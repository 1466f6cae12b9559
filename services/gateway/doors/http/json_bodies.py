"""Bodies of requests: JSON text to a checked model to a protobuf message (ERCP 1.0 §3, §4; Director-AI page)."""

import json
import math
from itertools import islice
from typing import Any, Final, TypeVar

from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from pydantic import BaseModel, ValidationError

from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError
from services.common.strict_json import NO_NUMBER, RepeatedNameError, read_json
from services.gateway.doors.http.form_faults import form_faults

MAX_DEPTH: Final = 24
"""Deepest nesting of a body. Protobuf reads at most 100 messages within one another; a free-form value takes up to
three for each level."""
_EXACT: Final = 2**53
"""Beyond this a double, which protobuf's free-form numbers are, does not hold every whole number."""
_MOST_VIOLATIONS: Final = 32
_MAX_TOLD: Final = 200
"""Characters of a name or place that a refusal repeats."""
_EXTENSIONS: Final = "extensions"

_M = TypeVar("_M", bound=Message)
_F = TypeVar("_F", bound=BaseModel)


def read_form(body: bytes, form: type[_F]) -> _F:
    """Return the body as a model.

    Raises:
        InvalidRequestError: INVALID_FIELD: it is no JSON object, or a field has the wrong form; every field is named.
    """
    try:
        text = body.decode("utf-8-sig")  # RFC 8259 §8.1: UTF-8 alone; json would guess at others
        value = read_json(text)
    except RepeatedNameError as twice:
        raise _invalid([(twice.path, "stands twice in one object (RFC 7493)")]) from None
    except RecursionError:
        raise _invalid([("body", f"must not be nested deeper than {MAX_DEPTH} levels")]) from None
    except ValueError as error:  # UnicodeDecodeError is one
        raise _invalid([("body", f"must be one JSON object in UTF-8; {_unread(error)}")]) from None
    if not isinstance(value, dict):
        raise _invalid([("body", "must be a JSON object")])
    problems = list(islice(_unfit(value, "", 0), _MOST_VIOLATIONS))
    if problems:
        raise _invalid(problems)
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise _invalid(form_faults(form, value, error)[:_MOST_VIOLATIONS]) from None


def _unread(error: ValueError) -> str:
    """Say why a text is no JSON, in no words of the language that it was read with."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is no UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    if str(error).endswith(NO_NUMBER):
        return str(error)
    return "a number has more digits than can be read; write it as a string"


def message_of(form: BaseModel, message: type[_M]) -> _M:
    """Return the message that a checked model stands for; what was left out stays unset."""
    filled = message()
    _fill(filled, form)
    return filled


def _fill(message: Message, form: BaseModel) -> None:
    """Set what the form has; what this version does not know goes to ``extensions`` (ERCP 1.0 §10, ADR 0079)."""
    if form.model_extra:
        ParseDict(form.model_extra, getattr(message, _EXTENSIONS))
    for field in message.DESCRIPTOR.fields:
        if field.name not in form.model_fields_set or field.name not in type(form).model_fields:
            continue
        value = getattr(form, field.name)
        if value is None:
            continue
        if field.is_repeated:
            _extend(getattr(message, field.name), field, value)
        elif field.message_type is None:
            setattr(message, field.name, _scalar(field, value))
        else:
            part = getattr(message, field.name)
            part.SetInParent()
            _fill_part(part, value)


def _extend(into: Any, field: Any, values: list[Any]) -> None:
    for value in values:
        if field.message_type is None:
            into.append(_scalar(field, value))
        else:
            _fill_part(into.add(), value)


def _fill_part(part: Message, value: Any) -> None:
    if isinstance(part, Struct):
        ParseDict(value, part)
    else:
        _fill(part, value)


def _scalar(field: Any, value: Any) -> Any:
    return value if field.enum_type is None else _number(field.enum_type, value)


def _number(enum: Any, word: str) -> int:
    """Return the number of a word of the document: ``relax`` is MUTATION_STRATEGY_RELAX."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return int(enum.values_by_name[prefix + word.upper()].number)


def _unfit(value: Any, path: str, depth: int) -> Any:
    """Yield what no protobuf message can hold: text that is no Unicode, numbers that a double changes, deep nesting."""
    if depth > MAX_DEPTH:
        yield path, f"must not be nested deeper than {MAX_DEPTH} levels"
    elif isinstance(value, dict):
        for name, part in value.items():
            if _is_text(name):
                yield from _unfit(part, f"{path}.{name}" if path else name, depth + 1)
            else:
                yield path or "body", "must have names that are Unicode text"
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _unfit(part, f"{path}[{number}]", depth + 1)
    elif fault := _scalar_fault(value):
        yield path, fault


def _scalar_fault(value: Any) -> str:
    """Return what is wrong with a text or a number, or nothing."""
    if isinstance(value, str):
        return "" if _is_text(value) else "must be Unicode text; it holds half of a surrogate pair"
    if isinstance(value, int) and abs(value) > _EXACT:
        return "must be between -2^53 and 2^53, beyond which digits are lost; write it as a string"
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a number that a double can hold"
    return ""


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _told(path: str) -> str:
    """Return a place as it is told: names are the caller's and of any length."""
    return path if len(path) <= _MAX_TOLD else f"{path[:_MAX_TOLD]}…"


def _invalid(problems: list[tuple[str, str]]) -> InvalidRequestError:
    problems = [(_told(path), text) for path, text in problems]
    first = f"{problems[0][0]} {problems[0][1]}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    violations = tuple(FieldViolation(path, text) for path, text in problems)
    return InvalidRequestError(ErrorReason.INVALID_FIELD, first + more, violations=violations)
