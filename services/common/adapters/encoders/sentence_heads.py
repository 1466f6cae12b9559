"""``SentenceHeads`` over the entailment model's own graph, read from inside (ADR 0118)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from services.common.adapters.encoders.backed import BackedEncoder
from services.common.adapters.encoders.backend import EncoderBackend, Outputs, TokenIds
from services.common.adapters.encoders.opening import verified_entry
from services.common.adapters.encoders.tokenizer import EncoderTokenizer, off_the_loop
from services.common.adapters.encoders.trunks import OutputView
from services.common.adapters.encoders.windows import balanced
from services.common.computing import compute
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError, Tensor, open_repository
from services.common.ports.sentence_heads import HeadsReading, Sighting
from services.common.queue_counts import QueueCounts
from services.common.sentence_heads.features import Values, entailments, marks, overlaps, pair_marks
from services.common.sentence_heads.model import HeadGroup, SentenceHeads, SentenceHeadsError, parse_heads
from services.common.settings.inference import InferenceSettings

HEADS_FILE: Final = "sentence_heads.json"
GOLDEN_FILE: Final = "heads_golden.json"
HEADS_NAME: Final = "sentence-heads"
COMMAND: Final = "python -m training.sentence_heads"
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """What the encoder makes of sentences and pairs of them.

    Attributes:
        sentences: per sentence the means of its states; shape ``(sentences, states x width)``.
        pairs: which pairs were read, by their place among those asked for; one that is too long is not.
        logits: of each of these, those of the second before the first behind those of the first.
        states: the same of the means of its states.
    """

    sentences: Values
    pairs: tuple[int, ...]
    logits: Values
    states: Values


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the encoder reads: windows of each sentence, then both orders of each pair that fits."""

    windows: list[list[TokenIds]]
    pairs: tuple[int, ...]
    both: list[TokenIds]


class SentenceEncoder(BackedEncoder):
    """Reads sentences and pairs with the entailment model and takes means of its inner states; of one event loop.

    A sentence beyond ``max_tokens`` is read in windows of equal length, weighted by their tokens (ADR 0032); a pair
    beyond it is not read.

    Args:
        backend: runs the model; its first output is a pair's logits, those behind it have one row a token.
        tokenizer: the model's own.
    """

    def __init__(self, backend: EncoderBackend, tokenizer: EncoderTokenizer) -> None:
        super().__init__(backend)
        self._tokenizer = tokenizer
        assert backend.entry.max_tokens is not None
        self._most = backend.entry.max_tokens
        self._classes = backend.entry.outputs[0].shape[-1]

    async def read(self, sentences: Sequence[str], pairs: Sequence[Pair]) -> SentenceVectors:
        """Return what the encoder makes of sentences and pairs, all in one batch.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        plan = await off_the_loop(sentences, lambda texts: self._plan(texts, pairs))
        singles = [ids for own in plan.windows for ids in own]
        outputs = await self._backend.run([*singles, *plan.both])
        return await compute(self._vectors, plan, outputs)

    def _vectors(self, plan: _Plan, outputs: Sequence[Outputs]) -> SentenceVectors:
        rest = iter(outputs)
        read = [_mean([next(rest) for _ in own], [len(ids) for ids in own]) for own in plan.windows]
        both = [(output[0].astype(np.float64), _state_means(output)) for output in rest]
        width = sum(state.shape[-1] for state in outputs[0][1:])
        return SentenceVectors(
            sentences=np.array(read),
            pairs=plan.pairs,
            logits=np.array([logits for logits, _ in both]).reshape(-1, 2 * self._classes),
            states=np.array([states for _, states in both]).reshape(-1, 2 * width),
        )

    def _plan(self, sentences: Sequence[str], pairs: Sequence[Pair]) -> _Plan:
        ids, tokenizer = self._tokenizer.ids(sentences), self._tokenizer
        room = self._most - tokenizer.text_specials
        windows = [[tokenizer.text(own[start:end]) for start, end in balanced(len(own), room)] for own in ids]
        fit = self._most - tokenizer.pair_specials
        kept = tuple(place for place, (one, other) in enumerate(pairs) if len(ids[one]) + len(ids[other]) <= fit)
        both = [
            tokenizer.pair(ids[one], ids[other]) for place in kept for one, other in (pairs[place], pairs[place][::-1])
        ]
        return _Plan(windows, kept, both)


class EncoderSentenceHeads:
    """``SentenceHeads`` over the entailment model; belongs to one event loop.

    Args:
        encoder: the one that the heads were fitted on, with their inner states.
        heads: their weights and bounds.
        digest: SHA-256 of the heads' file.
    """

    def __init__(self, encoder: SentenceEncoder, heads: SentenceHeads, digest: str) -> None:
        self._encoder = encoder
        self._heads = heads
        self._fingerprint = f"{HEADS_NAME}@{heads.version}+sha256:{digest[:16]}"

    @property
    def fingerprint(self) -> str:
        """``sentence-heads@version+sha256:<16 hex>`` over the file, which names the encoder's own fingerprint."""
        return self._fingerprint

    async def read(self, sentences: Sequence[str], pairs: Sequence[Pair]) -> HeadsReading:
        """Read sentences and pairs of them, all in one batch of the encoder.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        if not sentences:
            return HeadsReading((), ())
        asked = pairs if self._heads.relations.heads else ()
        vectors = await self._encoder.read(sentences, asked)
        return await compute(self._read, sentences, pairs, vectors)

    @property
    def queue_counts(self) -> QueueCounts:
        """What the queue in front of the encoder counts."""
        return self._encoder.queue_counts

    @property
    def at_rest(self) -> bool:
        """Whether its first use would load the encoder."""
        return self._encoder.at_rest

    async def check(self) -> None:
        """Return when the heads can serve.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        await self._encoder.check()

    async def close(self) -> None:
        """Release the encoder; idempotent."""
        await self._encoder.close()

    def _read(self, sentences: Sequence[str], pairs: Sequence[Pair], vectors: SentenceVectors) -> HeadsReading:
        kinds = sightings(self._heads.kinds, vectors.sentences, [marks(each) for each in sentences])
        relations: list[Mapping[str, Sighting]] = [{} for _ in pairs]
        texts = [(sentences[pairs[place][0]], sentences[pairs[place][1]]) for place in vectors.pairs]
        if texts:
            numbers = pair_numbers(texts, vectors, [pairs[place] for place in vectors.pairs])
            found = sightings(self._heads.relations, numbers, [pair_marks(*each) for each in texts])
            for place, each in zip(vectors.pairs, found, strict=True):
                relations[place] = each
        return HeadsReading(kinds, tuple(relations))


