"""Embedding many texts with a progress bar."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from services.common.ports.embedding import EmbeddingModel

BLOCK = 256


async def embed_all(
    model: EmbeddingModel, texts: Iterable[str], progress: Progress, label: str
) -> dict[str, NDArray[np.float32]]:
    """Return a vector for each distinct text."""
    distinct = list(dict.fromkeys(texts))
    task = progress.add_task(label, total=len(distinct))
    vectors: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(distinct), BLOCK):
        block = distinct[start : start + BLOCK]
        vectors |= zip(block, await model.embed(block), strict=True)
        progress.advance(task, len(block))
    return vectors
