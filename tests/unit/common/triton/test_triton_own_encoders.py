"""An encoder of a user's own behind Triton: the same graph, fed by the same inputs, gives what the process gives.

The server here speaks KServe v2 and computes the very file with ONNX Runtime; what it says of the model is the
generated ``config.pbtxt``, read by Triton's own schema.
"""

import numpy as np
import onnxruntime
import pytest
from google.protobuf import text_format
from tritonclient.grpc import model_config_pb2, service_pb2

from services.common.adapters.encoders.entailment import open_entailment
from services.common.adapters.encoders.grounding import open_grounding
from services.common.model_repository import ModelRepositoryError, open_repository
from services.common.ports.grounding import GroundingRequest
from services.common.settings.triton import TritonSettings
from tests.fakes.kserve_server import FakeKserve, serving
from tests.fakes.own_encoders import FIXTURES, added, settings

PAIRS = [("The fee is 40 EUR for members.", "Members pay 40 EUR."), ("Guests may not cancel.", "Guests may cancel.")]


class OwnKserve(FakeKserve):
    """Serves one model of a user's own."""

    def __init__(self, folder):
        self.folder = folder
        self.session = onnxruntime.InferenceSession(str(folder / "1/model.onnx"), providers=["CPUExecutionProvider"])
        self.inputs = []
        super().__init__()

    def _config(self):
        text = (self.folder / "config.pbtxt").read_text(encoding="utf-8")
        return text_format.Parse(text, model_config_pb2.ModelConfig())

    def _metadata(self):
        config = self._config()
        metadata = service_pb2.ModelMetadataResponse(name=config.name, versions=["1"], platform="onnxruntime_onnx")
        for kind, tensors in (("inputs", config.input), ("outputs", config.output)):
            for tensor in tensors:
                datatype = model_config_pb2.DataType.Name(tensor.data_type).removeprefix("TYPE_")
                getattr(metadata, kind).add(name=tensor.name, datatype=datatype, shape=[-1, *tensor.dims])
        return metadata

    async def ModelInfer(self, request, context):  # noqa: N802 - the protocol's name
        fed = {
            tensor.name: np.frombuffer(data, dtype=np.int64).reshape(tensor.shape)
            for tensor, data in zip(request.inputs, request.raw_input_contents, strict=True)
        }
        self.inputs.append(sorted(fed))
        response = service_pb2.ModelInferResponse(model_name=request.model_name)
        for output, values in zip(self.session.get_outputs(), self.session.run(None, fed), strict=True):
            response.outputs.add(name=output.name, datatype="FP32", shape=values.shape)
            response.raw_output_contents.append(values.tobytes())
        self.spoil(response)
        return response


def on_triton(shelf, target, **changes):
    return settings(shelf, backend="triton", triton=TritonSettings(target=target), **changes)


async def answers(chosen, entry):
    if entry.kind == "entailment":
        model = await open_entailment(chosen)
        try:
            return await model.classify(PAIRS)
        finally:
            await model.close()
    judge = await open_grounding(chosen)
    try:
        verdicts = await judge.judge([GroundingRequest(hypothesis, (premise,)) for premise, hypothesis in PAIRS])
    finally:
        await judge.close()
    return np.array([[verdict.support, verdict.encoder_support, len(verdict.spans)] for verdict in verdicts])


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.name)
async def test_triton_and_the_process_say_the_same(tmp_path, fixture):
    shelf, entry = added(tmp_path, fixture.name)
    setting = {f"{entry.kind}_model": entry.name}
    expected = await answers(settings(shelf, **setting), entry)
    served = OwnKserve(shelf.root / entry.name)
    async with serving(served) as target:
        found = await answers(on_triton(shelf, target, **setting), entry)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert {tuple(names) for names in served.inputs} == {tuple(sorted(tensor.name for tensor in entry.inputs))}


async def test_other_weights_behind_triton_stop_the_start(tmp_path):
    shelf, entry = added(tmp_path, "mpnet")
    served = OwnKserve(shelf.root / entry.name)

    def shifted(response):
        values = np.frombuffer(response.raw_output_contents[0], dtype=np.float32) + 0.25
        response.raw_output_contents[0] = values.tobytes()

    served.spoil = shifted
    async with serving(served) as target:
        with pytest.raises(ModelRepositoryError, match="what runs is not what was added"):
            await open_grounding(on_triton(shelf, target, grounding_model=entry.name))


async def test_another_configuration_behind_triton_stops_the_start(tmp_path):
    shelf, entry = added(tmp_path, "bert")
    served = OwnKserve(shelf.root / entry.name)
    del served.metadata.inputs[2]
    async with serving(served) as target:
        with pytest.raises(ModelRepositoryError, match="input token_type_ids is missing"):
            await open_entailment(
                on_triton(shelf, target, entailment_model=entry.name), open_repository(settings(shelf))
            )
