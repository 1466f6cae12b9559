"""The guard in a process of its own for ``bench.guard``: served over gRPC on loopback, what its encoders did noted.

The process answers two orders on its pipe: ``begin`` forgets what was noted, ``bare`` computes
the same items again by bare ONNX Runtime, sorted by length, in the batch size that is the best of several.
"""

import asyncio
import logging
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.dpe import BATCH_SIZES, Ledger, RecordedRecognizer, Recorder
from bench.encoders import Bare, feed
from evaluation.guard.own_guard import own_settings
from services.common.adapters.onnx.session import WEIGHTS_FILE
from services.common.composition import Adapters
from services.common.model_repository import open_repository
from services.common.rpc.main import running_server
from services.common.settings import Settings
from services.common.settings.telemetry import TelemetrySettings
from services.common.telemetry import configure_logs
from services.dpe.compose import build

if TYPE_CHECKING:
    from services.common.ports.entailment import EntailmentModel
    from services.common.ports.grounding import GroundingModel
    from services.common.ports.recognition import EntityRecognizer

START_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class Bared:
    """What bare ONNX Runtime takes for the items, and the recogniser alone for its texts, in seconds."""

    onnx_s: float
    recognizer_s: float
    items: int


@dataclass(frozen=True, slots=True)
class GuardServer:
    """A guard in another process."""

    port: int
    pipe: Connection

    def begin(self) -> None:
        """Forget what the encoders did so far."""
        self._ask("begin")

    def bared(self) -> Bared:
        """Compute what the encoders did since then once more, by bare ONNX Runtime."""
        return Bared(*self._ask("bare"))

    def _ask(self, order: str) -> Any:
        self.pipe.send(order)
        return self.pipe.recv()


class NotedAdapters(Adapters):
    """A process's adapters; what the recogniser reads is noted, and on request there are no encoders that judge."""

    def __init__(self, settings: Settings, recorder: Recorder, *, judges: bool) -> None:
        super().__init__(settings)
        self._recorder = recorder
        self._judges = judges

    async def entity_recognizer(self) -> "EntityRecognizer":
        """Return the recogniser, noted."""
        return RecordedRecognizer(await super().entity_recognizer(), self._recorder)

    async def entailment(self) -> "EntailmentModel | None":
        """Return the NLI encoder, none without judges."""
        return await super().entailment() if self._judges else None

    async def grounding(self) -> "GroundingModel | None":
        """Return the grounding model, none without judges."""
        return await super().grounding() if self._judges else None


@contextmanager
def serving(*, judges: bool) -> Iterator[GuardServer]:
    """Serve the guard until the block ends.

    Args:
        judges: with the entailment and grounding models, or without them.

    Raises:
        RuntimeError: it did not start.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, judges), daemon=False)
    process.start()
    try:
        if not ours.poll(START_S):
            raise RuntimeError("the guard did not start")
        yield GuardServer(ours.recv(), ours)
    finally:
        if process.is_alive():
            ours.send(None)
        process.join(30)
        if process.is_alive():
            process.terminate()


def _serve(pipe: Connection, judges: bool) -> None:
    logging.disable()
    with Path(os.devnull).open("w", encoding="utf-8") as sink:
        configure_logs(TelemetrySettings(), sink)
        asyncio.run(_until_told(pipe, judges=judges))


async def _until_told(pipe: Connection, *, judges: bool) -> None:
    recorder = Recorder()
    with tempfile.TemporaryDirectory(prefix="groundtrail-bench-guard-") as name:
        settings = own_settings(Settings(), Path(name))
        async with (
            NotedAdapters(settings, recorder, judges=judges) as adapters,
            running_server("bench", build, settings, adapters=adapters) as server,
        ):
            pipe.send(server.port)
            loop = asyncio.get_running_loop()
            while (order := await loop.run_in_executor(None, pipe.recv)) is not None:
                if order == "begin":
                    recorder.ledger = Ledger()
                    pipe.send(None)
                else:
                    pipe.send(await _bare(settings, adapters, recorder.ledger))


async def _bare(settings: Settings, adapters: Adapters, ledger: Ledger) -> tuple[float, float, int]:
    repository, total, count = open_repository(settings.inference), 0.0, 0
    texts = list(ledger.texts)
    for name, items in ledger.items().items():
        ordered = sorted(items, key=len)
        session = Bare(repository.folder(name) / WEIGHTS_FILE, settings.inference.intra_op_threads)
        total += min(
            session.seconds([feed(ordered[at : at + size]) for at in range(0, len(ordered), size)])
            for size in BATCH_SIZES
        )
        count += len(items)
    recognizer = await Adapters.entity_recognizer(adapters)
    started = time.perf_counter()
    for some in texts:
        await recognizer.recognize(some)
    return total, time.perf_counter() - started, count
