"""Pairs to measure or fit on: JSON Lines with ``premise``, ``hypothesis`` and ``label``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.own_encoders.labels import ENTAILMENT
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal

FILE_BYTES: Final = 512 << 20
MOST_ROWS: Final = 200_000
_SUPPORTED: Final[Mapping[Any, bool]] = {  # 1 and 0 are the keys true and false, too
    True: True, False: False, "supported": True, "unsupported": False, "not supported": False,
    "entailment": True, "neutral": False, "contradiction": False, "true": True, "false": False,
}  # fmt: skip
_KINDS: Final = {name: number for number, name in enumerate(ENTAILMENT)}


@dataclass(frozen=True, slots=True)
class Pairs:
    """The rows.

    Attributes:
        premises: what should bear out.
        hypotheses: what is checked.
        labels: 0, 1 or 2 in the order of ``labels.ENTAILMENT`` for entailment; else 1 for supported and 0 for not.
        groups: a number a row; rows of one premise share it, and stay in one fold.
    """

    premises: tuple[str, ...]
    hypotheses: tuple[str, ...]
    labels: NDArray[np.int64]
    groups: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.premises)


def read_pairs(path: Path, *, three_way: bool) -> Pairs:
    """Read a file.

    Args:
        path: the file, UTF-8.
        three_way: labels are entailment, neutral and contradiction; else supported or not.

    Raises:
        OwnModelError: ROWS_INVALID: with the line; FILE_MISSING, FILE_TOO_LARGE.
    """
    if not path.is_file():
        raise OwnModelError(Refusal.FILE_MISSING, f"{path} is no file")
    if path.stat().st_size > FILE_BYTES:
        raise OwnModelError(Refusal.FILE_TOO_LARGE, f"{path} has more than {FILE_BYTES:,} bytes")
    rows: list[tuple[str, str, int]] = []
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    rows.append(_row(line, number, three_way=three_way))
                if len(rows) > MOST_ROWS:
                    raise OwnModelError(Refusal.FILE_TOO_LARGE, f"{path} has more than {MOST_ROWS:,} rows")
    except UnicodeDecodeError as error:
        raise OwnModelError(Refusal.ROWS_INVALID, f"{path} is not in UTF-8") from error
    known: dict[str, int] = {}
    return Pairs(
        tuple(row[0] for row in rows),
        tuple(row[1] for row in rows),
        np.array([row[2] for row in rows], dtype=np.int64),
        np.array([known.setdefault(row[0], len(known)) for row in rows], dtype=np.int64),
    )


def _row(line: str, number: int, *, three_way: bool) -> tuple[str, str, int]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise OwnModelError(Refusal.ROWS_INVALID, f"line {number} is no JSON object")
    premise, hypothesis, label = row.get("premise"), row.get("hypothesis"), row.get("label")
    if not isinstance(premise, str) or not isinstance(hypothesis, str) or not hypothesis.strip():
        raise OwnModelError(Refusal.ROWS_INVALID, f"line {number} needs premise and hypothesis as texts")
    said = label.strip().lower().replace("_", " ") if isinstance(label, str) else label
    meanings: Mapping[Any, int] = _KINDS if three_way else _SUPPORTED
    if not isinstance(said, str | int) or said not in meanings:
        wanted = (
            ", ".join(ENTAILMENT)
            if three_way
            else "supported, unsupported, true, false, 1, 0, or the three of entailment"
        )
        raise OwnModelError(Refusal.ROWS_INVALID, f"line {number}: label is {label!r}; it must be one of {wanted}")
    return premise, hypothesis, int(meanings[said])
