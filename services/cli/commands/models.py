"""``groundtrail models``: what is there, and how an encoder of the user's own gets there (ADR 0120)."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec

from services.cli.console import Output
from services.cli.exits import Exit
from services.common.adapters.encoders.entailment import open_entailment
from services.common.adapters.encoders.grounding import open_grounding
from services.common.adapters.own_encoders.adding import INVARIANCE_LIMIT, Wish, add_model
from services.common.adapters.own_encoders.folder_files import UNKNOWN_LICENCE
from services.common.adapters.own_encoders.measuring import Evaluation, Quality, evaluate_entailment, evaluate_grounding
from services.common.adapters.own_encoders.pairs_file import Pairs, read_pairs
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.adapters.own_encoders.shelf import Shelf
from services.common.adapters.own_encoders.workshop import calibrate as fit
from services.common.adapters.own_encoders.workshop import check as look
from services.common.adapters.own_encoders.workshop import own_entry
from services.common.errors import UnavailableError
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError, open_repository
from services.common.settings import Settings
from services.common.settings.inference import InferenceSettings

Given = ParamSpec("Given")

SETTINGS: Final = {
    "embedding": "embedding_model",
    "entailment": "entailment_model",
    "grounding": "grounding_model",
    "entity_recognition": "ner_model",
    "injection": "injection_model",
}
"""By a model's kind the setting that makes one of them active."""
TELLING: Final = 0.6
"""Below this AUROC a judge is little better than chance."""
HOW_TO: Final = "docs/how-to/bring-your-own-encoder.md"


def _refusing(
    command: Callable[Concatenate[Settings, Output, Given], Coroutine[Any, Any, Exit]],
) -> Callable[Concatenate[Settings, Output, Given], Coroutine[Any, Any, Exit]]:
    """Tell what is refused as an error of the command, with its reason."""

    @wraps(command)
    async def run(settings: Settings, output: Output, /, *args: Given.args, **kwargs: Given.kwargs) -> Exit:
        try:
            return await command(settings, output, *args, **kwargs)
        except OwnModelError as error:
            output.error(error.message, reason=error.reason.value, hint=f"{HOW_TO} says what each reason asks for")
            return Exit.NOT_FOUND if error.reason is Refusal.MODEL_UNKNOWN else Exit.USAGE

    return run


def wish(*, licence: str | None, **said: Any) -> Wish:
    """Return what the command line says of a model."""
    return Wish(licence=licence or UNKNOWN_LICENCE, **said)


async def list_models(settings: Settings, output: Output) -> Exit:
    """Show every model."""
    repository = await asyncio.to_thread(open_repository, settings.inference)
    shown = [_described(settings.inference, entry) for entry in repository.models]
    rows = [
        (
            f"{one['name']}\n{one['role']}",
            one["architecture"] or one["title"],
            one["digest"],
            "\n".join(word for word in ("calibrated", "active") if one[word]),
        )
        for one in shown
    ]
    columns = ("name, role", "architecture", "digest", "state")
    output.table(f"Models ({len(rows)})", columns, rows, whole=(columns[0], columns[2], columns[3]))
    output.result({"own_models": str(_shelf(settings).root), "models": shown})
    return Exit.OK


@_refusing
async def add(settings: Settings, output: Output, *, folder: Path, wish: Wish) -> Exit:
    """Make a model of a folder."""
    delivered = await asyncio.to_thread(_delivered, settings.inference)
    shelf = _shelf(settings)
    entry = await asyncio.to_thread(add_model, folder, wish, shelf, delivered)
    notes = _notes(entry)
    output.say(f"{entry.name} is there: {shelf.root / entry.name}", style="bold green")
    output.table("Model", ("what", "value"), [*_facts(entry)])
    for note in notes:
        output.say(note, style="yellow")
    output.say(f"Active with {_switch(entry)}")
    output.result(
        _described(settings.inference, entry)
        | {"folder": str(shelf.root / entry.name), "notes": notes, "activate": _switch(entry)}
    )
    return Exit.OK


@_refusing
async def check(settings: Settings, output: Output, *, name: str) -> Exit:
    """Verify one model, or all."""
    repository = await asyncio.to_thread(open_repository, settings.inference)
    entries = [_entry(repository, name)] if name else list(repository.models)
    found: list[dict[str, Any]] = []
    with output.progress("checking", total=len(entries)) as bar:
        for entry in entries:
            bar.tell(entry.name)
            found.append(await _looked_at(settings.inference, repository, entry))
            bar.step()
    rows = [(one["name"], "ok" if one["ok"] else "problem", _told(one)) for one in found]
    output.table("Models", ("name", "finding", "detail"), rows)
    output.result({"models": found})
    return Exit.OK if all(one["ok"] for one in found) else Exit.VERDICT


