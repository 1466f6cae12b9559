"""Folders that must not become models: each refused by its stable reason, and nothing of it stays."""

import json
import os
import struct

import onnx
import pytest
from onnx import TensorProto, helper

from services.common.adapters.own_encoders import conversion, hub_folder
from services.common.adapters.own_encoders.adding import Wish, add_model
from services.common.adapters.own_encoders.onnx_file import external_files
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.adapters.own_encoders.shelf import Shelf
from tests.fakes.own_encoders import DELIVERED, FOLDER, copied


def edit(path, **changes):
    value = json.loads(path.read_text(encoding="utf-8"))
    for key, change in changes.items():
        value.pop(key, None) if change is None else value.update({key: change})
    path.write_text(json.dumps(value), encoding="utf-8")


def config(**changes):
    return lambda folder: edit(folder / "config.json", **changes)


def no(name):
    return lambda folder: (folder / name).unlink()


def written(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def graph(change):
    """Return what changes the folder's graph."""

    def apply(folder):
        model = onnx.load(folder / "model.onnx")
        change(model)
        (folder / "model.onnx").write_bytes(model.SerializeToString())

    return apply


def pickled(folder):
    (folder / "model.onnx").rename(folder / "pytorch_model.bin")


def linked_out(folder):
    outside = folder.parent / "elsewhere.json"
    (folder / "config.json").rename(outside)
    (folder / "config.json").symlink_to(outside)


def looped(folder):
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to(folder / "config.json")


def piped(folder):
    (folder / "tokenizer.json").unlink()
    os.mkfifo(folder / "tokenizer.json")


def external(location):
    """Let a weight lie in another file."""

    def change(model):
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)

    return graph(change)


def fixed_batch(model):
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_value = 1


def another_input(model):
    model.graph.input.append(helper.make_tensor_value_info("position_ids", TensorProto.INT64, ["b", "t"]))


def two_outputs(model):
    model.graph.node.append(helper.make_node("Identity", ["attention_mask"], ["mask_again"]))
    model.graph.output.append(helper.make_tensor_value_info("mask_again", TensorProto.INT64, ["b", "t"]))


