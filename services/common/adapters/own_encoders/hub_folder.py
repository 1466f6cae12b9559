"""Reads a folder as a hub gives it: which files count, how large they may be, and that none lies elsewhere.

Files are found by fixed names. A link that leads out of the folder is refused, and so is a graph that keeps weights in
a file outside of it. Pickles (``pytorch_model.bin`` and its kin) run code when they are read: they are never opened.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from services.common.adapters.own_encoders.onnx_file import external_files
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.strict_json import read_json

CONFIG_BYTES: Final = 1 << 20
TOKENIZER_BYTES: Final = 64 << 20
WEIGHTS_BYTES: Final = 8 << 30
"""Far above what is served in a process; below it an operator knows what they do."""
ONNX_PLACES: Final = ("model.onnx", "onnx/model.onnx", "1/model.onnx")
"""Where hubs, exporters and our own repository put a graph, in the order of looking."""
SAFETENSORS: Final = "model.safetensors"
_SHOWN: Final = 100
"""Characters of a name in config.json that are kept."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib")


@dataclass(frozen=True, slots=True)
class HubFolder:
    """What was found.

    Attributes:
        root: the folder.
        config: ``config.json``.
        limits: ``tokenizer_config.json``, empty when there is none.
        tokenizer: text of ``tokenizer.json``.
        weights: the graph, or the safetensors file.
        form: which of both.
        external: files that the graph takes weights from; they lie beside it.
    """

    root: Path
    config: dict[str, Any]
    limits: dict[str, Any]
    tokenizer: str
    weights: Path
    form: Literal["onnx", "safetensors"]
    external: tuple[Path, ...]

    @property
    def model_type(self) -> str:
        """The family, as ``config.json`` names it."""
        return str(self.config.get("model_type", ""))[:_SHOWN]

    @property
    def architecture(self) -> str:
        """The first class that ``config.json`` names; empty when it names none."""
        found = self.config.get("architectures")
        return str(found[0])[:_SHOWN] if isinstance(found, list) and found else ""


def open_folder(root: Path, weights: str | None = None) -> HubFolder:
    """Find the files of a folder and read the small ones.

    Args:
        root: the folder.
        weights: path below it of the graph or the safetensors file; ``None`` = where hubs put them, a graph first.

    Raises:
        OwnModelError: what is missing, too large, unreadable or lies elsewhere.
    """
    if not root.is_dir():
        raise OwnModelError(Refusal.FOLDER_MISSING, f"{root} is no folder")
    found = _weights(root, weights)
    form: Literal["onnx", "safetensors"] = "onnx" if found.suffix == ".onnx" else "safetensors"
    config = _object(_inside(root, "config.json", CONFIG_BYTES))
    limits = root / "tokenizer_config.json"
    return HubFolder(
        root,
        config,
        _object(_inside(root, limits.name, TOKENIZER_BYTES)) if limits.exists() else {},
        _tokenizer(root),
        found,
        form,
        _external(root, found) if form == "onnx" else (),
    )


def _weights(root: Path, given: str | None) -> Path:
    if given is not None:
        path = _inside(root, given, WEIGHTS_BYTES)
        if path.suffix in PICKLES:
            raise _pickle(path.name)
        if path.suffix not in {".onnx", ".safetensors"}:
            raise OwnModelError(Refusal.FILE_UNREADABLE, f"{given} is neither .onnx nor .safetensors")
        return path
    name = next((place for place in (*ONNX_PLACES, SAFETENSORS) if (root / place).exists()), None)
    if name is not None:
        return _inside(root, name, WEIGHTS_BYTES)
    pickle = next((path.name for path in sorted(root.iterdir()) if path.suffix in PICKLES), None)
    if pickle is not None:
        raise _pickle(pickle)
    if (root / f"{SAFETENSORS}.index.json").exists():
        raise OwnModelError(
            Refusal.FILE_MISSING,
            "the weights lie in several safetensors files; save them as one (save_pretrained, a large max_shard_size)",
        )
    places = ", ".join((*ONNX_PLACES, SAFETENSORS))
    raise OwnModelError(Refusal.FILE_MISSING, f"{root} holds no weights: none of {places}; --weights names another")


def _pickle(name: str) -> OwnModelError:
    return OwnModelError(
        Refusal.PICKLE_REFUSED,
        f"{name} is a pickle, which runs code when it is read, and is not opened; take the model's safetensors or ONNX",
    )


def _inside(root: Path, name: str, most: int) -> Path:
    """Return a file of the folder, after following links.

    Raises:
        OwnModelError: it is missing, no plain file, too large, or lies outside of the folder.
    """
    try:
        path = (root / name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise OwnModelError(Refusal.FILE_MISSING, f"{root / name} is not there, or leads nowhere") from error
    if not path.is_relative_to(root.resolve()):
        raise OwnModelError(
            Refusal.PATH_ESCAPES,
            f"{name} leads out of the folder; a hub's cache holds links, so download into a folder of its own "
            "(hf download MODEL --local-dir FOLDER)",
        )
    if not path.is_file():
        raise OwnModelError(Refusal.FILE_MISSING, f"{name} is no file")
    if path.stat().st_size > most:
        raise OwnModelError(
            Refusal.FILE_TOO_LARGE, f"{name} has {path.stat().st_size:,} bytes; at most {most:,} are read"
        )
    return path


def _external(root: Path, graph: Path) -> tuple[Path, ...]:
    """Return the files that the graph takes weights from; each must lie right beside it."""
    found = []
    for name in external_files(graph):
        if not _PLAIN_NAME.fullmatch(name) or name == ONNX_PLACES[0]:
            raise OwnModelError(
                Refusal.PATH_ESCAPES, f"{graph.name} keeps weights in {name!r}, which is no file beside it"
            )
        found.append(_inside(root, graph.relative_to(root.resolve()).with_name(name).as_posix(), WEIGHTS_BYTES))
    return tuple(found)


def _tokenizer(root: Path) -> str:
    if not (root / "tokenizer.json").exists():
        raise OwnModelError(
            Refusal.FILE_MISSING,
            f"{root} holds no tokenizer.json; transformers writes one: "
            "AutoTokenizer.from_pretrained(MODEL).save_pretrained(FOLDER)",
        )
    path = _inside(root, "tokenizer.json", TOKENIZER_BYTES)
    _object(path)
    return path.read_text(encoding="utf-8")


def _object(path: Path) -> dict[str, Any]:
    try:
        value = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise OwnModelError(Refusal.FILE_UNREADABLE, f"{path.name} is no JSON in UTF-8: {error}") from error
    if not isinstance(value, dict):
        raise OwnModelError(Refusal.FILE_UNREADABLE, f"{path.name} must hold one object")
    return value


def bare_tokenizer(text: str) -> str:
    """Return a ``tokenizer.json`` without padding and truncation of its own: the caller sets both."""
    tokenizer = json.loads(text)
    tokenizer["truncation"] = tokenizer["padding"] = None
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n"
