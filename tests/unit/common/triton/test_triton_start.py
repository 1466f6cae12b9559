"""What is asked of Triton before a process serves, and which answers keep it from serving."""

import asyncio

import pytest
from tritonclient.grpc import service_pb2

from services.common.adapters.triton.backend import open_triton_backend
from services.common.errors import StartupError
from services.common.model_repository import ModelRepositoryError
from services.common.settings.inference import InferenceSettings
from services.common.settings.triton import TritonSettings
from tests.fakes.kserve_server import CONFIG, FakeKserve, serving, tiny_repository


async def opened(root, target, *, changes=None, config=CONFIG, **triton):
    repository = tiny_repository(root, config=config, **(changes or {}))
    settings = InferenceSettings(triton=TritonSettings(target=target, **({"start_timeout_s": 5.0} | triton)))
    return await open_triton_backend(settings, repository, repository.entry("tiny"))


async def refusal(root, server, **options) -> str:
    async with serving(server) as target:
        with pytest.raises(StartupError) as refused:
            await opened(root, target, **options)
    return str(refused.value)


async def test_a_model_like_the_repositorys_is_served(tmp_path):
    async with serving(FakeKserve()) as target:
        backend = await opened(tmp_path, target)
        assert backend.entry.name == "tiny"
        await backend.close()


@pytest.mark.parametrize(
    ("platform", "parameter", "version"),
    [
        ("onnxruntime_onnx", None, "1"),
        ("tensorrt_plan", None, "1-tensorrt_plan"),
        ("tensorrt_plan", "tensorrt-fp16", "1-tensorrt-fp16"),
    ],
    ids=["the-onnx-file", "another-platform", "a-named-variant"],
)
async def test_a_variant_is_named_in_the_fingerprint(tmp_path, platform, parameter, version):
    server = FakeKserve()
    server.metadata.platform = platform
    if parameter:
        server.config.parameters["groundtrail_variant"].string_value = parameter
    async with serving(server) as target:
        backend = await opened(tmp_path, target)
        assert backend.entry.fingerprint.startswith(f"tiny@{version}+sha256:")
        await backend.close()


async def test_it_waits_until_the_model_is_ready(tmp_path):
    server = FakeKserve()
    server.ready = False
    async with serving(server) as target:
        opening = asyncio.create_task(opened(tmp_path, target))
        await asyncio.sleep(0.1)
        assert not opening.done()
        server.ready = True
        backend = await opening
        await backend.close()


async def test_a_model_that_never_gets_ready_stops_the_process(tmp_path):
    server = FakeKserve()
    server.ready = False
    told = await refusal(tmp_path, server, start_timeout_s=0.1)
    assert "was not ready after 0.1 s: it does not have the model tiny ready" in told
    assert "GROUNDTRAIL_INFERENCE__TRITON__TARGET" in told


async def test_no_triton_stops_the_process(tmp_path):
    with pytest.raises(StartupError, match=r"at 127\.0\.0\.1:9 was not ready after 0\.1 s: StatusCode\.UNAVAILABLE"):
        await opened(tmp_path, "127.0.0.1:9", start_timeout_s=0.1)


def _metadata(change):
    return lambda server: change(server.metadata)


def _config(change):
    return lambda server: change(server.config)


def _rename(metadata):
    metadata.inputs[0].name = "ids"


def _retype(metadata):
    metadata.inputs[1].datatype = "INT32"


def _reshape(metadata):
    metadata.outputs[0].shape[:] = [-1, 3]


def _drop(metadata):
    del metadata.outputs[1]


def _add(metadata):
    metadata.outputs.append(
        service_pb2.ModelMetadataResponse.TensorMetadata(name="extra", datatype="FP32", shape=[-1, 1])
    )


def _batch(config):
    config.max_batch_size = 8


def _configured_dims(config):
    config.output[0].dims[:] = [3]


def _configured_type(config):
    config.output[0].data_type = 10


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_metadata(_rename), "input input_ids is missing; input ids is not expected"),
        (_metadata(_retype), "input attention_mask is int32 [-1, -1], not int64 [-1, -1]"),
        (_metadata(_reshape), "output score is float32 [-1, 3], not float32 [-1, 2]"),
        (_metadata(_drop), "output token_scores is missing"),
        (_metadata(_add), "output extra is not expected"),
        (_config(_batch), "max_batch_size is 8, not 16"),
        (_config(_configured_dims), "configured output score is float32 [-1, 3], not float32 [-1, 2]"),
        (_config(_configured_type), "configured output score is float16 [-1, 2], not float32 [-1, 2]"),
    ],
    ids=["name", "input-type", "shape", "missing", "extra", "max-batch-size", "configured-dims", "configured-type"],
)
async def test_another_model_is_refused_by_what_differs(tmp_path, change, told):
    server = FakeKserve()
    change(server)
    async with serving(server) as target:
        with pytest.raises(ModelRepositoryError) as refused:
            await opened(tmp_path, target)
    assert told in str(refused.value)
    assert "serves another tiny" in str(refused.value)


async def test_every_difference_is_named(tmp_path):
    server = FakeKserve()
    _retype(server.metadata)
    _reshape(server.metadata)
    _batch(server.config)
    told = await refusal(tmp_path, server)
    assert all(part in told for part in ("attention_mask", "output score", "max_batch_size"))


async def test_a_model_that_reads_no_token_ids_is_refused(tmp_path):
    changes = {"inputs": [{"name": "pixels", "dtype": "float32", "shape": (-1, 3)}]}
    told = await refusal(tmp_path, FakeKserve(), changes=changes)
    assert "an encoder's inputs are attention_mask and input_ids" in told


async def test_certificates_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(StartupError, match=r"TLS_ROOT_CERTIFICATES: .*roots\.pem cannot be read: No such file"):
        await opened(tmp_path, "127.0.0.1:9", tls_root_certificates=tmp_path / "roots.pem")


async def test_shared_memory_that_triton_cannot_open_is_told(tmp_path):
    server = FakeKserve()
    server.refuse_regions = True
    told = await refusal(tmp_path, server, shared_memory=True)
    assert "SHARED_MEMORY is set" in told
    assert "Unable to open shared memory region" in told
