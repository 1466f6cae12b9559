"""``InjectionClassifier`` over an encoder that reads a text block by block (ADR 0227)."""

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from services.common.adapters.encoders.backed import BackedEncoder
from services.common.adapters.encoders.backend import EncoderBackend, TokenIds
from services.common.adapters.encoders.opening import ModelChoice, open_model
from services.common.adapters.encoders.tokenizer import EncoderTokenizer, off_the_loop
from services.common.adapters.encoders.windows import balanced
from services.common.calibration import PiecewiseLinearCalibration
from services.common.injection_classifier.scores import probability
from services.common.injection_classifier.text import readable
from services.common.injection_classifier.windows import cut
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError, open_repository
from services.common.settings.inference import InferenceSettings

Pieces: TypeAlias = list[TokenIds]


class EncoderInjectionClassifier(BackedEncoder):
    """The classifier; belongs to one event loop.

    A text is read whole: in blocks of about a thousand characters, and a block of more tokens than the encoder takes in
    parts of equal length. The most suspicious of them makes the text's probability.

    Args:
        backend: runs the model; its one output is a logit for each piece.
        tokenizer: the model's own.

    Raises:
        ModelRepositoryError: the manifest lacks what a classifier of injections needs.
    """

    def __init__(self, backend: EncoderBackend, tokenizer: EncoderTokenizer) -> None:
        super().__init__(backend)
        self._entry = backend.entry
        self._tokenizer = tokenizer
        self._calibration, max_tokens = _essentials(backend.entry)
        self._most = max_tokens - tokenizer.text_specials

    @property
    def fingerprint(self) -> str:
        """``injection@version+sha256:<16 hex>`` over weights and tokenizer."""
        return self._entry.fingerprint

    async def score(self, texts: Sequence[str]) -> list[float]:
        """Return for each text the calibrated probability in [0, 1] that it is an injection; 0 without a letter.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        found = await off_the_loop(texts, self._pieces)
        wanted = list(dict.fromkeys(piece for pieces in found for piece in pieces))
        outputs = await self._backend.run(wanted)
        logits = {piece: float(output[0].item()) for piece, output in zip(wanted, outputs, strict=True)}
        return [probability([logits[piece] for piece in pieces], self._calibration) for pieces in found]

    def _pieces(self, texts: Sequence[str]) -> list[Pieces]:
        blocks = [cut(readable(text)).blocks for text in texts]
        ids = iter(self._tokenizer.ids([block for own in blocks for block in own]))
        return [[piece for _ in own for piece in self._parts(next(ids))] for own in blocks]

    def _parts(self, ids: TokenIds) -> Pieces:
        return [self._tokenizer.text(ids[start:end]) for start, end in balanced(len(ids), self._most)]


async def open_injection_classifier(
    settings: InferenceSettings, repository: ModelRepository | None = None
) -> EncoderInjectionClassifier:
    """Verify the classifier's files, load it and return it ready to serve.

    Args:
        settings: name the model and its backend.
        repository: where it lies; ``None`` = as the settings say.

    Raises:
        ModelRepositoryError: a file is missing or not the pinned one, or the parts do not fit together.
        UnavailableError: MODEL_UNAVAILABLE: Triton did not have the model ready in time.
    """
    source = repository if repository is not None else await asyncio.to_thread(open_repository, settings)
    choice = ModelChoice(settings.injection_model, "injection")
    return await open_model(settings, source, choice, EncoderInjectionClassifier)


def _essentials(entry: ModelEntry) -> tuple[PiecewiseLinearCalibration, int]:
    if entry.calibration is None or entry.max_tokens is None:
        raise ModelRepositoryError(
            f"MANIFEST.json: the classifier of injections {entry.name} needs calibration and max_tokens"
        )
    if len(entry.outputs) != 1 or entry.outputs[0].shape != (-1, 1):
        raise ModelRepositoryError(f"MANIFEST.json: the classifier {entry.name} needs one output, a logit per text")
    return PiecewiseLinearCalibration(entry.calibration.raw, entry.calibration.calibrated), entry.max_tokens
