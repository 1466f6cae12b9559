"""Opens each model in turn, measures it, and gathers what there is to say of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.progress import Progress

from evaluation import grounding_models, nli, pipeline, recognition, unsupported_spans
from evaluation.calibration_plot import reliability_diagram
from evaluation.data import read_rows
from evaluation.labelled import LabelledClaim, LabelledPair, first_of_each, read_claims, read_pairs
from evaluation.model_source import ModelSource
from evaluation.results import digest, plain

ENCODERS: Final = ("nli", "grounding", "entities")
"""Measured unless tasks are named."""
TASKS: Final = (*ENCODERS, "pipeline")


@dataclass(frozen=True, slots=True)
class Order:
    """What to measure, on which files.

    Attributes:
        tasks: some of ``TASKS``.
        nli: labelled pairs.
        grounding: labelled claims.
        tuning: where thresholds come from when ``grounding`` has no fold ``calibrate``; ``None`` = nowhere.
        wikigold: sentences with named entities.
        personal: texts with personal data.
        limit: at most so many rows of each origin or data set.
        with_mistakes: makes of claims, at most so many, pairs of one as it was and one with a marked mistake.
        fold: of the claims that ``pipeline`` checks.
    """

    tasks: tuple[str, ...]
    nli: Path
    grounding: Path
    tuning: Path | None
    wikigold: Path
    personal: Path
    limit: int | None
    with_mistakes: Callable[[Sequence[LabelledClaim], int | None], Sequence[LabelledClaim]]
    fold: str = grounding_models.REPORT


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out.

    Attributes:
        models: the results by model, as the results file holds them.
        pictures: reliability diagrams by model, SVG.
        mistakes: wrong answers, most confident first within a task.
    """

    models: Mapping[str, Any]
    pictures: Mapping[str, str]
    mistakes: Sequence[Mapping[str, Any]]

    def worst(self, each: int) -> list[Mapping[str, Any]]:
        """Return the most confident mistakes of each data set, at most ``each``."""
        return first_of_each(self.mistakes, lambda one: f"{one['task']} {one['set']}", each)


@dataclass(slots=True)
class _Gathering:
    order: Order
    source: ModelSource
    progress: Progress
    models: dict[str, Any]
    pictures: dict[str, str]
    mistakes: list[Mapping[str, Any]]

    def keep(self, name: str, kind: str, fingerprint: str, files: Sequence[Path], **found: Any) -> None:
        self.models[name] = {
            "kind": kind,
            "fingerprint": fingerprint,
            "backend": self.source.backend if kind != "entity_recognition" else "process",
            "data": ", ".join(f"{file.parent.name}/{file.name}" for file in files),
            "data_sha256": [digest(file) for file in files],
            "limit": self.order.limit,
        } | {key: plain(value) for key, value in found.items()}


async def measure(order: Order, source: ModelSource, progress: Progress) -> Measured:
    """Measure what is ordered.

    Raises:
        EvaluationDataError: a file is missing or is not what it must be; nothing was measured before all were read.
        StartupError: a model cannot be used.
        CrpError: a backend failed.
    """
    # Read first: a mistake in the last file must not cost the minutes of the first task.
    pairs = read_pairs(order.nli) if "nli" in order.tasks else []
    claims = read_claims(order.grounding) if {"grounding", "pipeline"} & set(order.tasks) else []
    texts = [read_rows(file) for file in (order.wikigold, order.personal)] if "entities" in order.tasks else []
    gathering = _Gathering(order, source, progress, {}, {}, [])
    if pairs:
        await _nli(gathering, pairs)
    if "grounding" in order.tasks:
        await _grounding(gathering, claims)
    if "pipeline" in order.tasks:
        await _pipeline(gathering, claims)
    if texts:
        await _entities(gathering, texts)
    return Measured(gathering.models, gathering.pictures, gathering.mistakes)


async def _nli(gathering: _Gathering, pairs: Sequence[LabelledPair]) -> None:
    order = gathering.order
    async with gathering.source.entailment() as opened:
        found = await nli.measure(pairs, opened.model, opened.temperature, gathering.progress, order.limit)
        gathering.keep(opened.name, "entailment", opened.model.fingerprint, [order.nli], result=found.result)
    gathering.mistakes += found.mistakes
    curves = found.result.calibration
    if curves:
        gathering.pictures[opened.name] = reliability_diagram(
            f"{opened.name}: is the likeliest class right?", "probability of the likeliest class", "share right", curves
        )


async def _grounding(gathering: _Gathering, claims: Sequence[LabelledClaim]) -> None:
    order = gathering.order
    async with gathering.source.grounding() as opened:
        tuning = _tuning(order, claims)
        found = await grounding_models.measure(
            (*claims, *tuning), opened.model, opened.columns, gathering.progress, order.limit
        )
        # A file with folds is the development file; a test file is measured as it is.
        made = order.with_mistakes([claim for claim in claims if claim.fold == grounding_models.REPORT], order.limit)
        verdicts = await grounding_models.judge(made, opened.model, gathering.progress, "synthetic contrasts")
        spans = unsupported_spans.score((*found.judged, *zip(made, verdicts, strict=True)))
        gathering.keep(
            opened.name, "grounding", opened.model.fingerprint, [order.grounding], result=found.result, spans=spans
        )
    gathering.mistakes += found.mistakes
    gathering.pictures[opened.name] = reliability_diagram(
        f"{opened.name}: is the claim supported?", "probability of support", "share supported", found.result.calibration
    )


async def _pipeline(gathering: _Gathering, claims: Sequence[LabelledClaim]) -> None:
    order = gathering.order
    async with gathering.source.engine() as engine:
        everything = (*claims, *_tuning(order, claims))
        found = await pipeline.measure(everything, engine, gathering.progress, order.limit, order.fold)
        gathering.keep(
            "pipeline",
            "pipeline",
            engine.fingerprint,
            [order.grounding],
            result=found.result,
            flagged=[
                {**plain(one), "precision": plain(one.precision), "recall": plain(one.recall)} for one in found.flagged
            ],
            decided=found.decided,
            without_verdict=found.without_verdict,
        )
    gathering.mistakes += found.mistakes
    gathering.pictures["pipeline"] = reliability_diagram(
        "Whole engine: is the text supported?",
        "least support of its claims",
        "share supported",
        found.result.calibration,
    )


def _tuning(order: Order, claims: Sequence[LabelledClaim]) -> list[LabelledClaim]:
    """Return claims of another file's fold ``calibrate`` for a file that has none."""
    if order.tuning is None or any(claim.fold == grounding_models.CALIBRATE for claim in claims):
        return []
    return [claim for claim in read_claims(order.tuning) if claim.fold == grounding_models.CALIBRATE]


async def _entities(gathering: _Gathering, texts: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    order = gathering.order
    sentences, documents = (rows[: order.limit] for rows in texts)
    async with gathering.source.recognition() as opened:
        found = (
            *await recognition.measure_wikigold(sentences, opened.model, gathering.progress),
            *await recognition.measure_personal(documents, opened.model, gathering.progress),
        )
        files = [order.wikigold, order.personal]
        gathering.keep(opened.name, "entity_recognition", opened.model.fingerprint, files, result=found)