CASES = {
    "no config": (no("config.json"), {}, Refusal.FILE_MISSING),
    "no tokenizer": (no("tokenizer.json"), {}, Refusal.FILE_MISSING),
    "no weights": (no("model.onnx"), {}, Refusal.FILE_MISSING),
    "weights elsewhere": (None, {"weights": "../hub/../../x.onnx"}, Refusal.FILE_MISSING),
    "weights outside": (written("../outside.onnx", b"x"), {"weights": "../outside.onnx"}, Refusal.PATH_ESCAPES),
    "weights absolute": (None, {"weights": str(FOLDER / "bert" / "model.onnx")}, Refusal.PATH_ESCAPES),
    "weights of another kind": (None, {"weights": "config.json"}, Refusal.FILE_UNREADABLE),
    "pickle alone": (pickled, {}, Refusal.PICKLE_REFUSED),
    "pickle named": (written("x.pt", b"x"), {"weights": "x.pt"}, Refusal.PICKLE_REFUSED),
    "a link out": (linked_out, {}, Refusal.PATH_ESCAPES),
    "a link in a circle": (looped, {}, Refusal.FILE_MISSING),
    "a pipe": (piped, {}, Refusal.FILE_MISSING),
    "config is no JSON": (written("config.json", b"{"), {}, Refusal.FILE_UNREADABLE),
    "config is no object": (written("config.json", b"[]"), {}, Refusal.FILE_UNREADABLE),
    "config is no UTF-8": (written("config.json", b'{"a": "\xff"}'), {}, Refusal.FILE_UNREADABLE),
    "config nested deeply": (written("config.json", b"[" * 100_000), {}, Refusal.FILE_UNREADABLE),
    "config too large": (written("config.json", b" " * (hub_folder.CONFIG_BYTES + 1)), {}, Refusal.FILE_TOO_LARGE),
    "a family unknown": (config(model_type="gpt2"), {}, Refusal.ARCHITECTURE_UNSUPPORTED),
    "no family": (config(model_type=None), {}, Refusal.ARCHITECTURE_UNSUPPORTED),
    "labels unnamed": (config(id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}), {}, Refusal.LABELS_UNKNOWN),
    "labels missing": (config(id2label=None), {}, Refusal.LABELS_UNKNOWN),
    "labels twice": (
        config(id2label={"0": "neutral", "1": "neutral", "2": "entailment"}), {}, Refusal.LABELS_UNKNOWN,
    ),
    "two labels for three": (config(id2label={"0": "entailment", "1": "not_entailment"}), {}, Refusal.LABELS_UNKNOWN),
    "labels said badly": (None, {"labels": "entailment,neutral"}, Refusal.LABELS_UNKNOWN),
    "labels said twice": (None, {"labels": "entailment=0,neutral=0,contradiction=2"}, Refusal.LABELS_UNKNOWN),
    "fewer labels than logits": (
        config(id2label={"0": "entailment", "1": "not_entailment"}), {"role": "grounding"}, Refusal.OUTPUTS_UNSUPPORTED,
    ),
    "spans of pairs": (
        config(id2label={"0": "supported", "1": "hallucinated"}), {"role": "spans"}, Refusal.OUTPUTS_UNSUPPORTED,
    ),
    "tokens of another model": (config(vocab_size=5), {}, Refusal.VOCABULARY_MISMATCH),
    "a tokenizer of rubbish": (written("tokenizer.json", b'{"model": {}}'), {}, Refusal.TOKENIZER_UNUSABLE),
    "a template without a text": (None, {"template": "[CLS]{premise}[SEP]"}, Refusal.TEMPLATE_INVALID),
    "a template with nothing between": (None, {"template": "{premise}{hypothesis}"}, Refusal.TEMPLATE_INVALID),
    "too long": (None, {"max_tokens": 4_096}, Refusal.MAX_TOKENS_INVALID),
    "too short": (config(max_position_embeddings=40), {}, Refusal.MAX_TOKENS_INVALID),
    "a graph of rubbish": (written("model.onnx", b"\x3a\xff\xff\xff\x7f" + b"x" * 64), {}, Refusal.GRAPH_UNUSABLE),
    "an empty graph": (written("model.onnx", b""), {}, Refusal.GRAPH_UNUSABLE),
    "text for a graph": (written("model.onnx", b"hello world, this is no graph"), {}, Refusal.GRAPH_UNUSABLE),
    "weights beside by a path": (external("../secret"), {}, Refusal.PATH_ESCAPES),
    "weights beside at the root": (external("/etc/hostname"), {}, Refusal.PATH_ESCAPES),
    "weights beside in a folder": (external("a/b"), {}, Refusal.PATH_ESCAPES),
    "weights beside nowhere": (external("weights.data"), {}, Refusal.FILE_MISSING),
    "weights beside without a name": (external(""), {}, Refusal.PATH_ESCAPES),
    "weights beside in the graph": (external("model.onnx"), {}, Refusal.PATH_ESCAPES),
    "weights beside with an odd name": (external("a b"), {}, Refusal.PATH_ESCAPES),
    "weights beside hidden": (external(".hidden"), {}, Refusal.PATH_ESCAPES),
    "a batch of one": (graph(fixed_batch), {}, Refusal.INPUTS_UNSUPPORTED),
    "an input that nobody feeds": (graph(another_input), {}, Refusal.INPUTS_UNSUPPORTED),
    "another output": (graph(two_outputs), {}, Refusal.OUTPUTS_UNSUPPORTED),
    "a name with a path": (None, {"name": "../x"}, Refusal.NAME_INVALID),
    "a name that is taken": (None, {"name": "nli"}, Refusal.NAME_TAKEN),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "said", "reason"), CASES.values(), ids=CASES)
