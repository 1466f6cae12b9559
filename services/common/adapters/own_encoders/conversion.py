"""From safetensors to an ONNX graph. The only module that needs PyTorch; without it a sentence says what to install.

Nothing of the folder is run: the class is one of a fixed table, made from the numbers of ``config.json``, and
``auto_map`` (code that a repository of a hub brings along) is not looked at. The graph must give what the module
gives, within 1e-4.
"""

import warnings
from collections.abc import Mapping
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from services.common.adapters.own_encoders.families import SEQUENCE
from services.common.adapters.own_encoders.hub_folder import HubFolder
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal

NEEDED: Final = ("torch", "transformers", "safetensors", "onnx", "onnxscript")
EXTRA: Final = "convert"
OPSET: Final = 18
"""What ONNX Runtime knows since 1.14, and the exporter writes without a translation."""
PARITY_LIMIT: Final = 1e-4
"""Largest difference of a logit, or share of it where it is above 1."""
_LENGTHS: Final = (8, 33, 120)
_PER_TOKEN: Final = 3
"""Dimensions of logits for each token."""
_GRAPH_BYTES: Final = 2**31 - 2**24
"""An ONNX file is one protobuf message, which ends at 2 GiB; some room is left for the graph."""
_LOSSLESS: Final = ("position_ids", "embed_tokens.weight")
"""Names of tensors that a file may leave out: they are counted, or shared with others."""


def convert(
    folder: HubFolder, architecture: str, prefix: str, labels: tuple[str, ...], max_tokens: int, target: Path
) -> str:  # fmt: skip
    """Write the graph; return by what it was made.

    Args:
        folder: with safetensors.
        architecture: the class.
        prefix: what the names of the tensors begin with beyond the class's own.
        labels: one for each logit.
        max_tokens: longest input of the graph.
        target: the graph's file.

    Raises:
        OwnModelError: CONVERTER_MISSING, CONVERSION_FAILED.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise OwnModelError(
            Refusal.CONVERTER_MISSING,
            f"safetensors are converted by {', '.join(NEEDED)}, of which {', '.join(missing)} is not installed: "
            f"pip install 'groundtrail[{EXTRA}]', or take the model's ONNX export, which needs none of them",
        )
    if folder.weights.stat().st_size > _GRAPH_BYTES:
        raise OwnModelError(
            Refusal.FILE_TOO_LARGE, "an ONNX graph holds at most 2 GiB; export it with external data elsewhere"
        )
    try:
        module = _module(folder, architecture, prefix, len(labels))
        data = _traced(module, max_tokens)
    except OwnModelError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:400]
        raise OwnModelError(
            Refusal.CONVERSION_FAILED, f"{architecture} cannot be converted: {type(error).__name__}: {text}"
        ) from error
    target.write_bytes(data)
    _check_parity(module, target, max_tokens)
    return ", ".join(f"{name} {installed_version(name)}" for name in ("torch", "transformers", "onnxscript"))


def _module(folder: HubFolder, architecture: str, prefix: str, labels: int) -> Any:
    """Return the module with its weights, in float32 and evaluation mode."""
    import transformers
    from safetensors.torch import load_file

    known = {
        key: value
        for key, value in folder.config.items()
        if key not in {"auto_map", "architectures", "torch_dtype", "dtype"}
    }
    names = {number: f"LABEL_{number}" for number in range(labels)}
    named = {"id2label": names, "label2id": {name: number for number, name in names.items()}}
    config = transformers.AutoConfig.for_model(**(known | named))
    if config.model_type == "t5" and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = config.pad_token_id or 0
    config.reference_compile = False
    tensors = {name.removeprefix(prefix): value for name, value in load_file(folder.weights).items()}
    model, report = getattr(transformers, architecture).from_pretrained(
        None, config=config, state_dict=tensors, attn_implementation="eager", output_loading_info=True
    )
    _check_loading(report)
    return model.float().eval()


def _check_loading(report: Mapping[str, Any]) -> None:
    """Refuse weights that leave a part of the class as it was drawn by chance."""
    missing = sorted(name for name in report.get("missing_keys", ()) if not name.endswith(_LOSSLESS))
    wrong = sorted(str(one[0] if isinstance(one, tuple) else one) for one in report.get("mismatched_keys", ()))
    if missing or wrong:
        kind, names = ("lack", missing) if missing else ("have another shape for", wrong)
        raise OwnModelError(
            Refusal.CONVERSION_FAILED,
            f"the weights {kind} {names[0]} and {len(names) - 1} more; they are of another class (--architecture), or "
            "their names begin with something more (--weights-prefix)",
        )


def _traced(module: Any, max_tokens: int) -> bytes:
    import torch

    names = _inputs(module)
    example = torch.full((2, 8), 5, dtype=torch.int64)
    example[:, -1] = getattr(module.config, "eos_token_id", None) or 1
    axes = {0: torch.export.Dim("batch", min=1, max=65_536), 1: torch.export.Dim("tokens", min=1, max=max_tokens)}
    values = (example, torch.ones_like(example), torch.zeros_like(example))[: len(names)]
    with warnings.catch_warnings(), torch.no_grad():
        # The inputs share their axes, as they are meant to; the exporter warns of the second name.
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            _wrapped(module),
            values,
            dynamo=True,
            dynamic_shapes=dict.fromkeys(names, axes),
            input_names=list(names),
            output_names=["logits"],
            opset_version=OPSET,
            external_data=False,
            verbose=False,
        )
    if program is None:
        raise OwnModelError(Refusal.CONVERSION_FAILED, "torch.onnx returned no program")
    return _without_notes(program.model_proto)


def _inputs(module: Any) -> tuple[str, ...]:
    names = ("input_ids", "attention_mask", "token_type_ids")
    kinds = getattr(module.config, "type_vocab_size", 0) or 0
    return names if kinds > 1 and module.config.model_type == "bert" else names[:2]


def _wrapped(module: Any) -> Any:
    """Return a module that takes the inputs in their order and gives the logits alone."""
    import torch

    class _Logits(torch.nn.Module):  # type: ignore[misc]  # PyTorch is not installed where the types are checked
        def __init__(self) -> None:
            super().__init__()
            self.model = module

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
            given = {"input_ids": input_ids, "attention_mask": attention_mask}
            if token_type_ids is not None:
                given["token_type_ids"] = token_type_ids
            return self.model(**given).logits.float()

    class _LastEnd(torch.nn.Module):  # type: ignore[misc]  # the same
        """T5's classifier reads the decoder at the last end mark; its own code chooses rows by a mask."""

        def __init__(self) -> None:
            super().__init__()
            self.model = module

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            states = self.model.transformer(
                input_ids=input_ids,
                attention_mask=attention_mask,
                decoder_input_ids=self.model._shift_right(input_ids),  # noqa: SLF001 - what the class itself does
                use_cache=False,
            ).last_hidden_state
            places = torch.arange(1, input_ids.shape[1] + 1, device=input_ids.device)
            ends = (input_ids == self.model.config.eos_token_id).long() * places
            last = (ends.max(dim=1).values - 1).clamp(min=0)
            rows = torch.arange(input_ids.shape[0], device=input_ids.device)
            return self.model.classification_head(states[rows, last]).float()

    sequence_to_sequence = module.config.model_type == "t5" and type(module).__name__.endswith(SEQUENCE)
    return (_LastEnd() if sequence_to_sequence else _Logits()).eval()


