"""Matrices in 5.6 bits a weight come back as close as forty levels allow, in NumPy and in the graph alike."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from training.packed import GROUP, LEVELS, can_pack, can_pack_rows, pack, unpack, unpacking
from training.quantise import SizeLimits, int8_weights

RANDOM = np.random.default_rng(5)
MATRIX = (RANDOM.normal(size=(3 * GROUP, 12)) * RANDOM.lognormal(size=(1, 12))).astype(np.float32)
FEED = {"states": RANDOM.normal(size=(2, 5, 3 * GROUP)).astype(np.float32)}


def product(matrix):
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["states", "weight"], ["out"])],
        "test",
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "tokens", matrix.shape[0]])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["batch", "tokens", matrix.shape[1]])],
        [numpy_helper.from_array(matrix, "weight")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def test_three_codes_stand_in_a_word_and_a_scale_for_each_group():
    words, scales = pack(MATRIX)
    assert (words.dtype, words.shape) == (np.uint16, (MATRIX.size // 3,))
    assert (scales.dtype, scales.shape) == (np.float16, (3, 1, 12))
    assert words.max() < LEVELS**3


def test_what_comes_back_is_within_half_a_level_but_for_what_lies_beyond_the_last():
    words, scales = pack(MATRIX)
    groups, back = (one.reshape(3, GROUP, 12) for one in (MATRIX, unpack(words, scales)))
    step = scales.astype(np.float32)
    inside = np.abs(groups) <= step * LEVELS / 2
    assert (np.abs(groups - back)[inside] <= np.broadcast_to(step / 2 * 1.0001, groups.shape)[inside]).all()
    assert inside.mean() > 0.97
    relative = np.sqrt(np.square(groups - back).sum() / np.square(groups).sum())
    assert relative < 0.04


def test_a_fitted_scale_errs_less_than_one_that_reaches_the_peak():
    groups = MATRIX.reshape(3, GROUP, 12)
    peak = (np.abs(groups).max(axis=1, keepdims=True) / ((LEVELS - 1) / 2)).astype(np.float16).astype(np.float32)
    middle = (LEVELS - 1) / 2
    plain = (np.clip(np.rint(groups / peak + middle), 0, LEVELS - 1) - middle) * peak
    fitted = unpack(*pack(MATRIX)).reshape(groups.shape)
    assert np.square(fitted - groups).sum() < np.square(plain - groups).sum()


def test_a_group_of_zeros_stays_next_to_zero():
    assert np.abs(unpack(*pack(np.zeros((GROUP, 3), dtype=np.float32)))).max() < 1e-6


@pytest.mark.parametrize(("shape", "possible"), [((64, 3), True), ((65, 3), False), ((64, 2), False), ((128, 9), True)])
def test_only_whole_groups_and_words_are_packed(shape, possible):
    assert can_pack(shape) is possible


def test_the_graph_computes_the_same_matrix_to_the_bit():
    constants, nodes, result = unpacking("m", MATRIX)
    outputs = [helper.make_tensor_value_info(result, TensorProto.FLOAT, MATRIX.shape)]
    graph = helper.make_graph(nodes, "test", [], outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model)
    expected = unpack(*pack(MATRIX))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    assert np.array_equal(session.run(None, {})[0], expected)
    (found,) = ReferenceEvaluator(model).run(None, {})
    assert np.array_equal(found, expected)


def test_products_read_packed_matrices_and_others_int8():
    limits = SizeLimits(matrix=20, packed=True)
    packed = int8_weights(product(MATRIX), limits)
    kinds = {tensor.data_type for tensor in packed.graph.initializer}
    assert TensorProto.UINT16 in kinds
    assert TensorProto.INT8 not in kinds
    exact = FEED["states"] @ unpack(*pack(MATRIX))
    (found,) = ReferenceEvaluator(packed).run(None, FEED)
    assert np.abs(np.subtract(found, exact)).max() < 1e-4
    odd = int8_weights(product(MATRIX[:160]), limits)
    assert TensorProto.INT8 in {tensor.data_type for tensor in odd.graph.initializer}


def test_rows_of_a_table_are_looked_up_in_bytes(tmp_path):
    table = RANDOM.normal(size=(30, 2 * GROUP)).astype(np.float32)
    assert can_pack_rows(table.shape)
    assert not can_pack_rows((30, GROUP + 1))
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "ids"], ["out"], axis=0)],
        "test",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["batch", "tokens", 2 * GROUP])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    packed = int8_weights(model, SizeLimits(table=20, packed=True))
    ids = np.array([[3, 29, 0], [7, 7, 11]], dtype=np.int64)
    expected = unpack(*pack(table.reshape(-1, 1))).reshape(table.shape)[ids]
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "loaded.onnx")
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(packed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    assert np.array_equal(session.run(None, {"ids": ids})[0], expected)
    kept = {tuple(one.dims): one.data_type for one in onnx.load(tmp_path / "loaded.onnx").graph.initializer}
    assert kept[30, 2, GROUP] == TensorProto.INT8


def test_a_session_unpacks_once_when_it_starts(tmp_path):
    packed = int8_weights(product(MATRIX), SizeLimits(matrix=20, packed=True))
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "loaded.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(packed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    assert [node.op_type for node in onnx.load(tmp_path / "loaded.onnx").graph.node] == ["MatMul"]
