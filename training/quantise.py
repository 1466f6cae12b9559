"""Weights in int8, activations in float32: how every default model of the repository stores its matrices.

A matrix stands in the graph as ``Cast(int8 -> float) * scale`` with one scale per output channel; a word embedding
table has one scale per row and is looked up in int8. ONNX Runtime folds the former to float32 once, when a session
starts; so nothing is quantised while it computes, no scale depends on a text's neighbours in a batch, and the model
stays batch-invariant (ADR 0036). Biases, normalisations and what is small stay as they are. Only
operators of the standard ONNX set are used.
"""

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from training.packed import PACKED, can_pack, can_pack_rows, looking_up, unpacking

Floats = NDArray[np.float32]
Codes = NDArray[np.int8]

LARGEST_CODE: Final = 127
_MATRIX_AXES: Final = 2
_NEVER: Final = 1 << 62
_LEAST_PEAK: Final = 1e-8
"""Stands in for the peak of a channel of zeros, so that no scale is 0."""


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """What is large enough to be worth storing in fewer bits, and in how many.

    Attributes:
        matrix: least number of values of a matrix; a classifier's head stays float32.
        table: least number of values of a table that is looked up by index; positions stay float32.
        packed: whether matrices and tables are stored in 5.6 bits a weight (``training.packed``) where they can be.
    """

    matrix: int = 16_384
    table: int = 1_000_000
    packed: bool = False


def int8_along(value: Floats, axis: int) -> tuple[Codes, Floats]:
    """Quantise symmetrically with one scale for each index of the other axis.

    Args:
        value: a matrix.
        axis: the axis that shares a scale: 0 = one scale per column, 1 = one per row.

    Returns:
        Codes from -127 to 127 and the scales, with ``axis`` kept at length 1.
    """
    peaks = np.maximum(np.abs(value).max(axis=axis, keepdims=True), _LEAST_PEAK)
    scale = (peaks / np.float32(LARGEST_CODE)).astype(np.float32)
    codes = np.clip(np.rint(value / scale), -LARGEST_CODE, LARGEST_CODE).astype(np.int8)
    return codes, scale


def int8_weights(model: onnx.ModelProto, limits: SizeLimits | None = None) -> onnx.ModelProto:
    """Return the model with its large float32 matrices in int8.

    Replaced are constant right-hand sides of MatMul and Gemm (one scale per output channel) and tables of Gather along
    axis 0 (one scale per row). Everything else is taken over unchanged.

    Args:
        model: inputs and outputs are kept; the argument is not changed.
        limits: what is large enough; ``None`` = the defaults.
    """
    result = onnx.ModelProto()
    result.CopyFrom(model)
    _Rewriting(result.graph, limits or SizeLimits()).run()
    del result.graph.value_info[:]
    onnx.checker.check_model(result)
    return result


