"""What the commands do with a model that is there: calibrate it, or look whether it still is itself."""

import statistics
import time
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from services.common.adapters.encoders.backend import EncoderBackend
from services.common.adapters.encoders.entailment import LABELS, open_entailment
from services.common.adapters.encoders.golden import check_outputs, check_tokens, read_golden
from services.common.adapters.encoders.grounding import COMBINER_FILE, read_combiner
from services.common.adapters.encoders.grounding_reading import GroundingReader
from services.common.adapters.encoders.opening import EncoderKind, open_backend
from services.common.adapters.encoders.readout import Readout
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.adapters.own_encoders.adding import CARD_FILE
from services.common.adapters.own_encoders.calibrating import (
    ENCODER_ALONE,
    WITH_SIGNALS,
    WITH_TOKENS,
    at_temperature,
    check_rows,
    fit_support,
    fit_temperature,
    measure_support,
    measure_temperature,
    read_columns,
)
from services.common.adapters.own_encoders.folder_files import card_text, combiner_text, plain_model
from services.common.adapters.own_encoders.measuring import Step, classified
from services.common.adapters.own_encoders.pairs_file import Pairs
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.adapters.own_encoders.shelf import Shelf, write_whole
from services.common.encoding import sha256_hex
from services.common.model_repository import ModelEntry, ModelFile, ModelRepository, open_repository
from services.common.model_repository.manifest import TemperatureEntry
from services.common.settings.inference import InferenceSettings

