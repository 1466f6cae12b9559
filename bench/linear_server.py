"""The process that ``bench.linear`` measures: the whole suite over SQLite, its encoders without their arithmetic.

Tokenizers, windows, signals and everything else around inference are the real ones; only what ONNX Runtime would
compute is replaced, by vectors and scores that depend on the tokens, so that what is measured is the suite's own work.
The recogniser of names and the detector of personal data are real unless ``recogniser`` is false.
"""

import argparse
import asyncio
import json
import os
import secrets
import string
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import grpc
import numpy as np
from google.protobuf.wrappers_pb2 import StringValue

from services.allinone.compose import build_services
from services.common.adapters.encoders.backend import EncoderBackend, Outputs, TokenIds
from services.common.adapters.encoders.embedding import EncoderEmbeddingModel
from services.common.adapters.encoders.entailment import EncoderEntailmentModel
from services.common.adapters.encoders.grounding import EncoderGroundingModel, read_combiner
from services.common.adapters.encoders.sentence_heads import (
    HEADS_FILE,
    EncoderSentenceHeads,
    SentenceEncoder,
    read_heads,
)
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.api_key_format import hash_of, prefix_of
from services.common.collector import collect_at_rest, settle_collector
from services.common.composition import Adapters
from services.common.computing import compute, is_computing, settle_switching
from services.common.model_repository import ModelEntry, Tensor, open_repository
from services.common.ports.credentials import ApiKeyRecord
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.entailment import EntailmentModel
from services.common.ports.grounding import GroundingModel
from services.common.ports.personal_data import PersonalData, PersonalDataDetector, RecognisedText
from services.common.ports.recognition import EntityRecognizer
from services.common.ports.reranking import Reranker
from services.common.ports.sentence_heads import SentenceHeads
from services.common.queue_counts import QueueCounts
from services.common.rpc.main import running_server
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.http import HttpSettings
from services.common.settings.stores import StoreSettings
from services.common.telemetry import configure_logs

ECHO: Final = "/groundtrail.bench.v1.EchoService/Echo"
TENANTS: Final = ("writes", "reads")
_ROWS: Final = 4_096
_WIDTH: Final = 384