@_refusing
async def evaluate(settings: Settings, output: Output, *, file: Path, name: str) -> Exit:
    """Measure a model on pairs."""
    inference = settings.inference
    repository = await asyncio.to_thread(open_repository, inference)
    entry = _judge(repository, name or inference.grounding_model)
    pairs = await asyncio.to_thread(read_pairs, file, three_way=entry.kind == "entailment")
    with output.progress("judging", total=len(pairs)) as bar:

        def step(done: int) -> None:
            for _ in range(done):
                bar.step()

        measured = await _measured(inference, repository, entry, pairs, step)
    _show(output, entry, measured)
    output.result({"model": entry.fingerprint, "calibrated": entry.calibrated, **measured.plain()})
    return Exit.OK


@_refusing
async def calibrate(settings: Settings, output: Output, *, file: Path, name: str) -> Exit:
    """Fit a model of the user's own."""
    shelf = _shelf(settings)
    entry = own_entry(shelf, name or settings.inference.grounding_model)
    pairs = await asyncio.to_thread(read_pairs, file, three_way=entry.kind == "entailment")
    with output.progress("judging", total=len(pairs)) as bar:

        def step(done: int) -> None:
            for _ in range(done):
                bar.step()

        found = await fit(settings.inference, shelf, entry.name, pairs, file.name, step)
    warnings = _doubts(found.measured)
    output.say(f"{found.entry.fingerprint} is calibrated on {len(pairs)} pairs", style="bold green")
    output.table("On folds that were held out", ("what", "value"), list(_flat(found.measured)))
    for warning in warnings:
        output.say(f"warning: {warning}", style="yellow")
    output.result(
        {"model": found.entry.fingerprint, "measured_on_held_out_folds": found.measured, "warnings": warnings}
    )
    return Exit.OK


@_refusing
async def remove(settings: Settings, output: Output, *, name: str) -> Exit:
    """Take a model of the user's own away."""
    shelf = _shelf(settings)
    entry = own_entry(shelf, name)
    if _active(settings.inference, entry):
        text = f"{name} is active; set {_naming(settings.inference, entry)} to another model first"
        raise OwnModelError(Refusal.NAME_TAKEN, text)

    def gone() -> None:
        with shelf.changing():
            shelf.remove(name)

    await asyncio.to_thread(gone)
    output.say(f"{name} is gone", style="green")
    output.result({"removed": name})
    return Exit.OK


def _shelf(settings: Settings) -> Shelf:
    return Shelf(settings.inference.own_models or settings.store.data_dir / "models")


def _delivered(inference: InferenceSettings) -> ModelRepository:
    return open_repository(inference.model_copy(update={"own_models": None}))


def _entry(repository: ModelRepository, name: str) -> ModelEntry:
    try:
        return repository.entry(name)
    except ModelRepositoryError as error:
        raise OwnModelError(Refusal.MODEL_UNKNOWN, str(error)) from error


def _judge(repository: ModelRepository, name: str) -> ModelEntry:
    entry = _entry(repository, name)
    if entry.kind not in {"entailment", "grounding"}:
        raise OwnModelError(Refusal.MODEL_UNFIT, f"{name} is a model for {entry.kind}; it judges no pairs")
    return entry


async def _measured(
    inference: InferenceSettings,
    repository: ModelRepository,
    entry: ModelEntry,
    pairs: Pairs,
    step: Callable[[int], None],
) -> Evaluation:
    chosen = inference.model_copy(update={SETTINGS[entry.kind]: entry.name})
    if entry.kind == "entailment":
        reader = await open_entailment(chosen, repository)
        try:
            return await evaluate_entailment(reader, pairs, step)
        finally:
            await reader.close()
    judge = await open_grounding(chosen, repository)
    try:
        return await evaluate_grounding(judge, pairs, step)
    finally:
        await judge.close()


async def _looked_at(inference: InferenceSettings, repository: ModelRepository, entry: ModelEntry) -> dict[str, Any]:
    described = _described(inference, entry)
    try:
        return described | {"ok": True, "problem": ""} | await look(inference, repository, entry)
    except (ModelRepositoryError, UnavailableError) as error:
        return described | {"ok": False, "problem": str(error)}


def _described(inference: InferenceSettings, entry: ModelEntry) -> dict[str, Any]:
    own = entry.own
    return {
        "role": "spans" if own is not None and own.readout == "tokens" else entry.kind,
        "name": entry.name,
        "version": entry.version,
        "title": entry.title,
        "architecture": "" if own is None else own.architecture,
        "digest": entry.fingerprint.rpartition(":")[2],
        "fingerprint": entry.fingerprint,
        "licence": entry.licence,
        "own": own is not None,
        "calibrated": entry.calibrated,
        "active": _active(inference, entry),
    }


