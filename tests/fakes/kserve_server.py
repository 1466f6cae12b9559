"""A KServe v2 server in the test's own event loop, made from tritonclient's stubs; it can be made to misbehave.

``score`` is the sum of an item's ids and their number, ``token_scores`` each id divided by 10: both follow from the ids
where the mask is 1 alone, so that a test can tell whose outputs it got and that padding was left out.
"""
# ruff: noqa: N802 - the protocol's names

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import asynccontextmanager
from multiprocessing import shared_memory

import grpc
import numpy as np
from tritonclient.grpc import model_config_pb2, service_pb2, service_pb2_grpc

from services.common.model_repository import ModelEntry, ModelRepository
from services.common.model_repository.manifest import Manifest

CONFIG = """
name: "tiny"
backend: "onnxruntime"
max_batch_size: 16
input [
  { name: "input_ids" data_type: TYPE_INT64 dims: [ -1 ] },
  { name: "attention_mask" data_type: TYPE_INT64 dims: [ -1 ] }
]
output [
  { name: "score" data_type: TYPE_FP32 dims: [ 2 ] },
  { name: "token_scores" data_type: TYPE_FP32 dims: [ -1 ] }
]
dynamic_batching { preferred_batch_size: [ 4 ] }
"""
TENSORS = {
    "inputs": [("input_ids", "int64", (-1, -1)), ("attention_mask", "int64", (-1, -1))],
    "outputs": [("score", "float32", (-1, 2)), ("token_scores", "float32", (-1, -1))],
}


def tiny_repository(root, *, config=CONFIG, **changes) -> ModelRepository:
    """Write a repository of one model, ``tiny``; its weights are never read."""
    (root / "tiny").mkdir(parents=True)
    (root / "tiny" / "config.pbtxt").write_text(config, encoding="utf-8")
    fields = {
        "name": "tiny",
        "version": "1",
        "kind": "grounding",
        "title": "A model of the tests",
        "licence": "Apache-2.0",
        "origin": {"package": "none", "upstream": "none", "conversion": "none"},
        "training_data": "none",
        "files": [{"path": "config.pbtxt", "role": "config", "bytes": 0, "sha256": "0" * 64}],
        "max_tokens": 512,
    }
    for kind, tensors in TENSORS.items():
        fields[kind] = [{"name": name, "dtype": dtype, "shape": shape} for name, dtype, shape in tensors]
    entry = ModelEntry.model_validate(fields | changes)
    return ModelRepository(root, Manifest(schema_version=1, models=(entry,)))


