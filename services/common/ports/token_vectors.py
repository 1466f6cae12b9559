"""Turning text into a vector for each of its tokens (late interaction, ADR 0067)."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class TokenVectorModel(Protocol):
    """An encoder read token by token. Task-safe; concurrent calls are batched together."""

    @property
    def fingerprint(self) -> str:
        """Name, version and digest of the weights."""
        ...

    async def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return per text unit vectors of its tokens in order, without special tokens: shape ``(tokens, dimension)``.

        A text beyond what the model reads at once is read in windows, never cut. A text has the same vectors in any
        company. The empty text has none: shape ``(0, dimension)``.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE; also when the backend returns NaN or another shape.
        """
        ...
