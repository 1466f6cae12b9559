"""What a variant loses: differences, labels and accuracy of models whose outputs are known."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from training.variant_loss import Judged, compare, labels_of, record, table

ROWS = [Judged("w0", "w0", 0), Judged("w1", "w1", 1), Judged("w2 w2", "w2", 2), Judged("w0 w1", "w0", 1)]


def model_folder(root, offsets):
    """Logits are how often each of three words occurs, plus the offsets."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"], axis=0),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["rows", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "tokens_axis"], ["counts"], keepdims=0),
        helper.make_node("Add", ["counts", "offsets"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "test",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])],
        [
            numpy_helper.from_array(np.eye(3, dtype=np.float32), "table"),
            numpy_helper.from_array(np.array([2]), "last"),
            numpy_helper.from_array(np.array([1]), "tokens_axis"),
            numpy_helper.from_array(np.array(offsets, dtype=np.float32), "offsets"),
        ],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (root / "1").mkdir(parents=True)
    (root / "1" / "model.onnx").write_bytes(proto.SerializeToString())
    tokenizer = Tokenizer(WordLevel({"w0": 0, "w1": 1, "w2": 2}, unk_token="w0"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(root / "tokenizer.json"))
    return root


@pytest.fixture
def figures(tmp_path):
    reference = model_folder(tmp_path / "one" / "nli", [0, 0, 0])
    other = model_folder(tmp_path / "two" / "nli", [-1.5, 0, 0.25])
    return list(compare([reference, other], ROWS).values())


def test_the_reference_agrees_with_itself(figures):
    reference, _ = figures
    assert (reference.logit_difference_largest, reference.logit_difference_mean, reference.same_label) == (0, 0, 1)
    assert reference.accuracy == 0.75  # all but the last


def test_the_other_is_as_far_away_as_it_was_made(figures):
    _, other = figures
    assert other.logit_difference_largest == 1.5
    assert other.logit_difference_mean == round((1.5 + 0.25) / 3, 5)
    assert other.same_label == 0.75  # the last pair turns to class 1
    assert other.accuracy == 1.0
    assert other.batch_difference_largest == 0
    assert other.rows == 4


def test_the_table_has_a_line_for_each(figures):
    lines = table(dict(zip(("a", "b"), figures, strict=True))).splitlines()
    assert len(lines) == 4
    assert lines[3].startswith("| b | 1.5000 | 0.5833 | 0.7500 | 1.0000 | 0e+00 | 0.0 |")


@pytest.mark.parametrize(
    ("logits", "labels"),
    [([[0.1, 0.3, 0.2], [1.0, 0.0, 0.0]], [1, 0]), ([[0.2], [-0.2], [0.0]], [1, 0, 0])],
    ids=["the largest of three", "the sign of one"],
)
def test_labels(logits, labels):
    assert labels_of(np.array(logits, dtype=np.float32)).tolist() == labels


def test_figures_go_into_the_manifest_beside_the_folder(figures, tmp_path):
    path = tmp_path / "two" / "MANIFEST.json"
    path.write_text(json.dumps({"models": [{"name": "nli", "metrics": {"kept": 1}}, {"name": "ner", "metrics": {}}]}))
    record(tmp_path / "two" / "nli", figures[1])
    nli, ner = json.loads(path.read_text(encoding="utf-8"))["models"]
    assert nli["metrics"]["kept"] == 1
    assert nli["metrics"]["variant_loss"]["logit_difference_largest"] == 1.5
    assert ner["metrics"] == {}
