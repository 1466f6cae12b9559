"""Natural language inference over pairs."""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

ENTAILMENT: Final = 0
NEUTRAL: Final = 1
CONTRADICTION: Final = 2


class EntailmentModel(Protocol):
    """A three-way cross-encoder. Thread- and task-safe; concurrent calls are batched together."""

    @property
    def fingerprint(self) -> str:
        """Name, version and digest of the weights."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longest premise + hypothesis, special tokens included, that the encoder reads at once."""
        ...

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return for each (premise, hypothesis) entailment, neutral, contradiction: shape ``(n, 3)``.

        Rows are calibrated probabilities and sum to 1. A pair beyond ``max_tokens`` is read in overlapping windows,
        never cut; the row is that of the most decided window (ADR 0032).

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE; also when the backend returns NaN or another shape.
        """
        ...
