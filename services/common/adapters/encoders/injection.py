"""``InjectionClassifier`` over the embedder's vectors and hashed n-grams (ADR 0126)."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

import numpy as np

from services.common.adapters.encoders.opening import COMMANDS, verified_entry
from services.common.computing import compute_unless_small
from services.common.errors import ErrorReason, UnavailableError
from services.common.injection_classifier.model import (
    Floats,
    InjectionHead,
    InjectionHeadError,
    Suspects,
    read_head,
)
from services.common.injection_classifier.text import readable
from services.common.injection_classifier.windows import cut
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError, open_repository
from services.common.ports.embedding import EmbeddingModel
from services.common.settings.inference import InferenceSettings

HEAD_FILE: Final = "1/head.npz"
SLICE: Final = 512
"""Windows and blocks that wait for the embedder at once, at most: a long text must not fill its queue."""
_LOG: Final = logging.getLogger(__name__)


class EncoderInjectionClassifier:
    """The classifier; belongs to the event loop of its embedder, whatever runs that.

    Args:
        embedding: the model whose vectors the head weighs.
        head: the weights.
        fingerprint: name, version and digest of the weights.
    """

    def __init__(self, embedding: EmbeddingModel, head: InjectionHead, fingerprint: str) -> None:
        self._embedding = embedding
        self._head = head
        self._fingerprint = fingerprint

    @property
    def fingerprint(self) -> str:
        """``injection@version+sha256:<16 hex>`` over the head, which names the embedder's own fingerprint."""
        return self._fingerprint

    async def score(self, texts: Sequence[str]) -> list[float]:
        """Return for each text the calibrated probability that it is an injection: that of its worst window.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE; also when the embedder gives no numbers.
        """
        size = sum(map(len, texts))
        found = await compute_unless_small(4 * size, self._suspects, texts)
        wanted = list(dict.fromkeys(text for each in found for text in (*each.windows, *each.blocks)))
        vectors = dict[str, Floats]()
        for start in range(0, len(wanted), SLICE):
            part = wanted[start : start + SLICE]
            vectors |= zip(part, self._checked(await self._embedding.embed(part)), strict=True)
        return await compute_unless_small(4 * size, self._probabilities, found, vectors)

    def _suspects(self, texts: Sequence[str]) -> list[Suspects]:
        return [self._head.suspects(cut(readable(text))) for text in texts]

    def _probabilities(self, found: Sequence[Suspects], vectors: dict[str, Floats]) -> list[float]:
        return [
            self._head.probability(
                [
                    self._head.logit(gram, vectors[window], vectors[block])
                    for gram, window, block in zip(each.logits, each.windows, each.blocks, strict=True)
                ]
            )
            for each in found
        ]

    def _checked(self, vectors: Floats) -> Floats:
        if vectors.shape[-1] != self._head.width or not bool(np.isfinite(vectors).all()):
            raise UnavailableError(
                ErrorReason.MODEL_UNAVAILABLE, f"the model {self._embedding.name} gave no usable vectors"
            )
        return vectors


async def open_injection_classifier(
    settings: InferenceSettings, embedding: EmbeddingModel, repository: ModelRepository | None = None
) -> EncoderInjectionClassifier | None:
    """Verify the classifier and return it over an embedder; ``None`` where that is not the one that it was fitted on.

    Args:
        settings: name the model.
        embedding: gives the vectors, in the process or from Triton.
        repository: where it lies; ``None`` = as the settings say.

    Raises:
        ModelRepositoryError: a file is missing or not the pinned one, or cannot be read.
    """
    source = repository if repository is not None else await asyncio.to_thread(open_repository, settings)
    entry = await asyncio.to_thread(verified_entry, source, settings.injection_model, "injection")
    head = await asyncio.to_thread(_read, source, entry)
    if head.embedder != embedding.fingerprint:
        _LOG.warning(
            "%s was fitted on the vectors of %s, not on those of %s: it is not used; `%s` fits it anew",
            entry.name,
            head.embedder,
            embedding.fingerprint,
            COMMANDS["injection"],
        )
        return None
    return EncoderInjectionClassifier(embedding, head, entry.fingerprint)


def _read(repository: ModelRepository, entry: ModelEntry) -> InjectionHead:
    path = repository.folder(entry.name) / HEAD_FILE
    try:
        return read_head(path.read_bytes())
    except (OSError, InjectionHeadError) as error:
        raise ModelRepositoryError(f"{path}: {error}") from error
