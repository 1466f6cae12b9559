"""A folder as a hub gives it becomes a model: everything is tried in a folder apart before it gets its name."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import ValidationError
from tokenizers import Tokenizer

from services.common.adapters.encoders.backend import Outputs, TokenIds
from services.common.adapters.encoders.feeds import TOKEN_TYPE_IDS
from services.common.adapters.encoders.golden import GOLDEN_FILE, paired
from services.common.adapters.encoders.grounding import COMBINER_FILE, read_combiner
from services.common.adapters.encoders.readout import Readout
from services.common.adapters.encoders.tokenizer import TOKENIZER_FILE, EncoderTokenizer
from services.common.adapters.onnx.session import OnnxEncoder
from services.common.adapters.own_encoders.families import check_family, longest_input
from services.common.adapters.own_encoders.folder_files import (
    UNKNOWN_LICENCE,
    card_text,
    config_text,
    golden_vectors,
    unfitted_combiner,
)
from services.common.adapters.own_encoders.graph import inspect_graph, output_tensors, readout_kind
from services.common.adapters.own_encoders.hub_folder import HubFolder, bare_tokenizer, open_folder
from services.common.adapters.own_encoders.labels import Role, labels_of
from services.common.adapters.own_encoders.pair_layout import check_parity, layout_of, open_tokenizer
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.adapters.own_encoders.shelf import Shelf, described, digest_of
from services.common.errors import UnavailableError
from services.common.model_repository import (
    ModelEntry,
    ModelFile,
    ModelRepository,
    ModelRepositoryError,
    OwnEncoder,
    Tensor,
)
from services.common.model_repository.manifest import Manifest, Origin, TemperatureEntry
from services.common.model_repository.repository import CONFIG_FILE, VERSION_FOLDER

CARD_FILE: Final = "README.md"
GRAPH_FILE: Final = "model.onnx"
INVARIANCE_LIMIT: Final = 1e-5
"""Largest difference of an output between alone and in company that counts as none."""
TOLERANCE: Final = 1e-3
"""Of golden outputs; a model that depends on its company is allowed four times what it was seen to move."""
GOLDEN_PAIRS: Final = (
    ("Water damage must be reported to the insurer within three days.", "Water damage must be reported within 3 days."),
    ("The fee is 40 EUR for members and 55 EUR for guests.", "Guests pay 40 EUR."),
    ("", "Article 22 GDPR"),
    ("Members may cancel at any time. Guests may not cancel, and pay the whole fee.", "Guests may cancel."),
)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person says of a model.

    Attributes:
        role: what it is added as.
        name: its name; empty = the folder's.
        labels: as ``labels_of`` takes them; ``None`` = as config.json names them.
        template: as ``pair_layout`` takes it; ``None`` = the tokenizer's own.
        hypothesis_first: the tokenizer's first text is the hypothesis.
        readout: as ``readout_kind`` takes it.
        max_tokens: longest input; ``None`` = as the folder says.
        premise_tokens: tokens of a window of the passages, for grounding and spans.
        max_windows: windows read of a claim's passages.
        weights: path below the folder; ``None`` = where hubs put them.
        architecture: class of safetensors; ``None`` = as config.json names it.
        weights_prefix: what the names of the tensors begin with beyond that class's own.
        licence: of the weights.
        origin: the model, and who made it.
    """

    role: Role
    name: str = ""
    labels: str | None = None
    template: str | None = None
    hypothesis_first: bool = False
    readout: str | None = None
    max_tokens: int | None = None
    premise_tokens: int = 160
    max_windows: int = 3
    weights: str | None = None
    architecture: str | None = None
    weights_prefix: str = ""
    licence: str = UNKNOWN_LICENCE
    origin: str = ""


@dataclass(frozen=True, slots=True)
class _Known:
    """What the folder says, before the graph was looked at."""

    folder: HubFolder
    architecture: str
    labels: tuple[str, ...]
    tokenizer: Tokenizer
    text: str
    max_tokens: int