def expected_outputs(item: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return what the server answers for one item."""
    return np.array([sum(item), len(item)], dtype=np.float32), np.array(item, dtype=np.float32) / 10


class FakeKserve(service_pb2_grpc.GRPCInferenceServiceServicer):
    """The servicer; tests set its attributes.

    Attributes:
        refusals: statuses with which the next requests are refused, one each.
        spoil: changes each response before it is sent.
        hold: requests wait until it is set.
        shapes: shape of ``input_ids`` of each request that arrived, in order.
        texts: number of requests that have arrived and were not answered yet, and the most there were.
        cancelled: how many requests the client gave up.
    """

    def __init__(self) -> None:
        self.ready = True
        self.metadata = self._metadata()
        self.config = self._config()
        self.refusals: deque[grpc.StatusCode] = deque()
        self.spoil: Callable[[service_pb2.ModelInferResponse], None] = lambda _response: None
        self.hold = asyncio.Event()
        self.hold.set()
        self.shapes: list[tuple[int, ...]] = []
        self.timeouts: list[float | None] = []
        self.arrived = asyncio.Event()
        self.in_flight = self.most_in_flight = 0
        self.cancelled = 0
        self.regions: dict[str, tuple[str, int]] = {}
        self.refuse_regions = False

    async def ServerReady(self, request, context):
        return service_pb2.ServerReadyResponse(ready=self.ready)

    async def ModelReady(self, request, context):
        return service_pb2.ModelReadyResponse(ready=self.ready)

    async def ModelMetadata(self, request, context):
        return self.metadata

    async def ModelConfig(self, request, context):
        return service_pb2.ModelConfigResponse(config=self.config)

    async def SystemSharedMemoryRegister(self, request, context):
        if self.refuse_regions:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"Unable to open shared memory region: {request.key}")
        self.regions[request.name] = (request.key, request.byte_size)
        return service_pb2.SystemSharedMemoryRegisterResponse()

    async def SystemSharedMemoryUnregister(self, request, context):
        self.regions.pop(request.name, None)
        return service_pb2.SystemSharedMemoryUnregisterResponse()

    async def ModelInfer(self, request, context):
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.timeouts.append(context.time_remaining())
        self.shapes.append(tuple(request.inputs[0].shape))
        self.arrived.set()
        try:
            if self.refusals:
                await context.abort(self.refusals.popleft(), "refused by the test")
            await self.hold.wait()
            response = self._answer(*[await self._input(request, i, context) for i in range(2)])
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.in_flight -= 1
        self.spoil(response)
        return response

    async def _input(self, request, index, context) -> np.ndarray:
        tensor = request.inputs[index]
        if "shared_memory_region" not in tensor.parameters:
            return np.frombuffer(request.raw_input_contents[index], dtype=np.int64).reshape(tensor.shape)
        name = tensor.parameters["shared_memory_region"].string_param
        if name not in self.regions:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"Unable to find shared memory region: '{name}'")
        size = tensor.parameters["shared_memory_byte_size"].int64_param
        offset = tensor.parameters["shared_memory_offset"].int64_param
        region = shared_memory.SharedMemory(self.regions[name][0].lstrip("/"))
        try:
            assert offset + size <= self.regions[name][1]
            return np.frombuffer(bytes(region.buf[offset : offset + size]), dtype=np.int64).reshape(tensor.shape)
        finally:
            region.close()

    def _answer(self, ids, mask) -> service_pb2.ModelInferResponse:
        score = np.stack([(ids * mask).sum(1), mask.sum(1)], axis=1).astype(np.float32)
        # What stands at padding is no number: who reads it gets an error.
        token_scores = np.where(mask == 1, ids / 10, np.nan).astype(np.float32)
        response = service_pb2.ModelInferResponse(model_name="tiny")
        for name, values in (("score", score), ("token_scores", token_scores)):
            response.outputs.add(name=name, datatype="FP32", shape=values.shape)
            response.raw_output_contents.append(values.tobytes())
        return response

    def _metadata(self) -> service_pb2.ModelMetadataResponse:
        metadata = service_pb2.ModelMetadataResponse(name="tiny", versions=["1"], platform="onnxruntime_onnx")
        for kind, datatype in (("inputs", "INT64"), ("outputs", "FP32")):
            for name, _, shape in TENSORS[kind]:
                getattr(metadata, kind).add(name=name, datatype=datatype, shape=shape)
        return metadata

    def _config(self) -> model_config_pb2.ModelConfig:
        config = model_config_pb2.ModelConfig(name="tiny", backend="onnxruntime", max_batch_size=16)
        for name, _, shape in TENSORS["inputs"]:
            config.input.add(name=name, data_type="TYPE_INT64", dims=shape[1:])
        for name, _, shape in TENSORS["outputs"]:
            config.output.add(name=name, data_type="TYPE_FP32", dims=shape[1:])
        return config


@asynccontextmanager
async def serving(servicer: FakeKserve, port: int = 0, credentials=None):
    """Serve on loopback; yields the target. Ends at once, with whatever is in flight."""
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(servicer, server)
    address = f"127.0.0.1:{port}"
    bound = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
    await server.start()
    try:
        yield f"127.0.0.1:{bound}"
    finally:
        await server.stop(None)