def pair_numbers(texts: Sequence[tuple[str, str]], vectors: SentenceVectors, pairs: Sequence[Pair]) -> Values:
    """Return what relations weigh of pairs in numbers: overlaps, what the model says both ways, means of its states.

    Args:
        texts: the pairs that were read.
        vectors: of their sentences and of them.
        pairs: the same pairs, by the numbers of their sentences.
    """
    rows = vectors.sentences / np.linalg.norm(vectors.sentences, axis=1, keepdims=True)
    shared = [overlaps(*both, float(rows[one] @ rows[other])) for both, (one, other) in zip(texts, pairs, strict=True)]
    return np.hstack([np.array(shared), entailments(vectors.logits), vectors.states])


def sightings(group: HeadGroup, numbers: Values, found: Sequence[frozenset[str]]) -> tuple[Mapping[str, Sighting], ...]:
    """Return what each head says of each row."""
    return tuple(
        {
            head.name: Sighting(float(each), head.verdict(float(each)))
            for head, each in zip(group.heads, row, strict=True)
        }
        for row in group.probabilities(numbers, found)
    )


async def open_sentence_heads(
    settings: InferenceSettings, repository: ModelRepository | None = None
) -> EncoderSentenceHeads | None:
    """Verify entailment model and heads and return them; ``None`` where the model comes without heads.

    ONNX Runtime in the process computes the inner states whatever backend serves the other models: Triton serves the
    delivered graph, which gives the logits alone. The graph is loaded by its first use.

    Args:
        settings: name the model; set threads and the queue's bound.
        repository: where it lies; ``None`` = as the settings say.

    Raises:
        ModelRepositoryError: a file is missing or not the pinned one, or the heads belong to other weights.
    """
    source = repository if repository is not None else await asyncio.to_thread(open_repository, settings)
    entry = await asyncio.to_thread(verified_entry, source, settings.entailment_model, "entailment")
    listed = entry.file(HEADS_FILE)
    if listed is None:
        return None
    heads = await asyncio.to_thread(read_heads, source, entry)
    return EncoderSentenceHeads(await open_sentence_encoder(settings, source, entry, heads), heads, listed.sha256)


async def open_sentence_encoder(
    settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry, heads: SentenceHeads
) -> SentenceEncoder:
    """Return a verified entailment model with the inner states that heads weigh.

    Raises:
        ModelRepositoryError: its entry lacks what is needed.
    """
    from services.common.adapters.onnx.backend import open_inner_states

    if entry.max_tokens is None:
        raise ModelRepositoryError(f"MANIFEST.json: the entailment model {entry.name} needs max_tokens")
    inner = [Tensor(name=name, dtype="float32", shape=(-1, -1, heads.width)) for name in heads.states]
    backend: EncoderBackend = await open_inner_states(settings, repository, repository.trunk(entry), inner)
    if entry.served_by is not None:
        backend = OutputView(backend, entry.model_copy(update={"outputs": (*entry.outputs, *inner)}))
    try:
        return SentenceEncoder(backend, await asyncio.to_thread(EncoderTokenizer.load, repository, entry.name))
    except Exception:
        await backend.close()
        raise


def read_heads(repository: ModelRepository, entry: ModelEntry) -> SentenceHeads:
    """Read a verified model's heads.

    Raises:
        ModelRepositoryError: they cannot be read, or were fitted on other weights.
    """
    path = Path(repository.folder(entry.name)) / HEADS_FILE
    try:
        heads = parse_heads(path.read_text(encoding="utf-8"))
    except (OSError, SentenceHeadsError) as error:
        raise ModelRepositoryError(f"{path}: {error}") from error
    if heads.encoder != entry.fingerprint:
        raise ModelRepositoryError(f"{path} was fitted on {heads.encoder}, not on {entry.fingerprint}: run `{COMMAND}`")
    return heads


def _mean(parts: Sequence[Outputs], lengths: Sequence[int]) -> Values:
    """Return the mean states of a sentence that was read in windows."""
    return np.asarray(np.average([_state_means(part) for part in parts], axis=0, weights=lengths))


def _state_means(outputs: Outputs) -> Values:
    return np.concatenate([state.astype(np.float64).mean(axis=0) for state in outputs[1:]])
