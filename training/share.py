"""Make an entailment model that a grounding model's graph serves (ADR 0150).

    python -m training.share --model grounding --name nli --repository model_repository

The joint trunk was exported as the grounding model; its output ``logits`` are those of inference. The entailment model
keeps its folder with tokenizer, golden vectors and card, and has neither weights nor ``config.pbtxt``. Its temperature
and heads were fitted to other weights: fit them again (``training.temperature``, ``training.sentence_heads``).
"""

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import onnx

from services.common.model_repository import ModelRepository
from tools.update_manifest import describe, dump
from training.encoder import TOKENIZER
from training.repository_folder import (
    GOLDEN_PAIRS,
    MANIFEST,
    TOLERANCE,
    UNCALIBRATED,
    WEIGHTS,
    Description,
    Golden,
    golden_cases,
)

OUTPUT: Final = "logits"
FITTED: Final = ("sentence_heads.json", "heads_golden.json")
"""Files that hold for other weights."""


def share(root: Path, model: str, name: str, description: Description, max_tokens: int) -> dict[str, Any]:
    """Write the entry and the folder; return the entry.

    Raises:
        ModelRepositoryError: the serving model is not in the manifest.
        ValueError: its graph has no output for inference.
    """
    trunk = ModelRepository.open(root).entry(model)
    folder = root / name
    output = next((tensor for tensor in trunk.outputs if tensor.name == OUTPUT), None)
    if output is None:
        raise ValueError(f"the graph of {model} has no output {OUTPUT}: export a joint checkpoint (training.joint)")
    folder.mkdir(exist_ok=True)
    shutil.rmtree(folder / "1", ignore_errors=True)
    for stale in ("config.pbtxt", *FITTED):
        (folder / stale).unlink(missing_ok=True)
    shutil.copyfile(root / model / TOKENIZER, folder / TOKENIZER)
    graph = onnx.load(root / model / WEIGHTS)
    tokenizer = (folder / TOKENIZER).read_text(encoding="utf-8")
    cases = golden_cases(Golden(graph, tokenizer, _pad_id(folder)), GOLDEN_PAIRS, names=(OUTPUT,))
    entry: dict[str, Any] = {
        "name": name,
        "version": description.version,
        "kind": "entailment",
        "title": description.title,
        "licence": description.licence,
        "origin": description.origin.model_dump(),
        "training_data": description.training_data,
        "files": [],
        "inputs": [tensor.model_dump(mode="json") for tensor in trunk.inputs],
        "outputs": [output.model_dump(mode="json")],
        "max_tokens": max_tokens,
        "metrics": {},
        "calibration": None,
        "softmax": UNCALIBRATED,
        "served_by": {"model": model, "weights_sha256": trunk.weights_sha256},
    }
    golden = folder / "golden.json"
    golden.write_text(json.dumps({"model": "", "tolerance": TOLERANCE, "cases": cases}) + "\n", encoding="utf-8")
    _write(root, entry)
    vectors = json.loads(golden.read_text(encoding="utf-8"))
    vectors["model"] = ModelRepository.open(root).entry(name).fingerprint
    golden.write_text(json.dumps(vectors, ensure_ascii=False) + "\n", encoding="utf-8")
    _write(root, entry)
    return entry


def _write(root: Path, entry: dict[str, Any]) -> None:
    manifest = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
    entry["files"] = describe(root / entry["name"])
    others = [model for model in manifest["models"] if model["name"] != entry["name"]]
    manifest["models"] = sorted([*others, entry], key=lambda model: str(model["name"]))
    (root / MANIFEST).write_text(dump(manifest), encoding="utf-8")


def _pad_id(folder: Path) -> int:
    vocabulary = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
    return next(int(token["id"]) for token in vocabulary["added_tokens"] if token["content"] == "<pad>")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the folder and say what it is."""
    parser = argparse.ArgumentParser(
        prog="python -m training.share", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repository", type=Path, default=Path("model_repository"))
    parser.add_argument("--model", default="grounding", help="the model whose graph serves it")
    parser.add_argument("--name", default="nli", help="the entailment model's folder")
    parser.add_argument("--max-tokens", type=int, default=128, help="longest pair, special tokens included")
    parser.add_argument("--description", type=Path, help="JSON: version, title, licence, origin, training_data")
    options = parser.parse_args(arguments)
    described = options.description or Path(__file__).parent / "descriptions" / f"{options.name}.json"
    description = Description.model_validate_json(described.read_bytes())
    share(options.repository, options.model, options.name, description, options.max_tokens)
    print(json.dumps({"model": ModelRepository.open(options.repository).verified(options.name).fingerprint}, indent=2))


if __name__ == "__main__":
    main()
