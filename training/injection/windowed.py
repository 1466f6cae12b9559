"""Rows in windows: what is learnt from each of them, and what is measured on whole texts (ADR 0126)."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz, save_npz  # type: ignore[import-untyped]

from services.common.injection_classifier.features import (
    BLOCK_BITS,
    SHAPE,
    WINDOW_BITS,
    Ids,
    Values,
    block_marks,
    window_marks,
)
from services.common.injection_classifier.text import readable
from services.common.injection_classifier.windows import cut
from training.injection.fit import Floats, Grams, Places, Windows
from training.injection.rows import ROUNDS, Row

OF_PAYLOAD: Final = 0.5
"""A window is one of the attack from this share of its runs of letters in the attack's own."""
OF_BENIGN: Final = 4
"""Windows of a benign text that are learnt from, about; it is measured on all."""
_RUN: Final = 6
SHARES: Final = {
    "direct": 1.0,
    "hidden": 1.2,
    "s-labs True": 0.8,
    "s-labs False": 0.8,
    "written": 1.2,
    "quoted": 0.7,
    "carried": 0.6,
    "public.document": 0.5,
    "public.claim": 0.15,
    "public.sentence": 0.35,
    "repository": 0.5,
}
"""How much the windows of a part weigh together."""


@dataclass(frozen=True, slots=True)
class Windowed:
    """All windows of some rows.

    Attributes:
        rows: the rows.
        homes: of each window the number of its row.
        windows: their texts.
        blocks: of each window its block.
        learnt: 1 = a window of an attack, 0 = of a benign text, -1 = not learnt from: what surrounds an attack or its
            twin, or the rest of a long benign text.
    """

    rows: Sequence[Row]
    homes: Places
    windows: list[str]
    blocks: list[str]
    learnt: NDArray[np.int8]

    def texts(self) -> set[str]:
        """Return all that the embedder has to read."""
        return {*self.windows, *self.blocks}

    def worst(self, logits: Values) -> Values:
        """Return of each row the logit of its most suspicious window."""
        found = np.full(len(self.rows), -np.inf)
        np.maximum.at(found, self.homes, logits)
        return found


def windowed(rows: Sequence[Row]) -> Windowed:
    """Cut rows into windows; a row without any is left out."""
    kept, homes, windows, blocks, learnt = list[Row](), list[int](), list[str](), list[str](), list[int]()
    for row in rows:
        parts = cut(readable(row.text))
        if not parts.windows:
            continue
        windows += parts.windows
        blocks += [parts.blocks[home] for home in parts.homes]
        homes += [len(kept)] * len(parts.windows)
        learnt += _learnt(row, parts.windows, len(kept))
        kept.append(row)
    return Windowed(kept, np.array(homes), windows, blocks, np.array(learnt, dtype=np.int8))


def part_of(row: Row) -> str:
    """Return which part of the data a row belongs to."""
    if row.share != "own":
        return row.share
    if row.attack:
        return "hidden" if row.payload else "direct"
    if row.kind.startswith("carried."):
        return "carried"
    return "quoted" if row.kind == "benign.docs.security" else "written"


def to_learn(data: Windowed, vector: Callable[[Sequence[str]], NDArray[np.float16]], cache: Path) -> Windows:
    """Return the windows as the fit takes them; those that are not learnt from weigh nothing.

    Args:
        data: the rows in windows.
        vector: gives what the embedder made of texts.
        cache: the folder that keeps the n-grams.
    """
    vectors = np.concatenate([vector(data.windows), vector(data.blocks)], axis=1).astype(np.float32)
    folds = np.array([row.fold % ROUNDS for row in data.rows])[data.homes]
    return Windows(
        kept_grams(data.windows, data.blocks, cache),
        vectors,
        (data.learnt == 1).astype(np.float32),
        _weights(data).astype(np.float32),
        folds,
    )


def grams_of(windows: Sequence[str], blocks: Sequence[str]) -> Grams:
    """Return the hashed n-grams of windows and of their blocks."""
    numbers = {block: place for place, block in enumerate(dict.fromkeys(blocks))}
    homes = np.array([numbers[block] for block in blocks])
    return Grams(
        _table(map(window_marks, windows), 1 << WINDOW_BITS), _table(map(block_marks, numbers), 1 << BLOCK_BITS), homes
    )


def kept_grams(windows: Sequence[str], blocks: Sequence[str], cache: Path) -> Grams:
    """Return the same from the cache, or make it and keep it there."""
    told = [windows, blocks, SHAPE]
    path = cache / f"grams-{hashlib.sha256(json.dumps(told).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    own, around, homes = path.with_suffix(".own.npz"), path.with_suffix(".around.npz"), path.with_suffix(".npy")
    if homes.is_file():
        return Grams(load_npz(own), load_npz(around), np.load(homes))
    found = grams_of(windows, blocks)
    cache.mkdir(parents=True, exist_ok=True)
    save_npz(own, found.own, compressed=False)
    save_npz(around, found.around, compressed=False)
    np.save(homes, found.homes)
    return found


def _table(marks: Iterable[tuple[Ids, Values]], width: int) -> csr_matrix:
    ids, values, ends = list[NDArray[np.int32]](), list[Floats](), [0]
    for found, weights in marks:
        ids.append(found.astype(np.int32))
        values.append(weights.astype(np.float32))
        ends.append(ends[-1] + len(found))
    return csr_matrix((np.concatenate(values), np.concatenate(ids), np.array(ends)), shape=(len(ends) - 1, width))


def _learnt(row: Row, windows: Sequence[str], number: int) -> list[int]:
    label = int(row.attack)
    if not row.payload:
        step = 1 if row.attack else -(-len(windows) // OF_BENIGN)
        return [label if (place + number) % step == 0 else -1 for place in range(len(windows))]
    own = _runs(readable(row.payload))
    shares = [len(found & own) / max(1, len(found)) for found in map(_runs, windows)]
    best = max(shares)
    return [label if share >= OF_PAYLOAD or share == best else -1 for share in shares]


def _runs(text: str) -> set[str]:
    joined = "".join(text.lower().split())
    return {joined[place : place + _RUN] for place in range(max(1, len(joined) - _RUN + 1))}


def _weights(data: Windowed) -> Values:
    """Return how much each window counts: parts as ``SHARES`` says, in a part families by the root of their size."""
    parts = [part_of(row) for row in data.rows]
    families: dict[tuple[str, str], int] = {}
    for part, row in zip(parts, data.rows, strict=True):
        families[part, row.family] = families.get((part, row.family), 0) + 1
    of_row = np.array([families[part, row.family] ** -0.5 for part, row in zip(parts, data.rows, strict=True)])
    counts = np.bincount(data.homes, weights=data.learnt >= 0, minlength=len(data.rows))
    found = of_row[data.homes] / np.sqrt(np.maximum(1, counts))[data.homes] * (data.learnt >= 0)
    named = np.array(parts)[data.homes]
    for part in set(parts):
        own = named == part
        found[own] *= SHARES[part] / found[own].sum()
    return np.asarray(found)
