"""What the delivered embedder makes of windows and blocks, kept in an ignored folder between runs."""

import hashlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.encoders.embedding import EncoderEmbeddingModel, open_embedding
from services.common.model_repository import ModelRepository
from services.common.settings.inference import InferenceSettings

SLICE: Final = 256
KEY_BYTES: Final = 12
Vectors = NDArray[np.float16]


class OutOfTimeError(RuntimeError):
    """The time that a call was given is over; what was read is kept, and the next call goes on."""


class VectorCache:
    """Vectors of texts by their digest.

    Args:
        folder: where they are kept, one file for each fingerprint of the embedder.
        fingerprint: of the embedder.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._path = folder / f"{hashlib.sha256(fingerprint.encode()).hexdigest()[:16]}.npz"
        self._places: dict[bytes, int] = {}
        self._rows: list[Vectors] = []
        if self._path.is_file():
            with np.load(self._path) as kept:
                keys = kept["keys"].tobytes()
                self._rows = list(kept["rows"])
            self._places = {keys[at : at + KEY_BYTES]: at // KEY_BYTES for at in range(0, len(keys), KEY_BYTES)}

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return the texts that are not here, each once, the shortest first."""
        found = {text for text in texts if key_of(text) not in self._places}
        return sorted(found, key=lambda text: (len(text), text))

    def add(self, texts: list[str], rows: NDArray[Any]) -> None:
        """Keep the vectors of texts that are not here."""
        for text, row in zip(texts, rows.astype(np.float16), strict=True):
            self._places[key_of(text)] = len(self._rows)
            self._rows.append(row)

    def save(self) -> None:
        """Write all to the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        keys = np.frombuffer(b"".join(self._places), dtype=np.uint8)
        half = self._path.with_suffix(".part.npz")
        np.savez(half, keys=keys, rows=np.array(self._rows, dtype=np.float16))
        half.replace(self._path)

    def matrix(self, texts: Iterable[str]) -> Vectors:
        """Return the vectors of texts that are all here."""
        return np.array([self._rows[self._places[key_of(text)]] for text in texts], dtype=np.float16)


def key_of(text: str) -> bytes:
    """Return what a text is kept under."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


async def read_vectors(texts: Iterable[str], repository: ModelRepository, folder: Path, seconds: float) -> VectorCache:
    """Return a cache that holds the vectors of all texts.

    Args:
        texts: any number, each read once.
        repository: where the embedder lies.
        folder: where vectors are kept.
        seconds: after so many it stops.

    Raises:
        OutOfTimeError: it stopped before the end.
    """
    settings = InferenceSettings(model_repository=repository.root)
    model = await open_embedding(settings, repository)
    try:
        cache = VectorCache(folder, model.fingerprint)
        await _fill(model, cache, cache.missing(texts), time.monotonic() + seconds)
    finally:
        await model.close()
    return cache


async def _fill(model: EncoderEmbeddingModel, cache: VectorCache, missing: list[str], until: float) -> None:
    done = 0
    try:
        while done < len(missing):
            if time.monotonic() > until:
                raise OutOfTimeError(f"{len(missing) - done:,} texts are left to read; run it again")
            part = missing[done : done + SLICE]
            cache.add(part, await model.embed(part))
            done += len(part)
    finally:
        if done:
            cache.save()
