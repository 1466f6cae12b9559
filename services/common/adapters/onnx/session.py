"""An ONNX Runtime session over a transformer encoder: token ids in, the manifest's outputs of each item out."""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from services.common.adapters.encoders.backend import Outputs, TokenIds
from services.common.adapters.encoders.feeds import check_inputs, feeds
from services.common.adapters.encoders.outputs import checked
from services.common.adapters.onnx.abandonment import ended_by
from services.common.adapters.onnx.declaration import output_declaration
from services.common.errors import ErrorReason, UnavailableError
from services.common.model_repository import (
    ModelEntry,
    ModelRepository,
    ModelRepositoryError,
    Tensor,
    TensorSpec,
    check_tensors,
)

if TYPE_CHECKING:
    import onnxruntime

WEIGHTS_FILE: Final = "1/model.onnx"
EMBEDDING_WIDTH_STEP: Final = 4
"""Batches of an embedder are padded to a multiple of this width: its pooling is a product with one row, whose kernel
adds the last three tokens of a width in another order (ADR 0044). The other graphs have no such product."""
RUN_TOKENS: Final = 448
"""Padded tokens that one lane computes at once, about: what a layer of more holds leaves the processor's second cache,
and costs up to a quarter more a token; under a third of it the weights are read too often (ADR 0177)."""
PAIR_LANES: Final = 2
"""Parts of a batch of long pairs, at most: a thread of its own does a part's small operations without waiting for any
other, and on more processors the parts share the threads that are left, each taking them while the other does not."""
PART_TOKENS: Final = 112
"""Tokens of a part, at least, while another batch computes as well: each run reads all weights once, so that a few
tokens cost up to twice as much each, and the processors have enough to do. A batch alone is shared by all lanes."""
_DTYPES: Final = {
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(bool)": "bool",
}


