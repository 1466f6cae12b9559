"""Scoring passages against queries, both read together."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Reranker(Protocol):
    """A cross-encoder that orders passages. Task-safe; concurrent calls are batched together."""

    @property
    def fingerprint(self) -> str:
        """Name, version and digest of the weights."""
        ...

    async def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return one score per (query, passage), shape ``(len(pairs),)``, higher is better.

        Scores of one query's passages are comparable, whatever else the call holds.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE; also when the backend returns NaN or another shape.
        """
        ...
