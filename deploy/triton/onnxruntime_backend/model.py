"""Triton's ``onnxruntime`` backend in Python: for servers that have the Python backend and not the native one.

Lies as ``model.py`` in ``backends/onnxruntime`` beside the Python backend's own files, so that a model whose
``config.pbtxt`` says ``backend: "onnxruntime"`` is served by it; the NVIDIA image brings the native backend and needs
none of this. Tensors come from the model's configuration, weights from ``model.onnx`` (or the configured
``default_model_filename``) in the version's folder, and the thread counts from the parameters that the native backend
reads too: ``intra_op_thread_count`` and ``inter_op_thread_count``.

Requests that Triton hands over together are computed together: those of one shape are joined along the batch dimension
and their outputs are cut apart again. Computes on the CPU.
"""
# ruff: noqa: INP001 - Triton loads this file by its path

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import triton_python_backend_utils as pb_utils

WEIGHTS_FILE = "model.onnx"
THREADS = {"intra_op_thread_count": "intra_op_num_threads", "inter_op_thread_count": "inter_op_num_threads"}


class TritonPythonModel:
    """One instance of one model; Triton calls the methods, by these names."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the weights; what raises here keeps the model from becoming ready, with the message in Triton's log."""
        config = json.loads(args["model_config"])
        self._batched = config["max_batch_size"] > 0
        self._inputs = [tensor["name"] for tensor in config["input"]]
        self._outputs = {
            tensor["name"]: pb_utils.triton_string_to_numpy(tensor["data_type"]) for tensor in config["output"]
        }
        file = config.get("default_model_filename") or WEIGHTS_FILE
        path = Path(args["model_repository"], args["model_version"], file)
        self._session = onnxruntime.InferenceSession(
            str(path), _session_options(config.get("parameters", {})), providers=["CPUExecutionProvider"]
        )
        _require_tensors(path, "input", [node.name for node in self._session.get_inputs()], self._inputs)
        _require_tensors(path, "output", [node.name for node in self._session.get_outputs()], list(self._outputs))

    def execute(self, requests: Sequence[Any]) -> list[Any]:
        """Return one response for each request, in order; a failure belongs to the requests that were joined."""
        feeds = [
            {name: pb_utils.get_input_tensor_by_name(request, name).as_numpy() for name in self._inputs}
            for request in requests
        ]
        responses: list[Any] = [None] * len(requests)
        for members in self._joined(feeds):
            try:
                results = self._compute([feeds[member] for member in members])
            except Exception as error:  # noqa: BLE001 - whatever it is, only these requests get it
                fault = pb_utils.TritonError(f"ONNX Runtime: {error}")
                results = [pb_utils.InferenceResponse(output_tensors=[], error=fault)] * len(members)
            else:
                results = [
                    self._response(requests[member], result) for member, result in zip(members, results, strict=True)
                ]
            for member, response in zip(members, results, strict=True):
                responses[member] = response
        return responses

    def finalize(self) -> None:
        """Release the weights."""
        self._session = None

    def _joined(self, feeds: Sequence[dict[str, Any]]) -> list[list[int]]:
        """Group the positions of requests whose inputs agree in everything but the batch dimension."""
        if not self._batched:
            return [[position] for position in range(len(feeds))]
        groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for position, feed in enumerate(feeds):
            groups[tuple(feed[name].shape[1:] for name in self._inputs)].append(position)
        return list(groups.values())

    def _compute(self, feeds: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Run one session call for all and return a dictionary of outputs for each."""
        names = list(self._outputs)
        if len(feeds) == 1:
            return [dict(zip(names, self._session.run(names, feeds[0]), strict=True))]
        joined = {name: np.concatenate([feed[name] for feed in feeds]) for name in self._inputs}
        rows = np.cumsum([len(feed[self._inputs[0]]) for feed in feeds])[:-1]
        parts = [np.split(output, rows) for output in self._session.run(names, joined)]
        return [dict(zip(names, own, strict=True)) for own in zip(*parts, strict=True)]

    def _response(self, request: Any, outputs: dict[str, Any]) -> Any:
        wanted = request.requested_output_names()
        return pb_utils.InferenceResponse(
            output_tensors=[
                pb_utils.Tensor(name, np.ascontiguousarray(outputs[name], dtype=self._outputs[name]))
                for name in self._outputs
                if name in wanted
            ]
        )


def _session_options(parameters: dict[str, dict[str, str]]) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Lengths vary from batch to batch: a plan per shape would only be kept, never used again.
    options.enable_mem_pattern = False
    for parameter, option in THREADS.items():
        if parameter in parameters:
            setattr(options, option, int(parameters[parameter]["string_value"]))
    return options


def _require_tensors(path: Path, kind: str, found: list[str], configured: list[str]) -> None:
    if sorted(found) != sorted(configured):
        raise ValueError(f"{path} has the {kind}s {sorted(found)}; config.pbtxt says {sorted(configured)}")
