"""``GroundingModel`` over any encoder backend: reading, combiner, verdict."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from services.common.adapters.encoders.backed import BackedEncoder
from services.common.adapters.encoders.backend import EncoderBackend
from services.common.adapters.encoders.grounding_reading import GroundingReader, Reading
from services.common.adapters.encoders.opening import ModelChoice, open_model
from services.common.adapters.encoders.reranking import EncoderReranker
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.adapters.encoders.trunks import SharedBackends
from services.common.computing import compute
from services.common.grounding.combiner import PRODUCT, Combiner, CombinerError, logistic, parse_combiner
from services.common.grounding.signals import SIGNALS
from services.common.grounding.spans import doubtful_spans
from services.common.model_repository import ModelRepository, ModelRepositoryError, open_repository
from services.common.ports.grounding import GroundingRequest, GroundingVerdict, UnsupportedSpan
from services.common.settings.inference import InferenceSettings

COMBINER_FILE: Final = "combiner.json"
SUPPORT_BY_SIGNALS: Final = "support_by_signals"
"""Last of a verdict's signals: what they say together, without the encoder; a calibrated probability."""
IN_PLACE_VERDICTS: Final = 8
"""Readings that are weighed on the event loop; more of them take it for milliseconds."""


class EncoderGroundingModel(BackedEncoder):
    """Judges claims; belongs to one event loop.

    A verdict rests on the encoder and on aligned signals (ADR 0034). Where there is nothing to read (no passage, or
    none with a word in it), nothing is supported: ``support`` is 0 and ``encoder_support`` is ``None``. A claim that
    counts as supported has no spans.

    Args:
        backend: runs the encoder.
        tokenizer: the encoder's own.
        combiner: weighs what it says.

    Raises:
        ModelRepositoryError: the manifest's outputs or ``max_tokens`` do not fit.
    """

    def __init__(self, backend: EncoderBackend, tokenizer: EncoderTokenizer, combiner: Combiner) -> None:
        super().__init__(backend)
        self._tokenizer = tokenizer
        self._combiner = combiner
        self._reader = GroundingReader(backend, tokenizer, combiner.windows)
        used = dict.fromkeys(part for name in combiner.signals.names for part in name.split(PRODUCT))
        self._shown = tuple((name, SIGNALS.index(name)) for name in used)

    @property
    def fingerprint(self) -> str:
        """``name@version+sha256:<16 hex>`` over weights, tokenizer and combiner."""
        return self._backend.entry.fingerprint

    def reranker(self) -> EncoderReranker:
        """Return a reranker over the same encoder; it lives as long as this model."""
        return EncoderReranker(self._backend, self._tokenizer)

    @property
    def threshold(self) -> float:
        """At or above this ``support`` a claim counts as supported; from ``combiner.json``."""
        return self._combiner.both.threshold

    async def judge(self, requests: Sequence[GroundingRequest]) -> list[GroundingVerdict]:
        """Return one verdict per request, in order.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        readings = await self._reader.read(requests)
        if len(readings) <= IN_PLACE_VERDICTS:
            return self._verdicts(readings)
        return await compute(self._verdicts, readings)

    def _verdicts(self, readings: Sequence[Reading]) -> list[GroundingVerdict]:
        return [self._verdict(reading) for reading in readings]

    def _verdict(self, reading: Reading) -> GroundingVerdict:
        alone = float(self._combiner.support_by_signals(reading.signals[None, :])[0])
        shown = (*((name, float(reading.signals[place])) for name, place in self._shown), (SUPPORT_BY_SIGNALS, alone))
        if reading.encoder is None:
            return GroundingVerdict(0.0, supported=False, encoder_support=None, signals=shown, spans=(), evidence=())
        support = float(self._combiner.support(reading.signals[None, :], reading.encoder[None, :])[0])
        bounds = self._combiner.undecided
        undecided = bounds is not None and bounds[0] <= support < bounds[1]
        supported = support >= self.threshold and not undecided
        spans = () if supported else doubtful_spans(reading.doubts, self._combiner.span_threshold)
        return GroundingVerdict(
            support=support,
            supported=supported,
            encoder_support=float(logistic(np.array(reading.encoder[0]))),
            signals=shown,
            spans=tuple(UnsupportedSpan(span.start, span.end, span.score) for span in spans),
            evidence=reading.evidence,
            undecided=undecided,
        )


async def open_grounding(
    settings: InferenceSettings,
    repository: ModelRepository | None = None,
    shared: SharedBackends | None = None,
    named_by: str | None = None,
) -> EncoderGroundingModel:
    """Verify the grounding model's files, load it and return it ready to serve.

    Args:
        settings: names the model and its backend; sets threads and the queue's bound.
        repository: where it lies; ``None`` = as the settings say.
        shared: the process's backends, so that models of one trunk use one; ``None`` = one of its own.
        named_by: the setting that names the model, for messages; ``None`` = the one for its kind.

    Raises:
        ModelRepositoryError: a file is missing or not the pinned one, or the parts do not fit together.
        UnavailableError: MODEL_UNAVAILABLE: Triton did not have the model ready in time.
    """
    source = repository if repository is not None else await asyncio.to_thread(open_repository, settings)
    name = settings.grounding_model

    def build(backend: EncoderBackend, tokenizer: EncoderTokenizer) -> EncoderGroundingModel:
        return EncoderGroundingModel(backend, tokenizer, read_combiner(source, name))

    return await open_model(settings, source, ModelChoice(name, "grounding", named_by), build, shared)


def read_combiner(repository: ModelRepository, name: str) -> Combiner:
    """Read a verified model's combiner: ``combiner.json``, or the one that a calibration of the user's own wrote.

    Raises:
        ModelRepositoryError: it is not listed, cannot be read, or is no combiner.
    """
    listed = next((file for file in repository.entry(name).files if file.role == "combiner"), None)
    path: Path = repository.folder(name) / (COMBINER_FILE if listed is None else listed.path)
    if listed is None:
        raise ModelRepositoryError(
            f"{path} is not listed in MANIFEST.json as combiner; `python -m training.combiner` makes it."
        )
    try:
        return parse_combiner(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, CombinerError) as error:
        raise ModelRepositoryError(f"{path}: {error}") from error
