"""From settings to an encoder: the pinned one or none, and what to do about one that is missing."""

import json
import shutil

import pytest

from services.common.adapters.encoders.embedding import open_embedding
from services.common.adapters.encoders.entailment import open_entailment
from services.common.adapters.encoders.opening import ModelChoice, open_backend, open_model
from services.common.composition import Adapters
from services.common.errors import UnavailableError
from services.common.model_repository import ModelRepositoryError
from services.common.resources import resource_path
from services.common.rpc.main import EXIT_STARTUP, run
from services.common.settings import Settings
from services.common.settings.inference import InferenceSettings
from services.dpe.compose import build
from tests.fakes.tiny_encoders import TinyEncoder, write_repository

SETTINGS = InferenceSettings(intra_op_threads=1)
DELIVERED = resource_path("model_repository")
BOTH = (TinyEncoder(), TinyEncoder("grounding", "grounding"))


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("embedding", "python tools/convert_embedder.py"),
        ("entailment", "python -m training.nli"),
        ("grounding", "python -m training.grounding"),
    ],
)
async def test_a_missing_model_names_the_command_that_makes_it(tmp_path, kind, command):
    repository = write_repository(tmp_path, TinyEncoder("other"))
    with pytest.raises(ModelRepositoryError) as caught:
        await open_backend(SETTINGS, repository, "absent", kind)
    assert str(caught.value) == (
        f"{tmp_path} holds no model absent; it holds: other. `{command}` makes the {kind} model; "
        f"GROUNDTRAIL_INFERENCE__{kind.upper()}_MODEL names another."
    )


@pytest.mark.parametrize("path", ["1/model.onnx", "tokenizer.json"], ids=["weights", "tokenizer"])
async def test_a_missing_file_names_the_command_that_makes_it(tmp_path, path):
    repository = write_repository(tmp_path, *BOTH)
    (tmp_path / "grounding" / path).unlink()
    with pytest.raises(ModelRepositoryError, match=rf"grounding/{path} is not there\. `python -m training\.grounding`"):
        await open_backend(SETTINGS, repository, "grounding", "grounding")


@pytest.mark.parametrize("name", ["nli", "grounding"])
@pytest.mark.parametrize("path", ["1/model.onnx", "tokenizer.json", "config.pbtxt"])
async def test_a_flipped_bit_stops_the_start_with_the_files_name(tmp_path, name, path):
    repository = write_repository(tmp_path, *BOTH)
    flip(tmp_path / name / path)
    kind = repository.entry(name).kind
    with pytest.raises(ModelRepositoryError, match=rf"{name}/{path} is not the pinned file: expected sha256"):
        await open_backend(SETTINGS, repository, name, kind)


async def test_a_model_of_another_kind_is_refused(tmp_path):
    repository = write_repository(tmp_path, *BOTH)
    settings = SETTINGS.model_copy(update={"entailment_model": "grounding"})
    message = "grounding is a model for grounding, not for entailment; set GROUNDTRAIL_INFERENCE__ENTAILMENT_MODEL"
    with pytest.raises(ModelRepositoryError, match=message):
        await open_entailment(settings, repository)


async def test_a_graph_with_other_inputs_is_no_encoder(tmp_path):
    inputs = [{"name": name, "dtype": "int64", "shape": [-1, -1]} for name in ("input_ids", "token_type_ids")]
    repository = write_repository(tmp_path, TinyEncoder(changes={"inputs": inputs}))
    with pytest.raises(ModelRepositoryError, match="an encoder's inputs are attention_mask and input_ids"):
        await open_backend(SETTINGS, repository, "nli", "entailment")


async def test_the_backend_is_closed_when_the_model_above_it_cannot_be_built(tmp_path):
    backends = []

    def refuse(backend, tokenizer):
        backends.append(backend)
        raise ValueError("a knot is missing")

    with pytest.raises(ValueError, match="a knot is missing"):
        await open_model(SETTINGS, write_repository(tmp_path, *BOTH), ModelChoice("nli", "entailment"), refuse)
    with pytest.raises(UnavailableError, match="shutting down"):
        await backends[0].check()