class OnnxEncoder:
    """Runs batches of token ids. Thread-safe; ONNX Runtime releases the interpreter while it computes.

    Args:
        repository: where the model lies; its files must have been verified.
        entry: the model's manifest entry; the graph's tensors must be those it names.
        threads: threads of one inference; 0 = as many as the process may run on. Each part of a batch has one of its
            own, those that are left are shared by the parts.
        inner: values inside the graph that become further outputs, the last; the file stays as it is.

    Raises:
        ModelRepositoryError: the graph cannot be loaded, its tensors differ from the manifest's, or it is no encoder.
    """

    def __init__(
        self, repository: ModelRepository, entry: ModelEntry, *, threads: int, inner: Sequence[Tensor] = ()
    ) -> None:
        path = repository.folder(entry.name) / WEIGHTS_FILE
        check_inputs(entry)
        if inner:
            entry = entry.model_copy(update={"outputs": (*entry.outputs, *inner)})
        self.entry: Final = entry
        """The manifest's entry, with the inner values among its outputs."""
        self._entry = entry
        self._lanes = lanes_of(entry, threads)
        self._beside = ThreadPoolExecutor(max(1, self._lanes - 1), thread_name_prefix=f"{entry.name}-lane")
        self._session = _open_session(path, (threads or available_threads()) - self._lanes + 1, inner)
        own = entry.own is not None
        check_tensors(f"{path}: input", _specs(self._session.get_inputs()), entry.inputs, may_be_open=own)
        check_tensors(f"{path}: output", _specs(self._session.get_outputs()), entry.outputs, may_be_open=own)
        self._outputs = [tensor.name for tensor in entry.outputs]
        self._step = EMBEDDING_WIDTH_STEP if entry.kind == "embedding" else 1

    def encode(self, batch: Sequence[TokenIds]) -> list[Outputs]:
        """Return the outputs of each item, in order; shorter items are padded and masked.

        An item's outputs are the same bits whatever stands beside it in the batch (SPEC-005 §15; ADR 0044).

        Raises:
            UnavailableError: MODEL_UNAVAILABLE: ONNX Runtime could not compute it (out of memory, for instance), or
                what came back is not finite or not of its shape.
        """
        try:
            with ended_by(ends := _Ends()):
                return self._side_by_side(batch, ends)
        except UnavailableError:
            raise
        except Exception as error:
            raise UnavailableError(
                ErrorReason.MODEL_UNAVAILABLE,
                f"Model {self._entry.name} failed to compute a batch of {len(batch)} texts.",
                model=self._entry.name,
                cause=type(error).__name__,
            ) from error

    def _side_by_side(self, batch: Sequence[TokenIds], ends: "_Ends") -> list[Outputs]:
        """Compute a batch in parts of like lengths, one a lane; the calling thread takes the longest items."""
        lengths = [len(ids) for ids in batch]
        with COMPUTING as batches:
            return self._in_parts(batch, parts_of(lengths, self._lanes_for(sum(lengths), batches)), ends)

    def _lanes_for(self, tokens: int, batches: int) -> int:
        """Return how many lanes a batch of so many tokens takes while so many batches compute, this one included."""
        return self._lanes if batches <= 1 else min(self._lanes, max(1, tokens // PART_TOKENS))

    def _in_parts(self, batch: Sequence[TokenIds], parts: Sequence[Sequence[int]], ends: "_Ends") -> list[Outputs]:
        work = [([batch[place] for place in places], ends.options()) for places in parts]
        compute = self._run_by_run if self._entry.kind == "embedding" else self._run
        others = [self._beside.submit(compute, *one) for one in work[1:]]
        try:
            computed = [compute(*work[0])]
        finally:
            wait(others)
        computed += [other.result() for other in others]
        outputs = {
            place: found
            for places, part in zip(parts, computed, strict=True)
            for place, found in zip(places, part, strict=True)
        }
        return [outputs[place] for place in range(len(batch))]

    def _run_by_run(self, batch: Sequence[TokenIds], options: Any) -> list[Outputs]:
        """Compute a lane's part in runs that stay in the processor's cache; an item's bits do not depend on its run."""
        outputs: list[Outputs] = []
        for start, end in runs_of([self._width(len(ids)) for ids in batch], RUN_TOKENS):
            outputs += self._run(batch[start:end], options)
        return outputs

    def _run(self, batch: Sequence[TokenIds], options: Any) -> list[Outputs]:
        lengths = [len(ids) for ids in batch]
        width = self._width(max(lengths))
        outputs = self._session.run(self._outputs, feeds(self._entry, batch, width), options)
        return checked(self._entry, list(map(np.asarray, outputs)), lengths, width=width)

    def _width(self, longest: int) -> int:
        """Return the next step of width, but no more than the model reads."""
        stepped = -(-longest // self._step) * self._step
        return max(longest, min(stepped, self._entry.max_tokens or stepped))


class _Computing:
    """Counts the batches that this process computes at the moment; entered from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._batches = 0

    def __enter__(self) -> int:
        """Count one more and return how many there are now."""
        with self._lock:
            self._batches += 1
            return self._batches

    def __exit__(self, *_: object) -> None:
        """Count one less."""
        with self._lock:
            self._batches -= 1


COMPUTING: Final = _Computing()
"""Over all models of the process."""


class _Ends:
    """Ends every part of a batch that computes; called from any thread."""

    def __init__(self) -> None:
        self._options: list[Any] = []
        self._ended = False

    def options(self) -> Any:
        """Return the options of one more part."""
        options = _runtime().RunOptions()
        self._options.append(options)
        if self._ended:
            options.terminate = True
        return options

    def __call__(self) -> None:
        """End them."""
        self._ended = True
        for options in list(self._options):
            options.terminate = True


def graph_tensors(path: Path) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """Load a graph for a look at its inputs and outputs, in its own order.

    Raises:
        ModelRepositoryError: it cannot be loaded.
    """
    session = _open_session(path, 1, ())
    return tuple(_specs(session.get_inputs())), tuple(_specs(session.get_outputs()))


def lanes_of(entry: ModelEntry, threads: int) -> int:
    """Return how many parts of a batch are computed side by side, each by a thread of its own.

    A sentence is too little work to be shared: threads on one spend much of the processors' time waiting for one
    another (ADR 0113). The other encoders read long pairs, which more threads than two read sooner together.
    """
    most = threads or available_threads()
    return most if entry.kind == "embedding" else min(PAIR_LANES, most)


def parts_of(lengths: Sequence[int], lanes: int) -> list[list[int]]:
    """Return the places of items in at most ``lanes`` parts of like lengths and equal work, the longest first."""
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    share = sum(lengths) / lanes
    parts: list[list[int]] = []
    taken = 0
    for place in order:
        if not parts or (taken >= share * len(parts) and len(parts) < lanes):
            parts.append([])
        parts[-1].append(place)
        taken += lengths[place]
    return parts


def runs_of(widths: Sequence[int], tokens: int) -> list[tuple[int, int]]:
    """Cut items, the longest first, into runs of at most ``tokens``, each item padded to the first of its run.

    Returns:
        Where each run starts and ends. One item at least makes a run, however long it is.
    """
    starts = [0]
    for place, _ in enumerate(widths):
        if place > starts[-1] and (place + 1 - starts[-1]) * widths[starts[-1]] > tokens:
            starts.append(place)
    return list(zip(starts, [*starts[1:], len(widths)], strict=True))


def available_threads() -> int:
    """Return how many threads this process may run at once."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _open_session(path: Path, threads: int, inner: Sequence[Tensor]) -> "onnxruntime.InferenceSession":
    options = _runtime().SessionOptions()
    options.intra_op_num_threads = threads or available_threads()
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that wait for one another spinning take a fifth of the processors' time from whatever else there is to do.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Lengths vary from batch to batch: a plan per shape would only be kept, never used again.
    options.enable_mem_pattern = False
    _share_arena()
    options.add_session_config_entry("session.use_env_allocators", "1")
    try:
        source = path.read_bytes() + b"".join(map(output_declaration, inner)) if inner else str(path)
        return _runtime().InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ModelRepositoryError(f"{path} cannot be loaded: {error}") from error


@cache
def _share_arena() -> None:
    """Let all sessions take their scratch memory from one arena, which keeps what the largest batch took.

    With one each, every model keeps that much for itself though they seldom compute at the same time.
    """
    runtime = _runtime()
    memory = runtime.OrtMemoryInfo("Cpu", runtime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, runtime.OrtMemType.DEFAULT)
    # Its own defaults: no bound, chunks that double.
    defaults = {
        "max_mem": 0,
        "arena_extend_strategy": -1,
        "initial_chunk_size_bytes": -1,
        "max_dead_bytes_per_chunk": -1,
    }
    runtime.create_and_register_allocator(memory, runtime.OrtArenaCfg(defaults))


def _runtime() -> Any:
    """Return the library, loaded with the first model: a process that serves none has no need of it."""
    import onnxruntime

    return onnxruntime


def _specs(nodes: Sequence[Any]) -> list[TensorSpec]:
    return [
        TensorSpec(
            node.name,
            _DTYPES.get(node.type, node.type),
            tuple(size if isinstance(size, int) else -1 for size in node.shape),
        )
        for node in nodes
    ]
