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
        """Longest premise + hypothesis that the encoder reads."""
        ...

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return for each (premise, hypothesis) entailment, neutral, contradiction: shape ``(n, 3)``."""
        ...
