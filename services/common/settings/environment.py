"""The environment as the source of settings: every ``GROUNDTRAIL_*`` variable must be a known one.

A misspelt variable would otherwise be a setting that silently does not hold, so it stops the process and the message
names the nearest known variable. Values are never part of a message: they may be secrets.
"""

import difflib
import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource

from services.common.settings.secret_files import SUFFIX, read_secrets, secret_paths

PREFIX: Final = "GROUNDTRAIL_"
DELIMITER: Final = "__"
NOT_SETTINGS: Final = ("GROUNDTRAIL_TEST_", "GROUNDTRAIL_EVAL_DATA", "GROUNDTRAIL_EVAL_MEMORY")
"""Variables that tests and evaluation read; no process takes settings from them."""


_FOR_CHILDREN: Final = ("PATH", "HOME", "LANG", "LC_", "LD_", "DYLD_", "PYTHON", "TMPDIR", "TZ")
"""What an interpreter and its libraries need, by the beginnings of the names; nothing else is for a child."""


_LIST, _OBJECT = "must be a list, written as JSON", "must be an object, written as JSON"
_CONTAINERS: Final = {
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), _LIST),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), _OBJECT),
}
"""What to say of a text that stands where a list or an object has to, by pydantic's name of the problem."""


class SettingsError(Exception):
    """The settings cannot be used; one line per problem, none of which holds a value."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def variable_name(path: Iterable[str]) -> str:
    """Return the environment variable of a field: ``("server", "port")`` is ``GROUNDTRAIL_SERVER__PORT``."""
    return PREFIX + DELIMITER.join(path).upper()


def known_variables(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the variable of every field of ``model``, sections descended into."""
    for name, field in model.model_fields.items():
        here = (*path, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from known_variables(field.annotation, here)
        else:
            yield variable_name(here)


@functools.cache  # the fields of a class do not change
def secret_variables(model: type[BaseModel]) -> frozenset[str]:
    """Return the variable of every setting that holds a secret; each may be given with ``_FILE`` behind it instead."""
    return frozenset(map(variable_name, secret_paths(model)))


@functools.cache
def allowed_variables(model: type[BaseModel]) -> frozenset[str]:
    """Return every variable that sets a field of ``model``, those that name the file of a secret among them."""
    return frozenset(known_variables(model)) | {name + SUFFIX for name in secret_variables(model)}


def unknown_variables(model: type[BaseModel], environment: Mapping[str, str]) -> list[str]:
    """Return one line for each ``GROUNDTRAIL_*`` variable that is no setting, naming the nearest one that is."""
    known = allowed_variables(model)
    problems = []
    for variable in sorted(environment):
        name = variable.upper()
        if not name.startswith(PREFIX) or name.startswith(NOT_SETTINGS) or name in known:
            continue
        bare = [one.removeprefix(PREFIX) for one in sorted(known)]
        nearest = difflib.get_close_matches(name.removeprefix(PREFIX), bare, n=1, cutoff=0.5)
        hint = f"; did you mean {PREFIX}{nearest[0]}?" if nearest else ", and none is like it"
        problems.append(f"{variable} is not a setting{hint}")
    return problems


def validation_problems(error: ValidationError) -> list[str]:
    """Return one line per problem of a failed validation, naming the variable and never the value."""
    problems = []
    for item in error.errors(include_input=False, include_url=False, include_context=False):
        path = [str(part) for part in item["loc"]]
        text = _CONTAINERS.get(item["type"]) or item["msg"].removeprefix("Value error, ")
        problems.append(f"{variable_name(path)}: {text}" if path else text)
    return problems


class StrictEnvironment(EnvSettingsSource):
    """Reads ``GROUNDTRAIL_<SECTION>__<FIELD>``, secrets also from files, and refuses variables that name no field.

    Args:
        settings_cls: whose fields are set.
        refusing: ``False`` leaves such variables out, so that what is wrong with the others can be told as well.
    """

    def __init__(self, settings_cls: type[BaseSettings], *, refusing: bool = True) -> None:
        super().__init__(settings_cls)
        self._refusing = refusing

    def __call__(self) -> dict[str, Any]:
        """Return the raw values.

        Raises:
            SettingsError: a variable is unknown, or the file of a secret cannot be used.
        """
        problems = unknown_variables(self.settings_cls, os.environ)
        known = secret_variables(self.settings_cls)
        read, unread = read_secrets({name.upper(): value for name, value in os.environ.items()}, known)
        if self._refusing and (problems or unread):
            raise SettingsError([*problems, *unread])
        files = {(name + SUFFIX).lower() for name in known}
        unknown = {problem.split(" ", 1)[0].lower() for problem in problems}
        given = {name: value for name, value in self.env_vars.items() if name.lower() not in files | unknown}
        self.env_vars = given | {name.lower(): value for name, value in read.items()}
        return super().__call__()

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """Return a list or object out of its JSON; what is none is left as it is, and refused under its own name."""
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


def environment_of_children() -> dict[str, str]:
    """Return the variables for a process that reads hostile documents: no settings, and no secret of anybody's."""
    return {name: value for name, value in os.environ.items() if name.startswith(_FOR_CHILDREN)}