class StandInBackend:
    """``EncoderBackend`` without a model: outputs of the manifest's shapes, made of the tokens alone."""

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry
        self._counts = QueueCounts(entry.name)
        self._rows = np.random.default_rng(0).standard_normal((_ROWS, _WIDTH)).astype(np.float32)

    @property
    def entry(self) -> ModelEntry:
        """The manifest's entry of the model in whose place it stands."""
        return self._entry

    @property
    def counts(self) -> QueueCounts:
        """Nothing: nothing waits."""
        return self._counts

    @property
    def at_rest(self) -> bool:
        """Return False: there is nothing to load."""
        return False

    async def run(self, items: Sequence[TokenIds]) -> list[Outputs]:
        """Return the outputs of each item."""
        return await compute(lambda: [self._outputs(ids) for ids in items])

    async def check(self) -> None:
        """Return: it is always there."""

    async def close(self) -> None:
        """Nothing is held."""

    def _outputs(self, ids: TokenIds) -> Outputs:
        chosen = self._rows[np.asarray(ids) % _ROWS]
        return tuple(self._output(chosen, tensor.shape[1:]) for tensor in self._entry.outputs)

    def _output(self, chosen: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        if shape == (-1,):  # one value per token
            return chosen[:, 0]
        if shape[0] == -1:  # a state per token
            return np.tile(chosen, (1, -(-shape[1] // _WIDTH)))[:, : shape[1]]
        mean = chosen.mean(axis=0)[: int(np.prod(shape))]
        length = float(np.linalg.norm(mean)) or 1.0
        return np.asarray((mean / length).reshape(shape), dtype=np.float32)


class _NoPersonalData:
    """``PersonalDataDetector`` that finds nothing."""

    fingerprint = f"none@1+sha256:{'0' * 16}"

    async def detect(self, texts: Sequence[RecognisedText]) -> list[tuple[PersonalData, ...]]:
        return [() for _ in texts]


class StandInAdapters(Adapters):
    """The process's adapters with encoders that compute nothing.

    Args:
        settings: of the process.
        recogniser: whether names and personal data are found by the real models.
    """

    def __init__(self, settings: Settings, *, recogniser: bool) -> None:
        super().__init__(settings)
        self._recogniser = recogniser
        self._repository = open_repository(settings.inference)

    def _parts(self, name: str) -> tuple[EncoderBackend, EncoderTokenizer]:
        return StandInBackend(self._repository.entry(name)), EncoderTokenizer.load(self._repository, name)

    async def embedding(self) -> EmbeddingModel:
        """Return the embedder."""

        async def build() -> EmbeddingModel:
            return EncoderEmbeddingModel(*self._parts(self.settings.inference.embedding_model))

        return await self._once("embedding", build)

    async def entailment(self) -> EntailmentModel | None:
        """Return the NLI encoder."""

        async def build() -> EntailmentModel:
            return EncoderEntailmentModel(*self._parts(self.settings.inference.entailment_model))

        return await self._once("entailment", build)

    async def sentence_heads(self) -> SentenceHeads | None:
        """Return the heads on the NLI encoder's inner states."""

        async def build() -> SentenceHeads | None:
            entry = self._repository.entry(self.settings.inference.entailment_model)
            listed = entry.file(HEADS_FILE)
            if listed is None:
                return None
            heads = read_heads(self._repository, entry)
            inner = [Tensor(name=name, dtype="float32", shape=(-1, -1, heads.width)) for name in heads.states]
            backend = StandInBackend(entry.model_copy(update={"outputs": (*entry.outputs, *inner)}))
            encoder = SentenceEncoder(backend, EncoderTokenizer.load(self._repository, entry.name))
            return EncoderSentenceHeads(encoder, heads, listed.sha256)

        return await self._once("sentence_heads", build)

    async def grounding(self) -> GroundingModel | None:
        """Return the grounding model."""

        async def build() -> GroundingModel:
            name = self.settings.inference.grounding_model
            return EncoderGroundingModel(*self._parts(name), read_combiner(self._repository, name))

        return await self._once("grounding", build)

    async def reranker(self) -> Reranker | None:
        """Return none: facts keep their order."""
        return None

    async def entity_recognizer(self) -> EntityRecognizer:
        """Return the recogniser, or one pattern in its place."""
        return await super().entity_recognizer() if self._recogniser else MemoryEntityRecognizer()

    async def personal_data(self) -> PersonalDataDetector:
        """Return the detector, or one that finds nothing."""
        return await super().personal_data() if self._recogniser else _NoPersonalData()


async def serve_suite(folder: Path, *, recogniser: bool) -> None:
    """Serve the suite to two tenants until standard input ends; say on standard output where and with which keys."""
    settings = Settings(
        store=StoreSettings(data_dir=folder),
        server=ServerSettings(port=0),
        http=HttpSettings(port=_free_port(), call_timeout_s=600.0),
        telemetry=TelemetrySettings(log_calls=False, log_level="error", http_port=None),
    )
    configure_logs(settings.telemetry)
    async with StandInAdapters(settings, recogniser=recogniser) as adapters:
        keys = {tenant: await _issue(adapters, tenant) for tenant in TENANTS}
        async with running_server("bench", build_services, settings, adapters=adapters) as server:
            settle_collector()  # as the main of a server does
            settle_switching()
            resting = asyncio.create_task(collect_at_rest(is_computing), name="collector")
            echo, echo_address = await _echoing()  # bears what the suite bears: one process, one event loop
            _tell({"address": server.address, "http_port": settings.http.port, "keys": keys, "echo": echo_address})
            await asyncio.to_thread(sys.stdin.read)
            await echo.stop(0)
            resting.cancel()


async def serve_echo() -> None:
    """Serve an empty echo until standard input ends."""
    server, address = await _echoing()
    _tell({"address": address})
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(0)


async def _echoing() -> tuple[grpc.aio.Server, str]:
    """Return a server that does nothing but echo, and its address."""

    async def echo(request: StringValue, _: Any) -> StringValue:
        return request

    handler = grpc.unary_unary_rpc_method_handler(echo, StringValue.FromString, StringValue.SerializeToString)
    service, method = ECHO.strip("/").split("/")
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, f"127.0.0.1:{port}"


async def _issue(adapters: Adapters, tenant: str) -> str:
    key = "crp_gw_bench_" + "".join(secrets.choice(string.ascii_letters) for _ in range(32))
    prefix = prefix_of(key)
    assert prefix is not None  # the form above is the one that is read
    store = await adapters.credentials()
    roles = ("reader", "writer", "admin")
    await store.put_key(
        ApiKeyRecord(tenant, adapters.ids.uuid(), prefix, hash_of(key), "bench", roles, adapters.clock.now())
    )
    return key


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _tell(said: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({**said, "pid": os.getpid()}) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Serve what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("suite", "echo"))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--no-recogniser", action="store_true")
    arguments = parser.parse_args()
    if arguments.what == "echo":
        asyncio.run(serve_echo())
    else:
        asyncio.run(serve_suite(arguments.folder, recogniser=not arguments.no_recogniser))


if __name__ == "__main__":
    main()
