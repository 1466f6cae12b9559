"""An embedding model whose answer is looked at before anything is compared with it.

A vector with a component that is no number compares with nothing: every cosine, score and quality of a build would be
no number either, and the answer would not say so.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.embedding import Calibration, EmbeddingModel


class CheckedEmbedding:
    """``EmbeddingModel`` over another one that gives finite numbers or fails.

    Args:
        model: makes the vectors.
    """

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Name in the model repository."""
        return self._model.name

    @property
    def fingerprint(self) -> str:
        """That of the weights."""
        return self._model.fingerprint

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._model.dimension

    @property
    def calibration(self) -> Calibration:
        """The model's own."""
        return self._model.calibration

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), dimension)``.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE; also when a vector holds something that is no finite number.
        """
        vectors = await self._model.embed(texts)
        if not np.isfinite(vectors).all():
            raise UnavailableError(
                ErrorReason.MODEL_UNAVAILABLE,
                f"the embedding model {self._model.name} gave a vector that is not made of finite numbers; nothing was "
                "done; try again, and if it happens again have the operator check the model's weights and variant",
                model=self._model.fingerprint,
            )
        return vectors
