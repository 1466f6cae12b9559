"""Rows in the blocks that the classifier reads, and what is learnt from each of them (ADR 0227)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.injection_classifier.text import readable
from services.common.injection_classifier.windows import cut
from training.injection.measure import Values
from training.injection.rows import Row

OF_PAYLOAD: Final = 0.5
"""A window is one of the attack from this share of its runs of letters in the attack's own."""
_RUN: Final = 6


@dataclass(frozen=True, slots=True)
class Blocks:
    """All blocks of some rows.

    Attributes:
        rows: the rows.
        homes: of each block the number of its row.
        texts: of each block.
        learnt: 1 = a block with windows of an attack, 0 = of a benign text, -1 = not learnt from: what
            surrounds an attack.
    """

    rows: Sequence[Row]
    homes: NDArray[np.intp]
    texts: list[str]
    learnt: NDArray[np.int8]

    def worst(self, logits: Values) -> Values:
        """Return of each row the logit of its most suspicious block."""
        found = np.full(len(self.rows), -np.inf)
        np.maximum.at(found, self.homes, logits)
        return found


def blocks_of(rows: Sequence[Row]) -> Blocks:
    """Cut rows into blocks; a row without any is left out."""
    kept, homes, texts, learnt = list[Row](), list[int](), list[str](), list[int]()
    for row in rows:
        parts = cut(readable(row.text))
        if not parts.blocks:
            continue
        own = {home for home, is_own in zip(parts.homes, _own(row, parts.windows), strict=True) if is_own}
        learnt += [(1 if place in own else -1) if row.attack else 0 for place in range(len(parts.blocks))]
        texts += parts.blocks
        homes += [len(kept)] * len(parts.blocks)
        kept.append(row)
    return Blocks(kept, np.array(homes), texts, np.array(learnt, dtype=np.int8))


def _own(row: Row, windows: Sequence[str]) -> list[bool]:
    """Say of each window of an attack whether it is of the attack itself."""
    if not row.payload:
        return [True] * len(windows)
    own = _runs(readable(row.payload))
    shares = [len(found & own) / max(1, len(found)) for found in map(_runs, windows)]
    best = max(shares)
    return [share >= OF_PAYLOAD or share == best for share in shares]


def _runs(text: str) -> set[str]:
    joined = "".join(text.lower().split())
    return {joined[place : place + _RUN] for place in range(max(1, len(joined) - _RUN + 1))}
