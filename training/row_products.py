"""Heads and pooling with a product for each row, so that a text alone has the bits that it has in company (ADR 0044).

What a trunk computes of a text does not depend on the rows beside it. Two operators behind it may, in ONNX Runtime: a
sum over the tokens (``ReduceSum``) takes other code for one row than for two, and another order where a width is one
short of a multiple of four; a ``Gemm`` may choose its kernel by the number of rows. Both become ``MatMul`` with one
product for each row, which sums one token after the other: padding adds zeros at the end, and neighbours nothing.

Delivered models that were exported before this was known are rewritten in place:

    python -m training.row_products --repository model_repository NAME…
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from services.common.model_repository import ModelRepository
from tools.update_manifest import describe, dump
from training.parity import (
    COMPANY,
    Encoder,
    batch_variance,
    encoder_of,
    largest_difference,
    mixed_lengths,
    random_items,
    run,
    session_of,
)

MASK: Final = "attention_mask"
UNCHANGED_LIMIT: Final = 1e-5
"""Largest difference that a rewritten model may show from what it was (ADR 0032)."""
_FIRST: Final = "rows.first"
_COLUMN: Final = "rows.column"
_VOCABULARY: Final = 20_000
_COMPANY_TOKENS: Final = 128


class RewriteError(Exception):
    """A rewritten model does not compute what it did."""


def by_row(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with a product for each row in place of masked sums over tokens, and of every ``Gemm``.

    Recognised is what heads and poolings are made of: ``ReduceSum`` over axis 1 of a product with the attention mask,
    and ``Gemm`` with a transposed right-hand side and no scaling. Everything else is taken over unchanged.

    Args:
        model: inputs and outputs are kept; the argument is not changed.
    """
    result = onnx.ModelProto()
    result.CopyFrom(model)
    _Rewriting(result.graph).run()
    onnx.checker.check_model(result)
    return result


