"""A deterministic embedder without weights, for tests: a hashed bag of words."""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.ports.embedding import Calibration

_WORD: Final = re.compile(r"\w+")


class IdentityCalibration:
    """Leaves cosines as they are, but for the lower half: below 0 is 0."""

    def apply(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Clip to [0, 1]."""
        return np.clip(cosine, 0.0, 1.0).astype(np.float32)


class MemoryEmbeddingModel:
    """``EmbeddingModel`` whose vectors depend on the words alone: texts that share words are near, others orthogonal.

    Every word adds +1 or -1 to one of ``dimension`` slots, chosen by SHA-256; case and order do not count. A text
    without words gets the first unit vector.

    Args:
        dimension: length of a vector; more means fewer words that meet by chance.
    """

    def __init__(self, dimension: int = 384) -> None:
        self._dimension = dimension
        self._calibration = IdentityCalibration()
        self.calls: list[tuple[str, ...]] = []

    @property
    def name(self) -> str:
        """Name in the model repository."""
        return "memory-embedder"

    @property
    def fingerprint(self) -> str:
        """A constant: there are no weights."""
        return f"memory-embedder@1+sha256:{'0' * 12}{self._dimension:04x}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def calibration(self) -> Calibration:
        """The identity on [0, 1]."""
        return self._calibration

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), dimension)``; ``calls`` remembers what was asked."""
        self.calls.append(tuple(texts))
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self._dimension, dtype=np.float32)
        for word in _WORD.findall(text.lower()):
            digest = hashlib.sha256(word.encode()).digest()
            slot = int.from_bytes(digest[:4], "big") % self._dimension
            vector[slot] += 1.0 if digest[4] % 2 else -1.0
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            vector[0], norm = 1.0, 1.0
        return (vector / np.float32(norm)).astype(np.float32)
