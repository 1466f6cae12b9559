"""Natural language inference over any encoder backend: pairs, windows over long ones, calibrated probabilities."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.encoders.backed import BackedEncoder
from services.common.adapters.encoders.backend import EncoderBackend, TokenIds
from services.common.adapters.encoders.opening import ModelChoice, open_model
from services.common.adapters.encoders.tokenizer import EncoderTokenizer, off_the_loop
from services.common.adapters.encoders.trunks import SharedBackends
from services.common.adapters.encoders.windows import most_decided, readings, together
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError, open_repository
from services.common.settings.inference import InferenceSettings

LABELS: Final = ("entailment", "neutral", "contradiction")
"""The port's order; a model's own order is in the manifest."""
MIN_BUDGET: Final = 16
"""Fewer tokens than this for premise and hypothesis together make no sense of either."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """How a model's logits become the port's probabilities."""

    order: tuple[int, ...]
    temperature: float
    max_tokens: int


class EncoderEntailmentModel(BackedEncoder):
    """``EntailmentModel`` over an encoder; belongs to one event loop.

    A pair beyond ``max_tokens`` is read in windows over the premise and, where the hypothesis is longer than half of
    what is read at once, in pieces of it (ADR 0032).

    Args:
        backend: runs the model; its one output has a logit per label.
        tokenizer: the model's own.

    Raises:
        ModelRepositoryError: the manifest lacks what an entailment model needs.
    """

    def __init__(self, backend: EncoderBackend, tokenizer: EncoderTokenizer) -> None:
        super().__init__(backend)
        self._tokenizer = tokenizer
        self._scale = _scale(backend.entry)
        self._budget = self._scale.max_tokens - tokenizer.pair_specials
        if self._budget < MIN_BUDGET:
            msg = f"MANIFEST.json: max_tokens of {backend.entry.name} leaves {self._budget} tokens for a pair"
            raise ModelRepositoryError(msg)

    @property
    def fingerprint(self) -> str:
        """``name@version+sha256:<16 hex>`` over weights and tokenizer."""
        return self._backend.entry.fingerprint

    @property
    def max_tokens(self) -> int:
        """Longest premise + hypothesis, special tokens included, that the encoder reads at once."""
        return self._scale.max_tokens

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return for each (premise, hypothesis) entailment, neutral, contradiction: shape ``(n, 3)``.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        plans = await off_the_loop(texts, lambda distinct: self._plan(pairs, distinct))
        items = [ids for plan in plans for windows in plan for ids in windows]
        outputs = await self._backend.run(items)
        rows = iter(self._probabilities(np.array([logits for (logits,) in outputs]).reshape(-1, len(LABELS))))
        scores = np.empty((len(pairs), len(LABELS)), dtype=np.float32)
        for number, plan in enumerate(plans):
            found = [most_decided(np.array([next(rows) for _ in windows])) for windows in plan]
            scores[number] = together(np.array(found))
        return scores

    def _plan(self, pairs: Sequence[tuple[str, str]], texts: Sequence[str]) -> list[list[list[TokenIds]]]:
        """Return per pair, per piece of its hypothesis, what the encoder reads."""
        known = dict(zip(texts, self._tokenizer.ids(texts), strict=True))
        return [self._items(known[premise], known[hypothesis]) for premise, hypothesis in pairs]

    def _items(self, premise: TokenIds, hypothesis: TokenIds) -> list[list[TokenIds]]:
        plan = readings(len(premise), hypothesis, self._budget, self._tokenizer.sentence_ends)
        return [
            [self._tokenizer.pair(premise[slice(*one.premise)], hypothesis[slice(*one.hypothesis)]) for one in windows]
            for windows in plan
        ]

    def _probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        scaled = logits[:, self._scale.order].astype(np.float64) / self._scale.temperature
        powers = np.exp(scaled - scaled.max(axis=1, keepdims=True)) if len(scaled) else scaled
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


async def open_entailment(
    settings: InferenceSettings,
    repository: ModelRepository | None = None,
    shared: SharedBackends | None = None,
    named_by: str | None = None,
) -> EncoderEntailmentModel:
    """Verify the entailment model's files, load it and return it ready to serve.

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
    choice = ModelChoice(settings.entailment_model, "entailment", named_by)
    return await open_model(settings, source, choice, EncoderEntailmentModel, shared)


def _scale(entry: ModelEntry) -> _Scale:
    if entry.softmax is None or entry.max_tokens is None:
        raise ModelRepositoryError(f"MANIFEST.json: the entailment model {entry.name} needs softmax and max_tokens")
    if sorted(entry.softmax.labels) != sorted(LABELS):
        raise ModelRepositoryError(
            f"MANIFEST.json: the labels of {entry.name} are {', '.join(entry.softmax.labels)}, not {', '.join(LABELS)}"
        )
    if [tensor.shape for tensor in entry.outputs] != [(-1, len(LABELS))]:
        raise ModelRepositoryError(f"MANIFEST.json: the entailment model {entry.name} needs one output of 3 logits")
    order = tuple(entry.softmax.labels.index(label) for label in LABELS)
    return _Scale(order, entry.softmax.temperature, entry.max_tokens)