def add_model(root: Path, wish: Wish, shelf: Shelf, delivered: ModelRepository) -> ModelEntry:
    """Make a model of a folder.

    Args:
        root: the folder; it is only read.
        wish: what a person says of it.
        shelf: where it goes.
        delivered: the model repository: its names are taken, and an own encoder begins with its model of the signals.

    Raises:
        OwnModelError: nothing was written.
    """
    name = _name(wish.name or root.resolve().name, delivered)
    known = _known(open_folder(root, wish.weights), wish)
    with shelf.changing(), shelf.stage() as stage:
        folder = stage / name
        (folder / VERSION_FOLDER).mkdir(parents=True)
        conversion = _lay_weights(known, wish, folder / VERSION_FOLDER)
        entry = _written(folder, name, known, wish, conversion)
        if entry.kind == "grounding":
            text = unfitted_combiner(_signals_of(delivered), wish.premise_tokens, wish.max_windows)
            (folder / COMBINER_FILE).write_text(text, encoding="utf-8")
        finished = _tried(stage, entry)
        (folder / CARD_FILE).write_text(card_text(finished), encoding="utf-8")
        shelf.put(folder, finished)
    return finished


def _name(wanted: str, delivered: ModelRepository) -> str:
    name = wanted.strip().lower().replace(".", "-").replace(" ", "-")
    try:
        ModelFile(path=name, role="weights", bytes=0, sha256="0" * 64)
        fits = name[:1].isalpha() and name.isascii() and "." not in name and "/" not in name
    except ValidationError:
        fits = False
    if not fits:
        raise OwnModelError(
            Refusal.NAME_INVALID, f"{wanted!r} is no name of a model: letters, digits, - and _; give --name"
        )
    if name in {model.name for model in delivered.models}:
        raise OwnModelError(Refusal.NAME_TAKEN, f"{name} is a delivered model; choose another --name")
    return name


def _known(folder: HubFolder, wish: Wish) -> _Known:
    architecture = wish.architecture or folder.architecture
    check_family(folder.model_type, architecture, folder.form)
    text = bare_tokenizer(folder.tokenizer)
    tokenizer = open_tokenizer(text)
    rows = folder.config.get("vocab_size")
    if isinstance(rows, int) and tokenizer.get_vocab_size() > rows:
        raise OwnModelError(
            Refusal.VOCABULARY_MISMATCH,
            f"tokenizer.json knows {tokenizer.get_vocab_size()} tokens, config.json {rows}: they are not of one model",
        )
    native = folder.form == "onnx" and wish.labels is None and "id2label" not in folder.config
    return _Known(
        folder,
        architecture,
        () if native and wish.role != "entailment" else labels_of(folder.config, wish.role, wish.labels),
        tokenizer,
        text,
        longest_input(folder.config, folder.limits, wish.max_tokens),
    )


def _lay_weights(known: _Known, wish: Wish, folder: Path) -> str:
    """Put the graph into the version folder, and say how it came about."""
    source = known.folder
    if source.form == "safetensors":
        from services.common.adapters.own_encoders.conversion import convert

        how = convert(
            source, known.architecture, wish.weights_prefix, known.labels, known.max_tokens, folder / GRAPH_FILE
        )
        return f"groundtrail models add, by {how}, of safetensors with the SHA-256 {digest_of(source.weights)}"
    for path, name in ((source.weights, GRAPH_FILE), *((path, path.name) for path in source.external)):
        shutil.copyfile(path, folder / name, follow_symlinks=False)
    return "none: the ONNX file as it was"


def _written(folder: Path, name: str, known: _Known, wish: Wish, conversion: str) -> ModelEntry:
    """Write tokenizer and configuration, and return the manifest's entry without files."""
    inputs, outputs = inspect_graph(folder / VERSION_FOLDER / GRAPH_FILE)
    kind = readout_kind(outputs, wish.role, wish.readout)
    if kind != "native" and not known.labels:
        labels_of(known.folder.config, wish.role, wish.labels)  # says what is missing
    labels = () if kind == "native" else known.labels
    asked = known.folder.limits.get("model_input_names")
    types = TOKEN_TYPE_IDS in {spec.name for spec in inputs} and (
        not isinstance(asked, list) or TOKEN_TYPE_IDS in asked
    )
    layout = layout_of(
        known.tokenizer, known.folder.config, wish.template, hypothesis_first=wish.hypothesis_first, types=types
    )
    check_parity(known.tokenizer, layout, GOLDEN_PAIRS)
    read = tuple(
        Tensor.model_validate({"name": spec.name, "dtype": spec.dtype, "shape": spec.shape}) for spec in inputs
    )
    given = output_tensors(outputs, kind, len(labels))
    upstream = wish.origin or str(known.folder.config.get("_name_or_path") or "unknown")[:200]
    title = f"{known.architecture or known.folder.model_type} brought by its user, added as {wish.role}"
    (folder / TOKENIZER_FILE).write_text(known.text, encoding="utf-8")
    (folder / CONFIG_FILE).write_text(config_text(name, title, read, given), encoding="utf-8")
    own = OwnEncoder(
        architecture=known.architecture, weights_form=known.folder.form, labels=labels, readout=kind, layout=layout
    )
    return ModelEntry(
        name=name,
        version="1-uncalibrated",
        kind="entailment" if wish.role == "entailment" else "grounding",
        title=title,
        licence=wish.licence,
        origin=Origin(package=f"folder {known.folder.root.resolve().name}", upstream=upstream, conversion=conversion),
        training_data="as its makers say",
        files=described(folder, None),
        inputs=read,
        outputs=given,
        max_tokens=known.max_tokens,
        softmax=_unfitted_softmax(labels) if wish.role == "entailment" else None,
        own=own,
    )


