"""Turning text into vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Calibration(Protocol):
    """An embedding model's monotone map from raw cosine to the scale of 0.75 and 0.60 (ADR 0012)."""

    def apply(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Map raw cosines (any shape) to calibrated similarity in [0, 1], monotonically."""
        ...


class EmbeddingModel(Protocol):
    """A sentence embedder. Thread- and task-safe; concurrent calls are batched together."""

    @property
    def name(self) -> str:
        """Name in the model repository."""
        ...

    @property
    def fingerprint(self) -> str:
        """``name@version+sha256:<first 16 hex>`` of the weights; names the index that vectors belong to."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def calibration(self) -> Calibration:
        """The map of MANIFEST.json for this model."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), dimension)``; an empty text is allowed.

        A text that the model cannot read at once is read in windows, never cut: ADR 0032.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        ...
