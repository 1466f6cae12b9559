"""Int8 weights: which tensors are stored so, what the graph then computes, what stays float32."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from training.quantise import SizeLimits, int8_along, int8_dynamic, int8_parameters, int8_weights

RANDOM = np.random.default_rng(4)
WIDE = RANDOM.normal(size=(6, 8)).astype(np.float32)
TALL = RANDOM.normal(size=(4, 8)).astype(np.float32)
WORDS = RANDOM.normal(size=(50, 6)).astype(np.float32)
FEED = {"ids": np.array([[3, 49, 0]], dtype=np.int64)}
LIMITS = SizeLimits(matrix=20, table=200)


def model(nodes, tensors, output_width=4):
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["batch", "tokens", output_width])],
        [numpy_helper.from_array(value, name) for name, value in tensors.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def encoder():
    """Embedding, matrix product with bias, and a second product: the three forms that occur."""
    return model(
        [
            helper.make_node("Gather", ["words", "ids"], ["states"], axis=0),
            helper.make_node("MatMul", ["states", "wide"], ["product"]),
            helper.make_node("Add", ["product", "bias"], ["sum"]),
            helper.make_node("MatMul", ["sum", "narrow"], ["out"]),
        ],
        {"words": WORDS, "wide": WIDE, "bias": np.arange(8, dtype=np.float32), "narrow": TALL.T[:, :2].copy()},
        2,
    )


def computed(proto):
    return ReferenceEvaluator(proto).run(None, FEED)[0]


@pytest.mark.parametrize(("axis", "shape"), [(0, (1, 8)), (1, (6, 1))], ids=["a scale per column", "a scale per row"])
def test_scales_put_each_channels_peak_on_code_127(axis, shape):
    codes, scale = int8_along(WIDE, axis)
    assert codes.dtype == np.int8
    assert scale.shape == shape
    assert (np.abs(codes).max(axis=axis) == 127).all()
    assert (np.abs(codes * scale - WIDE) <= scale / 2 + 1e-7).all()


def test_a_channel_of_zeros_stays_zero():
    codes, scale = int8_along(np.zeros((3, 2), dtype=np.float32), 0)
    assert not codes.any()
    assert (scale > 0).all()


def test_matrices_and_tables_are_stored_in_int8_and_small_ones_are_not():
    quantised = int8_weights(encoder(), LIMITS)
    stored = {t.name: t.data_type for t in quantised.graph.initializer}
    assert stored == {
        "bias": TensorProto.FLOAT,
        "narrow": TensorProto.FLOAT,
        "words.rows.int8": TensorProto.INT8,
        "words.rows.scale": TensorProto.FLOAT,
        "wide.columns.int8": TensorProto.INT8,
        "wide.columns.scale": TensorProto.FLOAT,
    }
    assert int8_parameters(quantised) == WIDE.size + WORDS.size


def test_the_graph_computes_with_the_rounded_weights_in_float():
    rounded = {name: np.multiply(*int8_along(value, axis)) for name, value, axis in (("w", WIDE, 0), ("t", WORDS, 1))}
    states = rounded["t"][FEED["ids"]] @ rounded["w"] + np.arange(8, dtype=np.float32)
    found = computed(int8_weights(encoder(), LIMITS))
    assert np.abs(found - states @ TALL.T[:, :2]).max() < 1e-5
    assert np.abs(found - computed(encoder())).max() > 1e-4  # the rounding is there


def test_gemm_with_a_transposed_weight_gets_a_scale_per_row():
    nodes = [
        helper.make_node("Gather", ["words", "ids"], ["states"], axis=0),
        helper.make_node("Reshape", ["states", "flat"], ["rows"]),
        helper.make_node("Gemm", ["rows", "weight", "bias"], ["product"], transB=1),
        helper.make_node("Reshape", ["product", "back"], ["out"]),
    ]
    weight = WIDE.T.copy()
    tensors = {
        "words": WORDS, "weight": weight, "bias": np.zeros(8, dtype=np.float32),
        "flat": np.array([-1, 6]), "back": np.array([1, 3, 8]),
    }  # fmt: skip
    quantised = int8_weights(model(nodes, tensors, 8), SizeLimits(matrix=20, table=10_000))
    assert {t.name for t in quantised.graph.initializer} >= {"words", "weight.rows.int8", "weight.rows.scale"}
    expected = WORDS[FEED["ids"]] @ np.multiply(*int8_along(weight, 1)).T
    assert np.abs(computed(quantised) - expected).max() < 1e-5


def test_a_matrix_that_two_nodes_read_is_stored_once():
    nodes = [
        helper.make_node("Gather", ["words", "ids"], ["states"], axis=0),
        helper.make_node("MatMul", ["states", "square"], ["once"]),
        helper.make_node("MatMul", ["once", "square"], ["out"]),
    ]
    quantised = int8_weights(model(nodes, {"words": WORDS, "square": WIDE[:, :6].copy()}, 6), SizeLimits(20, 10_000))
    assert [t.name for t in quantised.graph.initializer if t.data_type == TensorProto.INT8] == ["square.columns.int8"]
    assert [node.op_type for node in quantised.graph.node].count("Cast") == 1


def test_the_model_that_was_given_is_left_alone():
    given = encoder()
    before = given.SerializeToString(deterministic=True)
    int8_weights(given, LIMITS)
    assert given.SerializeToString(deterministic=True) == before


def test_only_standard_operators_are_used():
    quantised = int8_weights(encoder(), LIMITS)
    assert {node.domain for node in quantised.graph.node} == {""}
    assert not {node.op_type for node in quantised.graph.node if "Quantize" in node.op_type}
    onnx.checker.check_model(quantised, full_check=True)


def test_dynamic_int8_quantises_activations():
    kinds = {node.op_type for node in int8_dynamic(encoder()).graph.node}
    assert kinds >= {"DynamicQuantizeLinear", "MatMulInteger"}
