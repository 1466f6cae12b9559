"""Embedding throughput of the service's own path against bare ONNX Runtime, in the same run.

Bare: sentences that are already tokenised, sorted by length, in batches of the best of several sizes, straight into an
ONNX Runtime session with the same file and threads. Ours: concurrent ``embed`` calls of a few sentences each, with
tokenisation, queueing and batching. Rounds of both alternate, so that a noisy machine disturbs both alike.

    python -m bench.embedding
"""

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from tokenizers import Tokenizer

from bench.report import Row, machine, show
from services.common.adapters.encoders.backend import TokenIds
from services.common.adapters.encoders.embedding import EncoderEmbeddingModel, open_embedding
from services.common.adapters.encoders.tokenizer import TOKENIZER_FILE
from services.common.adapters.onnx.session import OnnxEncoder
from services.common.model_repository import ModelRepository, open_repository
from services.common.settings.inference import InferenceSettings

SENTENCES: Final = 256
CALL_TEXTS: Final = 6
"""Sentences of one call, about the claims of a short answer."""
ROUNDS: Final = 7
SELECTION_ROUNDS: Final = 2
BATCH_SIZES: Final = (8, 16, 32, 64)
TARGET: Final = 0.9
FREQUENT: Final = range(2_000, 12_000)
"""Ids of the tokenizer's whole, frequent words."""
SEED: Final = 20_250_101


def sentences(vocabulary: dict[str, int], count: int) -> list[str]:
    """Return distinct sentences of 5 to 60 words, the same on every machine."""
    chance = random.Random(SEED)  # noqa: S311 - a fixed workload, no secret
    words = sorted(word for word, number in vocabulary.items() if word.isalpha() and number in FREQUENT)
    lengths = [min(60, max(5, round(chance.lognormvariate(2.9, 0.5)))) for _ in range(count)]
    return [" ".join(chance.choice(words) for _ in range(length)).capitalize() + "." for length in lengths]


async def run() -> list[Row]:
    """Measure and return the rows: bare, ours, and one short text alone."""
    settings = InferenceSettings()
    repository = open_repository(settings)
    tokenizer = Tokenizer.from_file(str(repository.folder(settings.embedding_model) / TOKENIZER_FILE))
    texts = sentences(tokenizer.get_vocab(), SENTENCES)
    model = await open_embedding(settings, repository)
    try:
        return await _measure(model, _bare(settings, repository), texts)
    finally:
        await model.close()


def _bare(settings: InferenceSettings, repository: ModelRepository) -> OnnxEncoder:
    entry = repository.entry(settings.embedding_model)
    return OnnxEncoder(repository, entry, threads=settings.intra_op_threads)


async def _measure(model: EncoderEmbeddingModel, encoder: OnnxEncoder, texts: list[str]) -> list[Row]:
    ids = model.token_ids(texts)
    per_size = {size: max(_bare_rate(encoder, ids, size) for _ in range(SELECTION_ROUNDS)) for size in BATCH_SIZES}
    best = max(per_size, key=lambda size: per_size[size])
    bare = [_bare_rate(encoder, ids, best)]
    ours: list[float] = []
    for _ in range(ROUNDS):
        ours.append(await _rate(len(texts), lambda: _concurrent(model, texts)))
        bare.append(_bare_rate(encoder, ids, best))
    # Each of our rounds against the bare rounds just before and after it.
    ratio = statistics.median(own / statistics.mean(bare[i : i + 2]) for i, own in enumerate(ours))
    single = [await _rate(1, lambda: model.embed(texts[:1])) for _ in range(4 * ROUNDS)]
    calls = -(-len(texts) // CALL_TEXTS)
    sizes = ", ".join(f"{size}: {rate:.0f}" for size, rate in per_size.items())
    return [
        Row("bare ONNX Runtime", statistics.median(bare), "texts/s", note=f"best batch {best} of {{{sizes}}}"),
        Row(
            "embed()", statistics.median(ours), "texts/s", "bare ONNX Runtime", ratio, TARGET,
            f"{calls} concurrent calls of {CALL_TEXTS}, tokenisation included; ratio = median of {ROUNDS} rounds",
        ),
        Row("embed(), one text alone", 1000 / statistics.median(single), "ms", note="queue delay included"),
    ]  # fmt: skip


def _bare_rate(encoder: OnnxEncoder, ids: Sequence[TokenIds], size: int) -> float:
    ordered = sorted(ids, key=len)
    started = time.perf_counter()
    for start in range(0, len(ordered), size):
        encoder.encode(ordered[start : start + size])
    return len(ids) / (time.perf_counter() - started)


async def _rate(count: int, work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return count / (time.perf_counter() - started)


async def _concurrent(model: EncoderEmbeddingModel, texts: list[str]) -> None:
    calls = (texts[start : start + CALL_TEXTS] for start in range(0, len(texts), CALL_TEXTS))
    await asyncio.gather(*(model.embed(call) for call in calls))


def main() -> int:
    """Print the table; 1 = the target was missed."""
    rows = asyncio.run(run())
    show(f"Embedding throughput ({machine()})", rows)
    return int(any(row.ratio is not None and row.target is not None and row.ratio < row.target for row in rows))


if __name__ == "__main__":
    sys.exit(main())
