"""Reading the evaluation data: JSON Lines, mostly compressed, under the folder that GROUNDTRAIL_EVAL_DATA names."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

VARIABLE: Final = "GROUNDTRAIL_EVAL_DATA"
GUIDE: Final = "docs/how-to/evaluate.md"


class EvaluationDataError(Exception):
    """The data are not there, or not what they must be; the message says what to do."""


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
    """Return the rows of one file of the folder.

    Raises:
        EvaluationDataError: the file is not there, or holds something else.
    """
    return read_rows(data / name)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON Lines; one whose name ends in ``.gz`` is decompressed.

    Raises:
        EvaluationDataError: the file is not there, or a line of it is no JSON object; file and line are named.
    """
    if not path.is_file():
        raise EvaluationDataError(f"{path} is not there. See {GUIDE} for what it must hold.")
    opener = gzip.open if path.suffix == ".gz" else open
    found: list[dict[str, Any]] = []
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise EvaluationDataError(f"{path}, line {len(found) + 1}: not a JSON object")
                found.append(row)
    except json.JSONDecodeError as error:
        raise EvaluationDataError(f"{path}, line {len(found) + 1}: not JSON ({error.msg})") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise EvaluationDataError(f"{path}, after line {len(found)}: cannot be read ({error})") from error
    return found
