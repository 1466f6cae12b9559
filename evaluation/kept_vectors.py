"""Vectors of texts that are kept in a file between runs, so that a second measurement embeds nothing."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from evaluation.embedding import embed_all
from services.common.ports.embedding import EmbeddingModel


class KeptVectors:
    """Embeds texts, and remembers the vectors in a file of NumPy's where one is named.

    Args:
        path: the file; ``None`` keeps nothing.
        model: embeds what is not there; vectors of another model do not count.
    """

    def __init__(self, path: Path | None, model: EmbeddingModel) -> None:
        self._path = path
        self._model = model
        self._known: dict[str, NDArray[np.float32]] = {}
        if path is not None and path.is_file():
            with np.load(path) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    async def of(self, texts: Iterable[str], progress: Progress, label: str) -> dict[str, NDArray[np.float32]]:
        """Return a vector for each distinct text; what was embedded anew is written to the file."""
        keys = {text: self._key(text) for text in texts}
        missing = [text for text, key in keys.items() if key not in self._known]
        fresh = await embed_all(self._model, missing, progress, label)
        self._known |= {keys[text]: vector for text, vector in fresh.items()}
        if self._path is not None and fresh:
            np.savez(self._path, keys=list(self._known), vectors=np.stack(list(self._known.values())))
        return {text: self._known[key] for text, key in keys.items()}

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self._model.fingerprint}\0{text}".encode()).hexdigest()