@pytest.mark.parametrize("shape", [[-1, -1], [-1, 3, 2]], ids=["a value per token", "a matrix"])
async def test_an_embedding_model_gives_one_vector(tmp_path, shape):
    calibration = {"raw": [0, 1], "calibrated": [0, 1], "fitted_on": {}, "measured": {}}
    encoder = TinyEncoder("grounding", "grounding", changes={"kind": "embedding", "calibration": calibration})
    settings = SETTINGS.model_copy(update={"embedding_model": "grounding"})
    with pytest.raises(ModelRepositoryError, match="grounding needs one output, a vector of a fixed length per text"):
        await open_embedding(settings, write_repository(tmp_path, encoder))


# The composition of a process.


def adapters(root, **inference):
    return Adapters(Settings(inference=InferenceSettings(model_repository=root, intra_op_threads=1, **inference)))


async def test_a_delivered_model_is_opened_once_and_closed_at_the_end(tmp_path):
    write_repository(tmp_path, *BOTH)
    async with adapters(tmp_path) as made:
        model = await made.entailment()
        assert model is not None
        assert await made.entailment() is model
        assert (await model.classify([("yes", "w1")])).argmax() == 0
    with pytest.raises(UnavailableError, match="shutting down"):
        await model.classify([("yes", "w1")])


@pytest.mark.parametrize("kind", ["entailment", "grounding"])
async def test_a_default_that_is_not_delivered_is_none_and_the_log_says_how_to_make_it(tmp_path, caplog, kind):
    write_repository(tmp_path, TinyEncoder("other"))
    caplog.set_level("INFO", logger="services.common.encoder_models")
    async with adapters(tmp_path) as made:
        assert await getattr(made, kind)() is None
    name, command = {"entailment": ("nli", "training.nli"), "grounding": ("grounding", "training.grounding")}[kind]
    assert caplog.messages == [f"no {kind} model {name} in {tmp_path}; `python -m {command}` makes it"]


@pytest.mark.parametrize("kind", ["entailment", "grounding"])
@pytest.mark.parametrize("name", ["nli-large", "nli"], ids=["another name", "the default's name"])
async def test_a_model_that_is_named_must_be_there(tmp_path, kind, name):
    write_repository(tmp_path, TinyEncoder("other"))
    async with adapters(tmp_path, **{f"{kind}_model": name}) as made:
        with pytest.raises(ModelRepositoryError, match=f"holds no model {name}; it holds: other"):
            await getattr(made, kind)()


def test_a_flipped_bit_in_nli_ends_the_process_at_start(tmp_path, capsys, monkeypatch):
    for name in ("embedder", "ner"):
        shutil.copytree(DELIVERED / name, tmp_path / name)
    write_repository(tmp_path, TinyEncoder())
    path = tmp_path / "MANIFEST.json"
    delivered = json.loads((DELIVERED / "MANIFEST.json").read_text())["models"]
    manifest = json.loads(path.read_text())
    manifest["models"] += [entry for entry in delivered if entry["name"] in {"embedder", "ner"}]
    path.write_text(json.dumps(manifest))
    flip(tmp_path / "nli" / "1" / "model.onnx")
    monkeypatch.setenv("GROUNDTRAIL_INFERENCE__MODEL_REPOSITORY", str(tmp_path))
    monkeypatch.setenv("GROUNDTRAIL_STORE__DATA_DIR", str(tmp_path / "data"))
    with pytest.raises(SystemExit) as ended:
        run("dpe", build, ["--insecure-local", "--port", "0"])
    assert ended.value.code == EXIT_STARTUP
    assert f"dpe: cannot start: {tmp_path}/nli/1/model.onnx is not the pinned file" in capsys.readouterr().err
