"""Write ``.env.example`` from the settings: every variable, its meaning and its default, commented out.

python tools/env_example.py            write it
python tools/env_example.py --check    fail when it is not what the settings give
"""

import ast
import inspect
import json
import shlex
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from services.common.settings import Settings
from services.common.settings.environment import variable_name
from services.common.settings.secret_files import SUFFIX, holds_secret

TARGET = Path(__file__).resolve().parent.parent / ".env.example"
WIDTH = 117
HEAD = """\
# Every setting of Groundtrail with its default. Processes read the environment alone, once, at their start:
#   cp .env.example .env; $EDITOR .env; set -a; . ./.env; set +a; groundtrail serve
# docker compose reads .env by itself and passes on what compose.yaml names. An unknown GROUNDTRAIL_* variable stops the
# process. A secret is given as itself or, with _FILE, as the file that holds it. Never commit .env. This file is
# written by tools/env_example.py.
"""
TAIL = """\
# --- For compose.yaml alone: passwords of the backends' containers, needed with `--profile backends` ---
#NEO4J_PASSWORD=
#MINIO_ROOT_PASSWORD=
# For compose.yaml alone: files of this machine that are mounted as secrets, for the user 10001 to read.
#LLM_API_KEY_FILE=
#MASTER_KEY_FILE=
"""


def attribute_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return each field's docstring, on one line, those of what it inherits too."""
    inherited = [base for base in model.__bases__ if issubclass(base, BaseModel) and base.__module__ != "pydantic.main"]
    found = {name: text for base in inherited for name, text in attribute_docs(base).items()}
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    name = ""
    for node in body.body if isinstance(body, ast.ClassDef) else []:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif name and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found[name] = " ".join(str(node.value.value).split()).replace("``", "`")
            name = ""
    return found


def text_of(value: Any) -> str:
    """Return a default as a shell reads it; secrets and absent values are empty."""
    if value is None or isinstance(value, SecretStr):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list, dict)):
        value = json.dumps(list(value) if isinstance(value, tuple) else value)
    return shlex.quote(str(value)) if str(value) else ""


def lines(model: type[BaseModel], path: tuple[str, ...], values: Any) -> Iterator[str]:
    """Yield the lines of a section, its sections descended into."""
    docs = attribute_docs(model)
    for name, field in model.model_fields.items():
        value = getattr(values, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from lines(field.annotation, (*path, name), value)
            continue
        yield from (f"# {line}" for line in textwrap.wrap(docs.get(name, ""), WIDTH))
        yield f"#{variable_name((*path, name))}={text_of(value)}"
        if holds_secret(field.annotation) and f"{name}{SUFFIX.lower()}" not in model.model_fields:
            yield f"#{variable_name((*path, name))}{SUFFIX}="


def render() -> str:
    """Return the whole file."""
    defaults = Settings.model_construct(**{name: field.default for name, field in Settings.model_fields.items()})
    titles = attribute_docs(Settings)
    parts = [HEAD]
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if not (isinstance(section, type) and issubclass(section, BaseModel)):
            raise TypeError(f"{name} is no section")
        body = "\n".join(lines(section, (name,), getattr(defaults, name)))
        parts.append(f"# --- {name}: {titles[name].rstrip('.')} ---\n{body}\n")
    return "\n".join([*parts, TAIL])


def main() -> None:
    """Write or check, as the command line says."""
    if sys.argv[1:] == ["--check"]:
        if TARGET.read_text(encoding="utf-8") != render():
            sys.exit(".env.example is not what the settings give; run `python tools/env_example.py`")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        TARGET.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
