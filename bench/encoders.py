"""Every encoder of the model repository through the batching backend against bare ONNX Runtime, in the same run.

Bare: token ids of one length in batches without padding, straight into an ONNX Runtime session with the same file and
threads. Ours: the same items through the backend's ``run``, one call of 1, 8 or 32 items at a time, and from 32
concurrent callers whose items are of mixed lengths (bare: sorted by length, the best of several batch sizes). Rounds of
both alternate, so that a noisy machine disturbs both alike. Each model and thread count is measured in a process of its
own, so that start-up and memory are its own.

    python -m bench.encoders [--seconds S] [--models NAME…]

What the time did not suffice for is left out and said.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from bench.report import Row, machine, peak_memory_mib, show
from services.common.adapters.encoders.backend import EncoderBackend, TokenIds
from services.common.adapters.encoders.opening import COMMANDS, open_backend
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.adapters.onnx.session import WEIGHTS_FILE
from services.common.composition import Adapters
from services.common.model_repository import ModelRepository, open_repository
from services.common.settings import Settings
from services.common.settings.inference import InferenceSettings
from services.dpe.compose import build

LENGTHS: Final = (64, 128, 256)
BATCH_SIZES: Final = (1, 8, 32)
THREADS: Final = (1, 2)
CALLERS: Final = 32
CALLER_ITEMS: Final = 2
MIXED_LENGTHS: Final = (32, 128)
MIXED_BATCHES: Final = (4, 8, 16)
TARGET: Final = 0.9
"""Least ratio to bare ONNX Runtime under 32 concurrent callers."""
STARTUP_TARGET_S: Final = 3.0
CELL_S: Final = 1.5
"""A cell is measured in rounds until so many seconds are spent, at least once."""
MAX_ROUNDS: Final = 15
BUDGET_S: Final = 210.0
"""Seconds for everything; a process beyond its share leaves out what is left."""
FREQUENT: Final = (2_000, 20_000)
"""Ids that every vocabulary gives to ordinary words."""
SEED: Final = 20_250_101
MIB: Final = 1024 * 1024

Feed: TypeAlias = dict[str, NDArray[np.int64]]


def items_of(lengths: Sequence[int]) -> list[TokenIds]:
    """Return items of random ordinary ids; the same on every machine."""
    chance = np.random.default_rng(SEED)
    return [tuple(chance.integers(*FREQUENT, length).tolist()) for length in lengths]


def feed(items: Sequence[TokenIds]) -> Feed:
    """Return a batch as ONNX Runtime takes it; shorter items are padded."""
    width = max(map(len, items))
    ids = np.array([[*item, *[0] * (width - len(item))] for item in items], dtype=np.int64)
    mask = np.array([[1] * len(item) + [0] * (width - len(item)) for item in items], dtype=np.int64)
    return {"input_ids": ids, "attention_mask": mask}


def resident_mib() -> float:
    """Return what of this process is in memory now; its peak where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return peak_memory_mib()
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB


