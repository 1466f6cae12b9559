"""The results file (docs/results/models.json): what was measured, of which model, on which rows."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evaluation.data import EvaluationDataError
from evaluation.measured import measured_now

SCHEMA_VERSION: Final = 1
DIGITS: Final = 4
DEFAULT_FILE: Final = Path("docs/results/models.json")


def plain(value: Any) -> Any:
    """Return dataclasses as mappings, tuples as lists, and floats with four digits: what the file holds."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def document(models: Mapping[str, Any]) -> dict[str, Any]:
    """Return a results document."""
    return {"schema_version": SCHEMA_VERSION, "models": dict(models)}


def digest(path: Path) -> str:
    """Return the SHA-256 of a data file, so that a figure can be traced to its rows."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def load(path: Path) -> dict[str, Any]:
    """Return the results of a file; none at all when it is not there yet.

    Raises:
        EvaluationDataError: it is no results file of this version.
    """
    if not path.is_file():
        return document({})
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise EvaluationDataError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict) or found.get("schema_version") != SCHEMA_VERSION:
        raise EvaluationDataError(f"{path} is no results file of version {SCHEMA_VERSION}")
    return found


def save(path: Path, models: Mapping[str, Any]) -> None:
    """Write the models' results into the file, each with when and from what it was measured; other models' stay."""
    now = measured_now()
    merged = load(path)["models"] | {name: {**model, "measured": now} for name, model in models.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document(dict(sorted(merged.items()))), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
