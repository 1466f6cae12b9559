"""The rows that the classifier learns from and is measured on, with the family and fold of each (ADR 0126).

A family is a way of saying it: rows of one family, and the carriers and quotations that they stand in, lie in one fold,
so that no wording is measured that was learnt.
"""

import gzip
import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDS: Final = 6
ROUNDS: Final = 3
"""Models that leave families out: each leaves out two folds."""


@dataclass(frozen=True, slots=True)
class Row:
    """A text to learn from.

    Attributes:
        text: as somebody would write it.
        attack: whether it is an injection.
        kind: what figures are given for: a class of attack or a kind of benign text.
        family: the way of saying it.
        fold: which part leaves it out.
        payload: of an attack in a carrier, or of its benign twin, that itself; empty: the whole text.
        share: how much all rows of its origin weigh together, beside other origins.
    """

    text: str
    attack: bool
    kind: str
    family: str
    fold: int
    payload: str = ""
    share: str = "own"


def fold_of(name: str) -> int:
    """Return the fold of a family by its name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % FOLDS


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of JSON lines, also gzipped."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def without_repeats(rows: list[Row]) -> list[Row]:
    """Return the rows without those whose text was there before."""
    return list({row.text: row for row in reversed(rows)}.values())[::-1]


def sampled(rows: list[Any], most: int, rng: random.Random) -> list[Any]:
    """Return at most so many, in their order."""
    if len(rows) <= most:
        return rows
    return [rows[place] for place in sorted(rng.sample(range(len(rows)), most))]


def part_of(row: Row) -> str:
    """Return which part of the data a row belongs to."""
    if row.share != "own":
        return row.share
    if row.attack:
        return "hidden" if row.payload else "direct"
    if row.kind.startswith("carried."):
        return "carried"
    return "quoted" if row.kind == "benign.docs.security" else "written"
