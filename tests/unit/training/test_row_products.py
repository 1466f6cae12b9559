"""Sums over tokens and products of heads become one product a row; nothing else does."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from training.row_products import by_row

RANDOM = np.random.default_rng(9)
STATES = RANDOM.normal(size=(60, 8)).astype(np.float32)
HEAD = RANDOM.normal(size=(3, 8)).astype(np.float32)
BIAS = np.array([0.5, -1.0, 2.0], dtype=np.float32)
FEED = {
    "input_ids": np.array([[3, 49, 0], [7, 8, 9]], dtype=np.int64),
    "attention_mask": np.array([[1, 1, 0], [1, 1, 1]], dtype=np.int64),
}


def encoder(*, keepdims=0, transposed=1, axis=1, summed="masked", alpha=1.0):
    """A lookup, a masked sum over tokens and a head: what stands behind a trunk."""
    head = HEAD if transposed else HEAD.T.copy()
    constants = {"table": STATES, "head": head, "bias": BIAS}
    axes = {"last": [-1], "over": [axis], "first": [1]}
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["states"], axis=0),
        helper.make_node("Unsqueeze", ["attention_mask", "last"], ["wide"]),
        helper.make_node("Cast", ["wide"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["states", "mask"], ["masked"]),
        helper.make_node("ReduceSum", [summed, "over"], ["sum"], keepdims=keepdims),
        *([helper.make_node("Squeeze", ["sum", "first"], ["pooled"])] if keepdims else []),
        helper.make_node(
            "Gemm", ["pooled" if keepdims else "sum", "head", "bias"], ["logits"], transB=transposed, alpha=alpha
        ),
    ]
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in FEED],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()]
        + [numpy_helper.from_array(np.array(value, dtype=np.int64), name) for name, value in axes.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def operators(model):
    return [node.op_type for node in model.graph.node]


def test_a_masked_sum_and_a_head_become_products_that_say_the_same():
    before = encoder()
    after = by_row(before)
    assert {"Gemm", "ReduceSum", "Mul"} & set(operators(after)) == set()
    assert operators(after).count("MatMul") == 2
    for model in (before, after):
        (found,) = ReferenceEvaluator(model).run(None, FEED)
        expected = np.stack([STATES[[3, 49]].sum(0), STATES[[7, 8, 9]].sum(0)]) @ HEAD.T + BIAS
        assert np.allclose(found, expected, atol=1e-5)
    onnx.checker.check_model(after, full_check=True)


def test_a_graph_is_rewritten_once():
    once = by_row(encoder())
    assert by_row(once) == once


@pytest.mark.parametrize(
    ("form", "kept"),
    [
        ({"keepdims": 1}, "ReduceSum"),
        ({"summed": "states"}, "ReduceSum"),
        ({"transposed": 0}, "Gemm"),
        ({"alpha": 0.5}, "Gemm"),
    ],
    ids=["a sum that keeps its dimension", "a sum without a mask", "a head that is not transposed", "a scaled head"],
)
def test_other_forms_stay(form, kept):
    before = encoder(**form)
    after = by_row(before)
    assert kept in operators(after)
    for found, expected in zip(
        ReferenceEvaluator(after).run(None, FEED), ReferenceEvaluator(before).run(None, FEED), strict=True
    ):
        assert np.allclose(found, expected, atol=1e-5)
