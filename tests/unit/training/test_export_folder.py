"""Writing a model's folder: what stands in it, what of an earlier entry survives, what is refused."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pydantic import ValidationError
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from services.common.model_repository import ModelRepository
from training.repository_folder import Delivery, Description, bare_tokenizer, golden_cases, write_folder

VOCABULARY = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "guests": 4, "pay": 5}
SAID = Description.model_validate(
    {
        "version": "2",
        "title": "A test",
        "licence": "MIT",
        "origin": {"package": "none", "upstream": "none", "conversion": "none"},
        "training_data": "none",
    }
)


def tokenizer_text():
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        "<s> $A </s>", "<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    return tokenizer.to_str()


def sums(per_token=False, shift=0.0):
    """Logits are the sum of the unmasked ids, the same plus 1, and the same plus 2."""
    nodes = [
        helper.make_node("Mul", ["input_ids", "attention_mask"], ["kept"]),
        helper.make_node("Cast", ["kept"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["floats", "axis"], ["sum"], keepdims=1),
        helper.make_node("Add", ["sum", "offsets"], ["support_logit" if per_token else "logits"]),
    ]
    outputs = [("support_logit", ["batch", 1])] if per_token else [("logits", ["batch", 3])]
    if per_token:
        nodes.append(helper.make_node("Identity", ["floats"], ["token_logits"]))
        outputs.append(("token_logits", ["batch", "tokens"]))
    offsets = np.arange(1 if per_token else 3, dtype=np.float32) + np.float32(shift)
    graph = helper.make_graph(
        nodes,
        "test",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs],
        [numpy_helper.from_array(np.array([1]), "axis"), numpy_helper.from_array(offsets, "offsets")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def delivery(name="nli", kind="entailment", model=None, **changes):
    fields = {
        "name": name,
        "kind": kind,
        "model": model or sums(per_token=kind == "grounding"),
        "tokenizer": tokenizer_text(),
        "pad_id": 1,
        "max_tokens": 40,
        "description": SAID,
    }
    return Delivery(**(fields | changes))


def manifest_of(root):
    return json.loads((root / "MANIFEST.json").read_text(encoding="utf-8"))


def change_entry(root, **fields):
    manifest = manifest_of(root)
    manifest["models"][0].update(fields)
    (root / "MANIFEST.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_the_folder_opens_as_the_product_opens_it(tmp_path):
    entry = write_folder(tmp_path, delivery(metrics={"export": {"difference": 0.5}}))
    repository = ModelRepository.open(tmp_path)
    assert repository.verified("nli") == entry
    assert [file.path for file in entry.files] == ["1/model.onnx", "config.pbtxt", "tokenizer.json"]
    assert (entry.version, entry.kind, entry.max_tokens, entry.metrics) == (
        "2",
        "entailment",
        40,
        {"export": {"difference": 0.5}},
    )
    config = repository.config("nli")
    assert config.backend == "onnxruntime"
    assert config.max_batch_size == 64
    assert config.preferred_batch_sizes == (4, 8)
    assert config.max_queue_delay_us == 2000
    assert [tensor.shape for tensor in config.outputs] == [(-1, 3)]


def test_a_grounding_model_has_one_logit_a_pair_and_one_a_token(tmp_path):
    entry = write_folder(tmp_path, delivery("grounding", "grounding"))
    assert [(t.name, t.shape) for t in entry.outputs] == [("support_logit", (-1, 1)), ("token_logits", (-1, -1))]
    assert entry.softmax is None
    ModelRepository.open(tmp_path).config("grounding")


def test_golden_outputs_are_what_the_graph_computes_of_each_pair(tmp_path):
    cases = golden_cases(delivery("grounding", "grounding"), [("guests pay", "pay"), ("", "guests")])
    assert cases == [
        {
            "pair": ["guests pay", "pay"],
            "token_ids": [0, 4, 5, 2, 2, 5, 2],
            "support_logit": [20.0],
            "token_logits": [0.0, 4.0, 5.0, 2.0, 2.0, 5.0, 2.0],
        },
        {
            "pair": ["", "guests"],
            "token_ids": [0, 2, 2, 4, 2],
            "support_logit": [10.0],
            "token_logits": [0.0, 2.0, 2.0, 4.0, 2.0],
        },
    ]
    entry = write_folder(tmp_path, delivery())
    golden = json.loads((tmp_path / "nli" / "golden.json").read_text(encoding="utf-8"))
    assert golden["model"] == entry.fingerprint
    assert [len(case["logits"]) for case in golden["cases"]] == [3, 3, 3]


def test_padding_and_truncation_are_taken_out_of_the_tokenizer():
    tokenizer = Tokenizer.from_str(bare_tokenizer(tokenizer_text()))
    assert tokenizer.padding is None
    assert tokenizer.truncation is None
    assert len(tokenizer.encode("pay " * 30).ids) == 32


def test_other_models_entries_are_kept_and_all_are_ordered_by_name(tmp_path):
    write_folder(tmp_path, delivery("nli"))
    kept = manifest_of(tmp_path)["models"][0]
    write_folder(tmp_path, delivery("grounding", "grounding"))
    models = manifest_of(tmp_path)["models"]
    assert [model["name"] for model in models] == ["grounding", "nli"]
    assert models[1] == kept


@pytest.mark.parametrize(
    ("model", "temperature", "metrics"),
    [(sums(), 1.7, {"accuracy": 0.83}), (sums(shift=1.0), 1.0, {})],
    ids=["the same weights keep what was fitted", "new weights lose it"],
)
def test_what_was_fitted_on_other_weights_is_dropped(tmp_path, model, temperature, metrics):
    write_folder(tmp_path, delivery())
    fitted = manifest_of(tmp_path)["models"][0]["softmax"] | {"temperature": 1.7}
    change_entry(tmp_path, softmax=fitted, metrics={"accuracy": 0.83})
    entry = write_folder(tmp_path, delivery(model=model))
    assert entry.softmax.temperature == temperature
    assert entry.metrics == metrics


def test_a_new_model_says_that_it_is_not_calibrated(tmp_path):
    softmax = write_folder(tmp_path, delivery()).softmax
    assert softmax.labels == ("entailment", "neutral", "contradiction")
    assert softmax.temperature == 1.0
    assert softmax.fitted_on == {"note": "not calibrated"}


def test_a_variant_is_named_in_the_version(tmp_path):
    entry = write_folder(tmp_path, delivery(variant="fp16"))
    assert entry.version == "2-fp16"
    assert entry.fingerprint.startswith("nli@2-fp16+sha256:")


def test_the_same_delivery_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_folder(tmp_path / name, delivery())
    for path in sorted((tmp_path / "one").rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()
    assert onnx.load(tmp_path / "one" / "nli" / "1" / "model.onnx") == sums()


def test_a_description_without_a_licence_is_refused():
    fields = SAID.model_dump() | {"licence": ""}
    with pytest.raises(ValidationError, match="licence"):
        Description.model_validate(fields)