def _active(inference: InferenceSettings, entry: ModelEntry) -> bool:
    again = getattr(inference.second_reading, SETTINGS[entry.kind], None)
    return entry.name in {getattr(inference, SETTINGS[entry.kind]), again}


def _naming(inference: InferenceSettings, entry: ModelEntry) -> str:
    """Return the variable by which a model is active."""
    if getattr(inference, SETTINGS[entry.kind]) == entry.name:
        return _variable(entry)
    return f"GROUNDTRAIL_INFERENCE__SECOND_READING__{SETTINGS[entry.kind].upper()}"


def _variable(entry: ModelEntry) -> str:
    return f"GROUNDTRAIL_INFERENCE__{SETTINGS[entry.kind].upper()}"


def _switch(entry: ModelEntry) -> str:
    return f"{_variable(entry)}={entry.name}"


def _notes(entry: ModelEntry) -> list[str]:
    notes = [
        "not calibrated: `groundtrail models calibrate FILE` fits it on pairs of yours, and reports say so until then"
    ]
    variance = float(entry.metrics["added"]["batch_invariance_largest_difference"])
    if variance > INVARIANCE_LIMIT:
        notes.append(
            f"what it says of a pair depends on its company (by {variance:g}): reports are not repeatable to the bit"
        )
    if entry.licence == UNKNOWN_LICENCE:
        notes.append("no licence was named (--licence): use it, but pass it on to nobody")
    return notes


def _facts(entry: ModelEntry) -> list[tuple[str, str]]:
    own = entry.own
    labels = ", ".join(f"{place} = {label}" for place, label in enumerate(own.labels)) if own else ""
    return [
        ("fingerprint", entry.fingerprint),
        ("architecture", own.architecture if own else ""),
        ("labels", labels or "as trained here"),
        ("read by", own.readout if own else ""),
        ("longest input", f"{entry.max_tokens} tokens"),
        ("licence", entry.licence),
    ]


def _doubts(measured: dict[str, Any]) -> list[str]:
    """Say where the fit is not worth much, by what was held out."""
    if "after" not in measured:
        return []
    found = []
    if measured["after"]["auroc"] < TELLING:
        found.append(
            f"on held-out folds its AUROC is {measured['after']['auroc']:.3f}: the model hardly tells these pairs "
            "apart, and no calibration mends that"
        )
    if measured["after"]["balanced_accuracy"] < measured["before"]["balanced_accuracy"]:
        found.append("on held-out folds it decides no better than before the fit: more pairs may help")
    return found


def _told(found: dict[str, Any]) -> str:
    if not found["ok"]:
        return str(found["problem"])
    parts = [f"{found['files']} files as pinned"]
    if "golden_largest_difference" in found:
        parts.append(f"golden answers within {found['golden_largest_difference']:g}")
        parts.append(
            f"{found['milliseconds_alone']:g} ms a pair, {found['milliseconds_a_pair_of_eight']:g} ms among eight"
        )
    if not found["calibrated"]:
        parts.append("not calibrated")
    return "; ".join(parts)


def _show(output: Output, entry: ModelEntry, found: Evaluation) -> None:
    rows = [("as it decides", *_cells(found.judge))]
    if found.encoder is not None:
        rows.append(("encoder alone", *_cells(found.encoder)))
    title = f"{entry.fingerprint} on {found.rows} pairs, {found.positive:.0%} of them positive"
    output.table(title, ("judge", "AUROC", "balanced accuracy", "calibration error", "threshold"), rows)
    if found.accuracy is not None:
        output.say(f"accuracy of three classes: {found.accuracy:.3f}")
    if found.claim_only_auroc is not None:
        output.say(f"AUROC of the claims alone: {found.claim_only_auroc:.3f}")
    for warning in found.warnings:
        output.say(f"warning: {warning}", style="yellow")


def _cells(quality: Quality) -> tuple[str, ...]:
    found = asdict(quality)

    def cell(name: str) -> str:
        ends = found[f"{name}_interval"]
        return f"{found[name]:.3f}" + (f"\n{ends[0]:.3f} to {ends[1]:.3f}" if ends else "")

    return cell("auroc"), cell("balanced_accuracy"), f"{quality.calibration_error:.3f}", f"{quality.threshold:.3f}"


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, value in values.items():
        shown = f"{prefix}{name.replace('_', ' ')}"
        rows += _flat(value, f"{shown}: ") if isinstance(value, dict) else [(shown, str(value))]
    return rows
