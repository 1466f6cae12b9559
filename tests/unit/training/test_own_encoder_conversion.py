"""Safetensors become a graph that gives what PyTorch computes; weights of another class are refused."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file

from services.common.adapters.onnx.session import OnnxEncoder
from services.common.adapters.own_encoders.adding import Wish, add_model
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.adapters.own_encoders.shelf import Shelf
from services.common.model_repository import open_repository
from tests.fakes.own_encoders import BY_NAME, DELIVERED, settings
from training.own_encoder_fixtures import FAMILIES, write_source

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def source(tmp_path):
    """Return what writes a family's safetensors."""

    def write(name):
        write_source(tmp_path / "hub", FAMILIES[name])
        return tmp_path / "hub"

    return write


@pytest.mark.parametrize("name", ["bert", "deberta-v3", "modernbert-tokens", "t5"])
def test_a_folder_of_safetensors_gives_what_transformers_gives(tmp_path, source, name):
    shelf = Shelf(tmp_path / "models")
    fixture = BY_NAME[name]
    entry = add_model(source(name), fixture.wish(), shelf, DELIVERED)
    assert entry.own.weights_form == "safetensors"
    assert "torch" in entry.origin.conversion
    encoder = OnnxEncoder(open_repository(settings(shelf)), entry, threads=1)
    for case in fixture.expected["cases"]:
        ((logits,),) = encoder.encode([tuple(case["token_ids"])])
        assert logits == pytest.approx(np.array(case["logits"]), abs=2e-4)


def test_names_that_begin_with_more_need_a_prefix(tmp_path, source):
    folder = source("t5-first-token")
    tensors = load_file(folder / "model.safetensors")
    save_file({f"t5.{name}": value for name, value in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"architectures": ["T5ForConditionalGeneration"], "auto_map": {"AutoModel": "evil.Model"}}
    del config["id2label"], config["label2id"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    said = {"architecture": "T5ForTokenClassification", "labels": "unsupported=0,supported=1"}
    wish = BY_NAME["t5-first-token"].wish(**said)
    shelf = Shelf(tmp_path / "models")
    with pytest.raises(OwnModelError, match="--weights-prefix") as caught:
        add_model(folder, wish, shelf, DELIVERED)
    assert caught.value.reason is Refusal.CONVERSION_FAILED
    entry = add_model(folder, BY_NAME["t5-first-token"].wish(**said, weights_prefix="t5."), shelf, DELIVERED)
    assert entry.own.readout == "first-token"


def test_weights_of_another_shape_are_refused(tmp_path, source):
    folder = source("mpnet")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"intermediate_size": 8}), encoding="utf-8")
    with pytest.raises(OwnModelError) as caught:
        add_model(folder, Wish(role="grounding", name="mine"), Shelf(tmp_path / "models"), DELIVERED)
    assert caught.value.reason is Refusal.CONVERSION_FAILED
    assert "Traceback" not in caught.value.message


def test_a_safetensors_file_of_rubbish_is_refused(tmp_path, source):
    folder = source("bert")
    (folder / "model.safetensors").write_bytes(b"\xff" * 64)
    with pytest.raises(OwnModelError) as caught:
        add_model(folder, Wish(role="entailment", name="mine"), Shelf(tmp_path / "models"), DELIVERED)
    assert caught.value.reason is Refusal.CONVERSION_FAILED