DIGEST_CHARS: Final = 8
ROUNDS: Final = 9


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The entry as it is now, and what was measured on held-out folds."""

    entry: ModelEntry
    measured: dict[str, Any]


async def calibrate(
    settings: InferenceSettings, shelf: Shelf, name: str, pairs: Pairs, data: str, step: Step
) -> Calibrated:  # fmt: skip
    """Fit a model's calibration and keep it beside the model.

    Args:
        settings: choose the backend.
        shelf: holds the model.
        name: the model.
        pairs: what is fitted on.
        data: the file's name, for the manifest.
        step: told of progress.

    Raises:
        OwnModelError: MODEL_UNKNOWN, ROWS_TOO_FEW.
    """
    entry = own_entry(shelf, name)
    check_rows(pairs.labels, pairs.groups)
    shelf.opened().verified(name)
    repository = open_repository(settings)
    if entry.kind == "entailment":
        changed, measured = await _temperature(settings, repository, entry, pairs, data, step)
        return _kept(shelf, entry, changed, measured, None)
    text, measured = await _combiner(settings, repository, entry, pairs, data, step)
    return _kept(shelf, entry, {}, measured, text)


def own_entry(shelf: Shelf, name: str) -> ModelEntry:
    """Return a model of the user's own.

    Raises:
        OwnModelError: MODEL_UNKNOWN.
    """
    found = next((entry for entry in shelf.opened().models if entry.name == name), None)
    if found is None or found.own is None:
        raise OwnModelError(
            Refusal.MODEL_UNKNOWN,
            f"{shelf.root} holds no model {name}; `groundtrail models list` shows them; a delivered "
            "model's calibration came with it",
        )
    return found


async def check(settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry) -> dict[str, Any]:
    """Verify a model's files and, of an encoder that judges pairs, its tokens, its golden outputs and its speed.

    Raises:
        ModelRepositoryError: what does not hold; the message says what.
        UnavailableError: MODEL_UNAVAILABLE: it cannot compute.
    """
    repository.verified(entry.name)
    found: dict[str, Any] = {"files": len(entry.files), "fingerprint": entry.fingerprint}
    if entry.own is None or entry.kind not in {"entailment", "grounding"}:
        return found
    kind: EncoderKind = "entailment" if entry.kind == "entailment" else "grounding"
    backend = await open_backend(settings, repository, entry.name, kind)
    try:
        golden = read_golden(repository, entry)
        check_tokens(entry, golden, EncoderTokenizer.load(repository, entry.name))
        items = [case.token_ids for case in golden.cases]
        largest = check_outputs(entry, golden, [(await backend.run([item]))[0] for item in items])
        return (
            found
            | {"golden_largest_difference": float(f"{largest:.3g}"), "tokens": "as when it was added"}
            | (await _speed(backend, max(items, key=len)))
        )
    finally:
        await backend.close()


async def _speed(backend: EncoderBackend, item: tuple[int, ...]) -> dict[str, Any]:
    """Measure one pair alone, and eight different ones together."""
    alone, together = [], []
    longest = backend.entry.max_tokens or len(item)
    batch = [(*item, *item[1 : 1 + extra])[:longest] for extra in range(8)]
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await backend.run([item])
        alone.append(time.perf_counter() - started)
        started = time.perf_counter()
        await backend.run(batch)
        together.append(time.perf_counter() - started)
    return {
        "tokens_of_the_pair": len(item),
        "milliseconds_alone": round(1000 * statistics.median(alone), 2),
        "milliseconds_a_pair_of_eight": round(1000 * statistics.median(together) / len(batch), 2),
    }


async def _combiner(
    settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry, pairs: Pairs, data: str, step: Step
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    present = read_combiner(repository, entry.name)
    backend = await open_backend(settings, repository, entry.name, "grounding")
    try:
        tokenizer = EncoderTokenizer.load(repository, entry.name)
        reader = GroundingReader(backend, tokenizer, present.windows)
        columns, read = await read_columns(reader, present.signals, pairs, step)
    finally:
        await backend.close()
    labels, groups = pairs.labels[read] > 0, pairs.groups[read]
    check_rows(labels.astype(np.int64), groups)
    options = [ENCODER_ALONE, WITH_TOKENS if Readout(entry).marks_tokens else WITH_SIGNALS]
    measured = measure_support(columns, labels, groups, options).plain()
    fitted = fit_support(columns, labels, groups, options)
    low, high = fitted.bounds
    how = {
        "undecided": {"low": low, "high": high},
        "tool": "groundtrail models calibrate",
        "data": data,
        "rows": int(labels.size),
        "features": list(fitted.model.names),
        "measured_on_held_out_folds": measured,
    }
    windows = {"premise_tokens": present.windows.premise_tokens, "max_windows": present.windows.max_windows}
    return combiner_text(windows, present.span_threshold, present.signals, plain_model(fitted.model), how), measured


async def _temperature(
    settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry, pairs: Pairs, data: str, step: Step
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    model = await open_entailment(settings.model_copy(update={"entailment_model": entry.name}), repository)
    try:
        found = await classified(model, pairs, step)
    finally:
        await model.close()
    present = entry.softmax.temperature if entry.softmax else 1.0
    even = at_temperature(found, 1.0 / present)
    measured = measure_temperature(even, pairs.labels, pairs.groups)
    softmax = TemperatureEntry(
        labels=entry.softmax.labels if entry.softmax else LABELS,
        temperature=fit_temperature(even, pairs.labels),
        fitted_on={"tool": "groundtrail models calibrate", "data": data, "rows": len(pairs)},
        measured=measured,
    )
    return {"softmax": softmax}, measured


def _kept(
    shelf: Shelf, entry: ModelEntry, changed: dict[str, Any], measured: dict[str, Any], combiner: str | None
) -> Calibrated:  # fmt: skip
    """Write what was fitted: a file of a new name first, then the manifest that names it."""
    folder = shelf.root / entry.name
    content = combiner if combiner is not None else changed["softmax"].model_dump_json()
    digest = sha256_hex(content.encode())
    files = entry.files
    with shelf.changing():
        if combiner is not None:
            name = f"{COMBINER_FILE.removesuffix('.json')}-{digest[:DIGEST_CHARS]}.json"
            write_whole(folder / name, combiner)
            fresh = ModelFile(path=name, role="combiner", bytes=len(combiner.encode()), sha256=digest)
            files = tuple(sorted([*(f for f in files if f.role != "combiner"), fresh], key=lambda file: file.path))
        if entry.own is None:
            raise OwnModelError(Refusal.MODEL_UNKNOWN, f"{entry.name} is a delivered model")
        now = entry.model_copy(
            update={
                **changed,
                "files": files,
                "version": f"1-calibrated-{digest[:DIGEST_CHARS]}",
                "own": entry.own.model_copy(update={"calibrated": True}),
                "metrics": entry.metrics | {"calibration": measured},
            }
        )
        shelf.list_anew({entry.name: now})
        write_whole(folder / CARD_FILE, card_text(now))
        for file in entry.files:
            if file.role == "combiner" and now.file(file.path) is None:
                (folder / file.path).unlink(missing_ok=True)
    return Calibrated(now, measured)