def test_what_is_refused_leaves_nothing_behind(tmp_path, spoil, said, reason):
    folder = copied(tmp_path, "bert")
    if spoil is not None:
        spoil(folder)
    shelf = Shelf(tmp_path / "models")
    with pytest.raises(OwnModelError) as caught:
        add_model(folder, Wish(**({"role": "entailment", "name": "mine"} | said)), shelf, DELIVERED)
    assert caught.value.reason is reason, caught.value.message
    assert "Traceback" not in caught.value.message
    assert {path.name for path in shelf.root.glob("*")} <= {".lock"}


def test_the_folder_itself_would_do(tmp_path):
    entry = add_model(copied(tmp_path, "bert"), Wish(role="entailment", name="mine"), Shelf(tmp_path / "m"), DELIVERED)
    assert entry.name == "mine"


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OwnModelError) as caught:
        add_model(tmp_path / "none", Wish(role="spans", name="mine"), Shelf(tmp_path / "models"), DELIVERED)
    assert caught.value.reason is Refusal.FOLDER_MISSING


@pytest.mark.parametrize("prefix", [None, "1/"])
def test_weights_beside_the_graph_come_along(tmp_path, prefix):
    folder = copied(tmp_path, "bert")
    model = onnx.load(folder / "model.onnx")
    place = folder / (prefix or "") / "model.onnx"
    place.parent.mkdir(exist_ok=True)
    (folder / "model.onnx").unlink()
    onnx.save_model(model, place, save_as_external_data=True, location="model.onnx.data", size_threshold=128)
    shelf = Shelf(tmp_path / "models")
    entry = add_model(folder, Wish(role="entailment", name="mine"), shelf, DELIVERED)
    pinned = {file.path: file for file in entry.files}
    assert pinned["1/model.onnx.data"].role == "weights"
    assert (shelf.root / "mine/1/model.onnx.data").read_bytes() == (place.parent / "model.onnx.data").read_bytes()


def test_external_files_are_found_wherever_tensors_may_be(tmp_path):
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])
    outside = onnx.TensorProto(name="o", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    outside.external_data.add(key="location", value="../deep")
    constant = helper.make_node("Constant", [], ["c"], value=outside)
    inner = helper.make_graph([constant], "inner", [], [])
    branch = helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)
    model = helper.make_model(helper.make_graph([branch], "g", [], [], [tensor]))
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert external_files(tmp_path / "m.onnx") == ("../deep",)


def test_a_graph_nested_without_end_is_refused(tmp_path):
    data = b""
    for _ in range(200):  # node > attribute > graph > node > …
        for number in (6, 5, 1):
            data = bytes([number << 3 | 2]) + varint(len(data)) + data
    (tmp_path / "m.onnx").write_bytes(b"\x3a" + varint(len(data)) + data)
    with pytest.raises(OwnModelError) as caught:
        external_files(tmp_path / "m.onnx")
    assert caught.value.reason is Refusal.GRAPH_UNUSABLE


def varint(value):
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def test_safetensors_without_the_converter_say_what_to_install(tmp_path, monkeypatch):
    folder = copied(tmp_path, "bert")
    (folder / "model.onnx").unlink()
    header = b"{}"
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    monkeypatch.setattr(conversion, "find_spec", lambda name: None if name == "torch" else object())
    with pytest.raises(OwnModelError, match=r"torch is not installed: pip install 'groundtrail\[convert\]'") as caught:
        add_model(folder, Wish(role="entailment", name="mine"), Shelf(tmp_path / "models"), DELIVERED)
    assert caught.value.reason is Refusal.CONVERTER_MISSING


def test_every_reason_is_met_by_a_test_or_by_the_commands():
    met = {reason for _, _, reason in CASES.values()} | {Refusal.FOLDER_MISSING, Refusal.CONVERTER_MISSING}
    elsewhere = {
        Refusal.CONVERSION_FAILED,  # tests/unit/training
        Refusal.MAX_TOKENS_UNKNOWN, Refusal.MODEL_UNKNOWN, Refusal.MODEL_UNFIT, Refusal.ROWS_INVALID,
        Refusal.ROWS_TOO_FEW, Refusal.TOKENS_DIFFER,
    }  # fmt: skip
    assert met | elsewhere == set(Refusal)