def _without_notes(traced: Any) -> bytes:
    """Remove what the exporter wrote about the machine and the source, and what it inferred of inner shapes."""
    import onnx

    model = onnx.ModelProto()
    model.CopyFrom(traced)
    model.producer_name, model.producer_version, model.doc_string = "groundtrail-models-add", "", ""
    graph = model.graph
    graph.name, graph.doc_string = "encoder", ""
    owners: tuple[Any, ...] = (model, graph, *graph.node, *graph.input, *graph.output, *graph.initializer)
    for owner in owners:
        del owner.metadata_props[:]
    for node in graph.node:
        node.doc_string = ""
    del graph.value_info[:]
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def _check_parity(module: Any, graph: Path, max_tokens: int) -> None:
    """Compare graph and module on ids from a seed, alone and with padding behind them.

    Raises:
        OwnModelError: CONVERSION_FAILED: they differ.
    """
    import onnxruntime
    import torch

    names = _inputs(module)
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    chance = np.random.default_rng(7)
    vocabulary, end = int(module.config.vocab_size), getattr(module.config, "eos_token_id", None) or 1
    worst = 0.0
    for length in sorted({min(length, max_tokens) for length in _LENGTHS}):
        ids = chance.integers(3, max(4, vocabulary - 1), (2, length))
        ids[:, -1] = end
        values = dict(zip(names, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=False))
        with torch.no_grad():
            expected = (
                module(**{name: torch.from_numpy(value) for name, value in values.items()}).logits.float().numpy()
            )
        padded = (
            {name: np.pad(value, ((0, 0), (0, 3))) for name, value in values.items()}
            if length + 3 <= max_tokens
            else values
        )
        for given in (values, padded):
            (found,) = session.run(None, given)
            cut = found[:, :length] if found.ndim == _PER_TOKEN else found
            worst = max(worst, float((np.abs(cut - expected) / np.maximum(1.0, np.abs(expected))).max()))
    if not worst <= PARITY_LIMIT:
        raise OwnModelError(
            Refusal.CONVERSION_FAILED,
            f"the graph's logits differ from the module's by {worst:.3g}; at most {PARITY_LIMIT:g}",
        )
