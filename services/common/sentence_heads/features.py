"""What the heads weigh besides the encoder's vectors: words in a row, and how two sentences overlap (ADR 0118)."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

READ_CHARS: Final = 2_000
"""So much of a sentence is read for its words: bounded work on hostile input."""
FIRST: Final = "1"
SECOND: Final = "2"
"""Before the words of the first and the second sentence of a pair."""
START: Final = "^"
"""Before words that begin a sentence."""
NUMBER: Final = "#"
"""Stands for every number."""
LEAST: Final = 1e-4
"""Is added to a probability before its logarithm is taken."""
OVERLAPS: Final = (
    "share_of_first",
    "share_of_second",
    "share_of_both",
    "denial_differs",
    "no_number_shared",
    "a_number_shared",
    "longer",
    "cosine",
)
"""What is measured between two sentences, in this order."""
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*|[^\w\s]")
_LIGHT: Final = frozenset([*"the a an is are of to in on for and or it be by at with that this as".split(), ".", ","])  # noqa: SIM905
_DENIALS: Final = frozenset(["not", "no", "never", "none", "nobody", "without", "cannot", "nothing"])


def words(text: str) -> list[str]:
    """Return the words and marks of a text in order, in lower case, numbers as they are."""
    return _WORD.findall(text[:READ_CHARS].lower().replace("\u2019", "'"))


def marks(text: str, prefix: str = "") -> frozenset[str]:
    """Return the words of a text, two and three in a row, and those that it begins with.

    Args:
        text: one sentence.
        prefix: says which sentence of a pair it is.
    """
    found = [NUMBER if word[0].isdigit() else word for word in words(text)]
    rows = {" ".join(found[at : at + size]) for size in (1, 2, 3) for at in range(len(found) - size + 1)}
    rows |= {START + " ".join(found[:size]) for size in (1, 2) if len(found) >= size}
    return frozenset(prefix + row for row in rows)


def pair_marks(first: str, second: str) -> frozenset[str]:
    """Return the marks of both sentences of a pair."""
    return marks(first, FIRST) | marks(second, SECOND)


def bag(found: Sequence[frozenset[str]], places: Mapping[str, int]) -> Values:
    """Return per text which known marks it has, as a row of length 1."""
    rows = np.zeros((len(found), len(places)))
    for row, each in zip(rows, found, strict=True):
        known = [places[mark] for mark in each if mark in places]
        row[known] = 1.0 / np.sqrt(max(1, len(known)))
    return rows


def overlaps(first: str, second: str, cosine: float) -> list[float]:
    """Return what two sentences have in common, as ``OVERLAPS`` names it; ``cosine`` is that of their vectors."""
    mine, theirs = words(first), words(second)
    said, other = set(mine) - _LIGHT, set(theirs) - _LIGHT
    numbers, others = ({word for word in each if word[0].isdigit()} for each in (mine, theirs))
    shared = len(said & other)
    return [
        shared / max(1, len(said)),
        shared / max(1, len(other)),
        shared / max(1, len(said | other)),
        float(_denies(said) != _denies(other)),
        float(bool(numbers) and bool(others) and numbers.isdisjoint(others)),
        float(bool(numbers & others)),
        float(np.log1p(len(other)) - np.log1p(len(said))),
        cosine,
    ]


def entailments(logits: Values) -> Values:
    """Return what the entailment model says of a pair both ways, as probabilities and their logarithms.

    Args:
        logits: its own, in its own order, those of the second before the first behind those of the first.
    """
    both = logits.reshape(-1, 2, logits.shape[-1] // 2)
    scaled = both - both.max(axis=2, keepdims=True)
    sure = np.exp(scaled) / np.exp(scaled).sum(axis=2, keepdims=True)
    flat = sure.reshape(len(logits), -1)
    return np.hstack([np.log(flat + LEAST), flat])


def _denies(found: set[str]) -> bool:
    return bool(found & _DENIALS) or any(word.endswith("n't") for word in found)