class Bare:
    """An ONNX Runtime session with nothing around it."""

    def __init__(self, path: Path, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def seconds(self, feeds: Sequence[Feed]) -> float:
        """Return how long it takes to compute the batches."""
        started = time.perf_counter()
        for one in feeds:
            self._session.run(None, one)
        return time.perf_counter() - started


async def seconds(work: Callable[[], Awaitable[object]]) -> float:
    """Return how long it takes."""
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


async def alternating(ours: Callable[[], Awaitable[object]], bare: Callable[[], float]) -> tuple[float, float, int]:
    """Return the median seconds of ours, the median ratio of bare to ours, and the rounds."""
    own: list[float] = []
    ratios: list[float] = []
    bare()
    before = bare()
    started = time.perf_counter()
    while not own or (len(own) < MAX_ROUNDS and time.perf_counter() - started < CELL_S):
        own.append(await seconds(ours))
        after = bare()
        ratios.append((before + after) / 2 / own[-1])  # against the bare rounds just before and after it
        before = after
    return statistics.median(own), statistics.median(ratios), len(own)


async def cells(name: str, threads: int, backend: EncoderBackend, bare: Bare, until: float) -> list[Row]:
    """Measure every length and batch size that there is time for, short ones first."""
    rows = []
    for length, size in ((length, size) for size in BATCH_SIZES for length in LENGTHS):
        label = f"{name}, {threads} thread{'s' * (threads > 1)}, {length} tokens, batch {size}"
        if time.perf_counter() > until:
            rows.append(Row(label, 0.0, "items/s", note="not measured: no time left"))
            continue
        items = items_of([length] * size)
        batch = [feed(items)]
        took, ratio, rounds = await alternating(partial(backend.run, items), partial(bare.seconds, batch))
        rows.append(Row(label, size / took, "items/s", f"bare, batch {size}", ratio, note=f"{rounds} rounds"))
    return rows


async def concurrent(name: str, threads: int, backend: EncoderBackend, bare: Bare) -> Row:
    """Measure 32 callers that each send one item after another."""
    spread = np.linspace(*MIXED_LENGTHS, CALLERS * CALLER_ITEMS).round().astype(int).tolist()
    items = items_of(np.random.default_rng(SEED).permutation(spread).tolist())
    ordered = sorted(items, key=len)
    per_size = {
        size: [feed(ordered[start : start + size]) for start in range(0, len(ordered), size)] for size in MIXED_BATCHES
    }
    best = min(per_size, key=lambda size: bare.seconds(per_size[size]))

    async def caller(own: Sequence[TokenIds]) -> None:
        for item in own:
            await backend.run([item])

    async def everyone() -> None:
        await asyncio.gather(*(caller(items[start::CALLERS]) for start in range(CALLERS)))

    took, ratio, rounds = await alternating(everyone, lambda: bare.seconds(per_size[best]))
    label = f"{name}, {threads} thread{'s' * (threads > 1)}, {CALLERS} concurrent callers"
    note = f"{MIXED_LENGTHS[0]} to {MIXED_LENGTHS[1]} tokens, {rounds} rounds"
    return Row(label, len(items) / took, "items/s", f"bare, sorted, batch {best}", ratio, TARGET, note)


async def measure_model(name: str, threads: int, budget_s: float) -> list[Row]:
    """Measure one model with so many threads: start-up and memory, concurrent callers, then the cells."""
    until = time.perf_counter() + budget_s
    settings = InferenceSettings(intra_op_threads=threads)
    repository = open_repository(settings)
    kind = repository.entry(name).kind
    if kind not in COMMANDS:
        raise SystemExit(f"{name} is a model for {kind}; encoders are {', '.join(encoders(repository))}")
    memory = resident_mib()
    started = time.perf_counter()
    backend = await open_backend(settings, repository, name, kind)
    EncoderTokenizer.load(repository, name)
    opened_s = time.perf_counter() - started
    rows = []
    try:
        await backend.run(items_of([LENGTHS[0]] * BATCH_SIZES[1]))
        if threads == THREADS[0]:
            size = (repository.folder(name) / WEIGHTS_FILE).stat().st_size / MIB
            rows = [
                Row(f"{name}, start-up", opened_s, "s", note="digests, session and tokenizer"),
                Row(
                    f"{name}, resident", resident_mib() - memory, "MiB", note=f"its weights are {size:.0f} MiB on disk"
                ),
            ]
        bare = Bare(repository.folder(name) / WEIGHTS_FILE, threads)
        if threads == THREADS[-1]:
            rows.append(await concurrent(name, threads, backend, bare))
        rows += await cells(name, threads, backend, bare, until)
    finally:
        await backend.close()
    return rows


async def measure_startup() -> list[Row]:
    """Measure how long the provenance service takes until it has every model it uses, and their memory."""
    before = resident_mib()
    started = time.perf_counter()
    async with Adapters(Settings()) as adapters:
        await build(adapters.settings, adapters)
        took = time.perf_counter() - started
        memory = resident_mib() - before
    target = f"target: under {STARTUP_TARGET_S:.0f} s"
    return [
        Row("provenance service, all its models, start-up", took, "s", note=target),
        Row("provenance service, all its models, resident", memory, "MiB"),
    ]


def encoders(repository: ModelRepository) -> list[str]:
    """Return the models that a text model over an encoder backend can stand on."""
    return [entry.name for entry in repository.models if entry.kind in COMMANDS and entry.served_by is None]


def measured(names: Sequence[str], budget_s: float) -> Iterator[Row]:
    """Run a process per model and thread count, and yield what they measured."""
    yield from _child(["--startup"])
    left = [(name, threads) for name in names for threads in THREADS]
    ends = time.perf_counter() + budget_s
    for number, (name, threads) in enumerate(left):
        share = max(0.0, ends - time.perf_counter()) / (len(left) - number)
        yield from _child(["--one", name, "--threads", str(threads), "--seconds", f"{share:.1f}"])


def main() -> int:
    """Print the table; 1 = a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.encoders", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=BUDGET_S, help="for everything")
    parser.add_argument("--models", nargs="*", help="which ones; all when not given")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=THREADS[0], help=argparse.SUPPRESS)
    parser.add_argument("--startup", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.startup or options.one:
        work = measure_startup() if options.startup else measure_model(options.one, options.threads, options.seconds)
        print(json.dumps([asdict(row) for row in asyncio.run(work)]))
        return 0
    names = options.models or encoders(open_repository(InferenceSettings()))
    rows = list(measured(names, options.seconds))
    show(f"Encoders ({machine()})", rows)
    return int(any(row.ratio is not None and row.target is not None and row.ratio < row.target for row in rows))


def _child(arguments: Sequence[str]) -> list[Row]:
    command = [sys.executable, "-m", "bench.encoders", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


if __name__ == "__main__":
    sys.exit(main())
