"""Secrets given as files: every setting that holds one can be named by its variable with ``_FILE`` behind it instead.

A file shows up in no process list, no ``docker inspect`` and no crash report, and an orchestrator mounts it. Which
settings these are follows from their types, so that a new secret has its file form from the start. The text of a file
is what it holds without the line break at its end. No message holds anything of it.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import BaseModel, SecretStr

SUFFIX: Final = "_FILE"
MAX_BYTES: Final = 64 * 1024
"""Largest file that is read: far above any key, far below a file that was named by mistake."""


def holds_secret(annotation: Any) -> bool:
    """Say whether a field of this type holds a secret, alone or within a union, a list or a mapping."""
    return annotation is SecretStr or any(holds_secret(part) for part in get_args(annotation))


def secret_paths(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every field that holds a secret, sections descended into.

    A field with a file setting of its own beside it (``node_key_file``) is left out: that one reads the file.
    """
    for name, field in model.model_fields.items():
        here = (*path, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from secret_paths(field.annotation, here)
        elif holds_secret(field.annotation) and f"{name}{SUFFIX.lower()}" not in model.model_fields:
            yield here


def read_secrets(variables: Mapping[str, str], known: AbstractSet[str]) -> tuple[dict[str, str], list[str]]:
    """Read the files that the environment names.

    Args:
        variables: the environment, names in upper case.
        known: the variables of secrets, without the suffix.

    Returns:
        The secrets by their variable without the suffix, and one line per problem.
    """
    found: dict[str, str] = {}
    problems: list[str] = []
    for variable in sorted(known):
        named = variables.get(variable + SUFFIX, "")
        if not named:
            continue
        if variables.get(variable):
            problems.append(f"{variable} and {variable + SUFFIX} are both set: set one")
            continue
        try:
            found[variable] = _text(Path(named))
        except ValueError as error:
            problems.append(f"{variable + SUFFIX}: {named} {error}")
    return found, problems


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        msg = f"cannot be read: {error.strerror}"
        raise ValueError(msg) from None
    if len(data) > MAX_BYTES:
        msg = f"is larger than {MAX_BYTES} bytes, which no secret is"
        raise ValueError(msg)
    try:
        text = data.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        msg = "is no text in UTF-8"
        raise ValueError(msg) from None
    if not text.strip():
        msg = "is empty"
        raise ValueError(msg)
    return text
