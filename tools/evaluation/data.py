"""Reading the evaluation data: gzip-compressed JSON Lines under the folder that GROUNDTRAIL_EVAL_DATA names."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

VARIABLE: Final = "GROUNDTRAIL_EVAL_DATA"
GUIDE: Final = "docs/how-to/evaluate.md"


class EvaluationDataError(Exception):
    """The data are not there; the message says what to do."""


def folder(environment: Mapping[str, str]) -> Path:
    """Return the data folder.

    Raises:
        EvaluationDataError: the variable is not set, or names no folder.
    """
    named = environment.get(VARIABLE, "")
    if not named:
        raise EvaluationDataError(
            f"{VARIABLE} is not set. Name the folder with the evaluation data; {GUIDE} says which files it holds, in "
            "which form, and where each set comes from."
        )
    if not Path(named).is_dir():
        raise EvaluationDataError(f"{VARIABLE} names {named}, which is no folder. See {GUIDE}.")
    return Path(named)


def rows(data: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of one file.

    Raises:
        EvaluationDataError: the file is not there.
    """
    path = data / name
    if not path.is_file():
        raise EvaluationDataError(f"{path} is not there. See {GUIDE} for what it must hold.")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