class _Rewriting:
    """Rewrites one graph in place."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self._graph = graph
        self._makers = {output: node for node in graph.node for output in node.output}
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        self._added: dict[str, NDArray[np.int64]] = {}

    def run(self) -> None:
        nodes: list[onnx.NodeProto] = []
        for node in self._graph.node:
            nodes += self._summed(node) or self._multiplied(node) or [node]
        used = {name for node in nodes for name in node.input} | {output.name for output in self._graph.output}
        del self._graph.node[:]
        self._graph.node.extend(node for node in nodes if used & set(node.output))
        self._graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in self._added.items())

    def _summed(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Replace a masked sum over tokens by mask times states, row by row; nothing when it is none."""
        product = self._makers.get(node.input[0]) if node.op_type == "ReduceSum" else None
        if product is None or product.op_type != "Mul" or _flag(node, "keepdims", 1) or self._axes(node) != [1]:
            return []
        masks = [name for name in product.input if self._is_mask(name)]
        if len(masks) != 1:
            return []
        (states,) = (name for name in product.input if name != masks[0])
        out = node.output[0]
        row, twice, sums = f"{out}.row", f"{out}.twice", f"{out}.sums"
        return [
            helper.make_node("Transpose", [masks[0]], [row], name=row, perm=[0, 2, 1]),
            # Two rows, for the kernel of one row adds the last three of a width apart.
            helper.make_node("Concat", [row, row], [twice], name=twice, axis=1),
            helper.make_node("MatMul", [twice, states], [sums], name=sums),
            helper.make_node("Gather", [sums, self._constant(_FIRST, 0)], [out], name=out, axis=1),
        ]

    def _multiplied(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Replace a product with a weight by one for each row; nothing when it has another form."""
        plain = all(_flag(node, name, 1.0) == 1.0 for name in ("alpha", "beta")) and not _flag(node, "transA", 0)
        if node.op_type != "Gemm" or not plain or not _flag(node, "transB", 0):
            return []
        value, weight, *bias = node.input
        out = node.output[0]
        column, product, flat = f"{out}.column", f"{out}.product", f"{out}.flat"
        last = flat if bias else out
        nodes = [
            helper.make_node("Unsqueeze", [value, self._constant(_COLUMN, [2])], [column], name=column),
            helper.make_node("MatMul", [weight, column], [product], name=product),
            helper.make_node("Squeeze", [product, self._constant(_COLUMN, [2])], [last], name=last),
        ]
        return [*nodes, helper.make_node("Add", [flat, bias[0]], [out], name=out)] if bias else nodes

    def _is_mask(self, name: str) -> bool:
        """Say whether a value is the attention mask with a column for itself: cast and unsqueezed at the end."""
        wide = False
        while name != MASK:
            maker = self._makers.get(name)
            if maker is None or maker.op_type not in {"Cast", "Unsqueeze"}:
                return False
            if maker.op_type == "Unsqueeze":
                if wide or self._values(maker.input[1]) not in ([-1], [2]):
                    return False
                wide = True
            name = maker.input[0]
        return wide

    def _axes(self, node: onnx.NodeProto) -> list[int]:
        return self._values(node.input[1]) if len(node.input) > 1 else []

    def _values(self, name: str) -> list[int]:
        return list(numpy_helper.to_array(self._constants[name]).ravel()) if name in self._constants else []

    def _constant(self, name: str, value: int | list[int]) -> str:
        self._added[name] = np.array(value, dtype=np.int64)
        return name


def _flag(node: onnx.NodeProto, name: str, default: float) -> float:
    return next((helper.get_attribute_value(one) for one in node.attribute if one.name == name), default)


def rewrite(repository: Path, name: str) -> dict[str, Any]:
    """Rewrite a delivered model in place: graph, manifest entry, and whose golden outputs they are.

    Returns:
        The new fingerprint and what was measured.

    Raises:
        RewriteError: an output differs from the old graph's by more than ``UNCHANGED_LIMIT``; nothing was written.
        ModelRepositoryError: the repository does not fit together.
    """
    entry = ModelRepository.open(repository).verified(name)
    path = repository / name / "1" / "model.onnx"
    before = onnx.load(path)
    after = by_row(before)
    items = random_items(mixed_lengths(min(entry.max_tokens or _COMPANY_TOKENS, _COMPANY_TOKENS)), _VOCABULARY)
    old, new = encoder_of(session_of(before), 0), encoder_of(session_of(after), 0)
    difference = max(_difference(old, new, items[:count]) for count in (1, 2, COMPANY))
    if not difference <= UNCHANGED_LIMIT:
        raise RewriteError(f"{name}: outputs differ by {difference:.1e} from what they were")
    weights = after.SerializeToString(deterministic=True)
    path.write_bytes(weights)
    manifest = json.loads((repository / "MANIFEST.json").read_text(encoding="utf-8"))
    (listed,) = (model for model in manifest["models"] if model["name"] == name)
    listed["files"] = describe(repository / name)
    variance = batch_variance(new, items)
    listed["metrics"].setdefault("export", {})["batch_invariance_largest_difference"] = float(f"{variance:.1e}")
    (repository / "MANIFEST.json").write_text(dump(manifest), encoding="utf-8")
    fingerprint = ModelRepository.open(repository).verified(name).fingerprint
    golden = repository / name / "golden.json"
    if golden.is_file():
        said = json.loads(golden.read_text(encoding="utf-8")) | {"model": fingerprint}
        golden.write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")
    digest = hashlib.sha256(weights).hexdigest()
    return {"model": fingerprint, "sha256": digest, "difference": difference, "batch_variance": variance}


def _difference(old: Encoder, new: Encoder, items: Sequence[tuple[int, ...]]) -> float:
    return largest_difference(run(old, items), run(new, items))


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite the named models and say what was measured."""
    parser = argparse.ArgumentParser(
        prog="python -m training.row_products",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--repository", type=Path, required=True, help="folder with MANIFEST.json")
    options = parser.parse_args(arguments)
    for name in options.names:
        print(json.dumps(rewrite(options.repository, name), indent=2))


if __name__ == "__main__":
    main()