def _unfitted_softmax(labels: Sequence[str]) -> TemperatureEntry:
    note = {"note": "not calibrated"}
    return TemperatureEntry(labels=tuple(labels), temperature=1.0, fitted_on=note, measured=note)


def _tried(stage: Path, entry: ModelEntry) -> ModelEntry:
    """Let the model answer the golden pairs as the product does, alone and together, and return the finished entry."""
    folder = stage / entry.name
    repository = ModelRepository(stage, Manifest(schema_version=1, models=(entry,)))
    try:
        encoder = OnnxEncoder(repository, entry, threads=1)
        if entry.kind == "grounding":
            Readout(entry)
        tokenizer = EncoderTokenizer.load(repository, entry.name)
        ids = [paired(tokenizer, pair) for pair in GOLDEN_PAIRS]
        _check_length(entry, tokenizer, ids)
        alone = [encoder.encode([one])[0] for one in ids]
        variance = _difference(alone, encoder.encode(ids))
    except UnavailableError as error:
        raise OwnModelError(
            Refusal.OUTPUTS_UNSUPPORTED, f"{error.message} {error.metadata.get('cause', '')}".strip()
        ) from error
    except ModelRepositoryError as error:
        raise OwnModelError(Refusal.MODEL_UNFIT, str(error)) from error
    tolerance = max(TOLERANCE, 4.0 * variance)
    golden = golden_vectors(entry, GOLDEN_PAIRS, ids, alone, tolerance)
    (folder / GOLDEN_FILE).write_text(golden.model_dump_json(indent=1) + "\n", encoding="utf-8")
    metrics: dict[str, Any] = {"added": {"batch_invariance_largest_difference": float(f"{variance:.3g}")}}
    combiner = COMBINER_FILE if entry.kind == "grounding" else None
    finished = entry.model_copy(update={"files": described(folder, combiner), "metrics": metrics})
    whole = ModelRepository(stage, Manifest(schema_version=1, models=(finished,)))
    whole.verified(entry.name)
    whole.config(entry.name)
    return finished


def _check_length(entry: ModelEntry, tokenizer: EncoderTokenizer, ids: Sequence[TokenIds]) -> None:
    room = (entry.max_tokens or 0) - tokenizer.pair_specials
    if room < 64 or max(map(len, ids)) > (entry.max_tokens or 0):  # noqa: PLR2004 - what a window and a statement need
        raise OwnModelError(
            Refusal.MAX_TOKENS_INVALID,
            f"a longest input of {entry.max_tokens} tokens leaves {room} for a pair; at least 64 are needed",
        )


def _difference(left: Sequence[Outputs], right: Sequence[Outputs]) -> float:
    return max(
        float(np.abs(one.astype(np.float64) - other.astype(np.float64)).max())
        for ours, theirs in zip(left, right, strict=True)
        for one, other in zip(ours, theirs, strict=True)
    )


def _signals_of(delivered: ModelRepository) -> Any:
    """Return the combiner of a delivered grounding model, whose model of the signals serves every encoder."""
    model = next((entry for entry in delivered.models if entry.kind == "grounding" and entry.own is None), None)
    if model is None:
        raise OwnModelError(Refusal.MODEL_UNFIT, f"{delivered.root} holds no grounding model to take the signals from")
    return read_combiner(delivered, model.name)
