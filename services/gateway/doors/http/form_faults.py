"""What is wrong with a body, in words of the body: places as callers wrote them, and what would be right there.

The library that checks forms speaks of its own classes, names the branches of a choice as if they were fields, and has
hints for programmers. None of that leaves the process.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_NAMED: Final = 8
"""Fields that a refusal names at most."""
_MOST: Final = 128
"""Faults that are looked at: a list of thousands may have as many."""
_KINDS: Final = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
"""By the library's word for a fault what should stand there."""
_EXTRA: Final = "extra_forbidden"
_MISSING: Final = "missing"
_SUBJECT: Final = re.compile(r"^(?:Input|String|List|Dictionary|Value|Number) should ")
BODY: Final = "body"
"""The place of what is wrong as a whole."""
_OWN: Final = "Value error, "


def form_faults(form: type[BaseModel], value: Any, error: ValidationError) -> list[tuple[str, str]]:
    """Return place and fault of everything that the form does not allow.

    Args:
        form: that was asked for.
        value: what was given.
        error: what the library says of it.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)[:_MOST]
    kinds: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for one in found:
        path = _path(_place(value, one))
        if (kind := _KINDS.get(one["type"])) is not None:
            kinds.setdefault(path, []).append(kind)
        texts.setdefault(path, _text(form, one))
    # Of a choice every branch is told of: where one reaches further in, the others are not what was meant.
    deep = [path for path in texts if not any(other.startswith((f"{path}.", f"{path}[")) for other in texts)]
    return [
        (path, f"must be {' or '.join(dict.fromkeys(kinds[path]))}" if path in kinds else texts[path]) for path in deep
    ]


def _place(value: Any, problem: "ErrorDetails") -> list[int | str]:
    """Return the place of a fault without the names of branches, which stand in no body."""
    place: list[int | str] = []
    location = problem["loc"]
    for number, part in enumerate(location):
        is_last = number == len(location) - 1
        if _stands(part, value):
            value = value[part]
            place.append(part)
        elif is_last and problem["type"] == _MISSING:
            place.append(part)
    return place


def _stands(part: int | str, value: Any) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, dict) and part in value


def _text(form: type[BaseModel], problem: "ErrorDetails") -> str:
    if problem["type"] == _MISSING:
        return "is missing"
    if problem["type"] == _EXTRA:
        holder, what = _holder(form, problem["loc"]), "request" if len(problem["loc"]) == 1 else "object"
        if holder is None:
            return f"is no field of this {what}; leave it out"
        names = list(holder.model_fields)
        more = ", …" if len(names) > _NAMED else ""
        return f"is no field of this {what}, which takes {', '.join(names[:_NAMED])}{more}"
    return _SUBJECT.sub("must ", problem["msg"].removeprefix(_OWN)).replace(" after validation", "")


def _holder(form: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel] | None:
    """Return the model that a place is in; ``None`` where several could be meant."""
    models = [form]
    for part in location[:-1]:
        named = [model for model in models if model.__name__ == part]
        fields = [found for model in models if isinstance(part, str) and (found := model.model_fields.get(part))]
        if fields and not named:
            models = [model for field in fields for model in _models(field.annotation)]
        else:
            models = named or models
    return models[0] if len(models) == 1 else None


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that an annotation is made of: of ``list[str | FactForm]`` the last."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _path(location: Sequence[int | str]) -> str:
    """Return a place as docs/errors.md writes it: ``constraints[0].type``."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path or BODY