def int8_dynamic(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with its matrix products computed in int8, activations quantised as they come.

    The scale of an activation is taken over the whole batch: what a text scores depends on its neighbours. For speed,
    where that is acceptable; never a default.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "float.onnx", Path(folder) / "int8.onnx"
        source.write_bytes(model.SerializeToString())
        quantize_dynamic(source, target, op_types_to_quantize=["MatMul"], per_channel=True, weight_type=QuantType.QInt8)
        result = onnx.load(target)
    del result.graph.value_info[:]
    return int8_weights(result, SizeLimits(matrix=_NEVER))


def int8_parameters(model: onnx.ModelProto) -> int:
    """Return how many values the model stores in int8."""
    return sum(int(np.prod(t.dims)) for t in model.graph.initializer if t.data_type == TensorProto.INT8)


class _Rewriting:
    """Rewrites one graph in place."""

    def __init__(self, graph: onnx.GraphProto, limits: SizeLimits) -> None:
        self._graph = graph
        self._limits = limits
        floats = (tensor for tensor in graph.initializer if tensor.data_type == TensorProto.FLOAT)
        self._weights = {tensor.name: tensor for tensor in floats if len(tensor.dims) == _MATRIX_AXES}
        self._added: list[onnx.TensorProto] = []
        self._dequantised: dict[tuple[str, int], str] = {}
        self._nodes: list[onnx.NodeProto] = []

    def run(self) -> None:
        for node in self._graph.node:
            if not self._look_up(node):
                self._multiply(node)
                self._nodes.append(node)
        del self._graph.node[:]
        self._graph.node.extend(self._nodes)
        used = Counter(name for node in self._graph.node for name in node.input)
        used.update(output.name for output in self._graph.output)
        kept = [tensor for tensor in self._graph.initializer if used[tensor.name]]
        del self._graph.initializer[:]
        self._graph.initializer.extend([*kept, *self._added])

    def _multiply(self, node: onnx.NodeProto) -> None:
        """Let a MatMul or Gemm read its right-hand side from int8 codes."""
        if node.op_type not in {"MatMul", "Gemm"} or self._size(node.input[1]) < self._limits.matrix:
            return
        transposed = any(a.name == "transB" and a.i for a in node.attribute)
        node.input[1] = self._dequantise(node.input[1], axis=1 if transposed else 0)

    def _look_up(self, node: onnx.NodeProto) -> bool:
        """Replace a Gather from a large table by one of codes times one of scales; return whether it was one."""
        along_rows = all(a.name != "axis" or a.i == 0 for a in node.attribute)
        if node.op_type != "Gather" or not along_rows or self._size(node.input[0]) < self._limits.table:
            return False
        table, name = node.input[0], node.output[0]
        if self._limits.packed and can_pack_rows(tuple(self._weights[table].dims)):
            value = numpy_helper.to_array(self._weights[table])
            constants, nodes = looking_up(f"{table}{PACKED}", value, node.input[1], name)
            self._added += constants
            self._nodes += nodes
            return True
        codes, scale = self._store(table, axis=1)
        self._nodes += [
            helper.make_node("Gather", [codes, node.input[1]], [f"{name}.codes"], name=f"{name}.codes", axis=0),
            helper.make_node("Cast", [f"{name}.codes"], [f"{name}.cast"], name=f"{name}.cast", to=TensorProto.FLOAT),
            helper.make_node("Gather", [scale, node.input[1]], [f"{name}.scales"], name=f"{name}.scales", axis=0),
            helper.make_node("Mul", [f"{name}.cast", f"{name}.scales"], [name], name=name),
        ]
        return True

    def _dequantise(self, weight: str, axis: int) -> str:
        """Add ``Cast * scale`` of a weight, or its unpacking, once for all nodes that read it."""
        packs = self._limits.packed and axis == 0 and can_pack(tuple(self._weights[weight].dims))
        if packs and (weight, axis) not in self._dequantised:
            value = numpy_helper.to_array(self._weights[weight])
            constants, nodes, self._dequantised[weight, axis] = unpacking(f"{weight}{PACKED}", value)
            self._added += constants
            self._nodes += nodes
        if (weight, axis) not in self._dequantised:
            codes, scale = self._store(weight, axis)
            self._nodes += [
                helper.make_node("Cast", [codes], [f"{codes}.cast"], name=f"{codes}.cast", to=TensorProto.FLOAT),
                helper.make_node("Mul", [f"{codes}.cast", scale], [f"{codes}.float"], name=f"{codes}.float"),
            ]
            self._dequantised[weight, axis] = f"{codes}.float"
        return self._dequantised[weight, axis]

    def _store(self, weight: str, axis: int) -> tuple[str, str]:
        """Add codes and scales of a weight; return their names."""
        names = (
            f"{weight}.{'columns' if axis == 0 else 'rows'}.int8",
            f"{weight}.{'columns' if axis == 0 else 'rows'}.scale",
        )
        if all(tensor.name != names[0] for tensor in self._added):
            for name, value in zip(names, int8_along(numpy_helper.to_array(self._weights[weight]), axis), strict=True):
                self._added.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return names

    def _size(self, name: str) -> int:
        """Return how many values a float32 matrix holds; 0 for what is none."""
        return int(np.prod(self._weights[name].dims)) if name in self._weights else 0
