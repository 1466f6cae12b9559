"""Scoring passages against a query."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Reranker(Protocol):
    """A cross-encoder that orders passages."""

    @property
    def fingerprint(self) -> str:
        """Name, version and digest of the weights."""
        ...

    async def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return one score per passage, shape ``(n,)``, higher is better."""
        ...
