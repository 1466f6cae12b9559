"""Entailment, neutral or contradiction: accuracy per origin, calibration, and the most confident mistakes.

An origin that says "not contradiction" instead of entailment or neutral is scored on contradiction against the rest. A
class that an origin does not have still counts as a mistake when it is guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from evaluation.calibration import Calibration, calibration_of, without_temperature
from evaluation.labelled import NOT_CONTRADICTION, LabelledPair, first_of_each
from evaluation.metrics import Interval, class_recalls, confusion, macro_f1, wilson_interval
from services.common.ports.entailment import CONTRADICTION, EntailmentModel

Probabilities = NDArray[np.float64]
Classes = NDArray[np.intp]

THREE: Final = ("entailment", "neutral", "contradiction")
TWO: Final = ("not_contradiction", "contradiction")
ALL: Final = "all with three classes"
BEFORE: Final = "before temperature"
AFTER: Final = "after temperature"
_BLOCK: Final = 256


@dataclass(frozen=True, slots=True)
class OriginResult:
    """What was measured on one origin.

    Attributes:
        origin: name of the set, or all of those with three classes.
        rows: pairs.
        classes: what was told apart.
        accuracy: share of pairs whose likeliest class is right.
        interval: Wilson's, 95%.
        macro_f1: over the classes that the origin has.
        recalls: one per class; ``None`` for a class that the origin does not have.
    """

    origin: str
    rows: int
    classes: tuple[str, ...]
    accuracy: float
    interval: Interval
    macro_f1: float
    recalls: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class NliResult:
    """All origins and the calibration; ``temperature`` is ``None`` when the manifest has none."""

    origins: tuple[OriginResult, ...]
    temperature: float | None
    calibration: tuple[Calibration, ...]


@dataclass(frozen=True, slots=True)
class NliMeasurement:
    """The result and the mistakes, most confident first."""

    result: NliResult
    mistakes: tuple[dict[str, Any], ...]


async def measure(
    pairs: Sequence[LabelledPair],
    model: EntailmentModel,
    temperature: float | None,
    progress: Progress,
    limit: int | None,
) -> NliMeasurement:
    """Classify and score.

    Args:
        pairs: the labelled pairs; not empty.
        model: what is measured.
        temperature: the one that the model applies, from the manifest; ``None`` = it applies none.
        progress: shows how far it is.
        limit: at most so many pairs of each origin.
    """
    # Looked up before the limit, which may leave a two-class origin with contradictions alone.
    two_class = {pair.origin for pair in pairs if pair.label == NOT_CONTRADICTION}
    chosen = first_of_each(pairs, lambda pair: pair.origin, limit)
    probabilities = await classify(chosen, model, progress)
    return score(chosen, probabilities, two_class, temperature)


async def classify(pairs: Sequence[LabelledPair], model: EntailmentModel, progress: Progress) -> Probabilities:
    """Return calibrated probabilities, shape ``(len(pairs), 3)``; pairs of like length are read together."""
    order = sorted(range(len(pairs)), key=lambda row: len(pairs[row].premise) + len(pairs[row].hypothesis))
    found = np.empty((len(pairs), len(THREE)))
    task = progress.add_task("pairs", total=len(pairs))
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        found[block] = await model.classify([(pairs[row].premise, pairs[row].hypothesis) for row in block])
        progress.advance(task, len(block))
    return found


def score(
    pairs: Sequence[LabelledPair], probabilities: Probabilities, two_class: set[str], temperature: float | None
) -> NliMeasurement:
    """Score probabilities against labels; the pure part of ``measure``."""
    labels = np.array([pair.label for pair in pairs], dtype=np.intp)
    guesses = probabilities.argmax(axis=1)
    names = np.array([pair.origin for pair in pairs])
    three = ~np.isin(names, sorted(two_class))
    origins = []
    for name in sorted(set(names)):
        rows = names == name
        origins.append(_origin(str(name), labels[rows], guesses[rows], two=str(name) in two_class))
    calibrations: tuple[Calibration, ...] = ()
    if three.any():
        if len({str(name) for name in names[three]}) > 1:
            origins.append(_origin(ALL, labels[three], guesses[three], two=False))
        calibrations = _calibrations(probabilities[three], labels[three], temperature)
    wrong = np.where(three, guesses != labels, (guesses == CONTRADICTION) != (labels == CONTRADICTION))
    return NliMeasurement(
        NliResult(tuple(origins), temperature, calibrations),
        tuple(_mistake(pairs[row], probabilities[row]) for row in _most_confident(probabilities, wrong)),
    )


def _origin(name: str, labels: Classes, guesses: Classes, *, two: bool) -> OriginResult:
    classes = TWO if two else THREE
    truth = (labels == CONTRADICTION).astype(np.intp) if two else labels
    guess = (guesses == CONTRADICTION).astype(np.intp) if two else guesses
    matrix = confusion(truth, guess, len(classes))
    right, rows = int(np.trace(matrix)), len(labels)
    return OriginResult(
        name, rows, classes, right / rows, wilson_interval(right, rows), macro_f1(matrix), class_recalls(matrix)
    )


def _calibrations(probabilities: Probabilities, labels: Classes, temperature: float | None) -> tuple[Calibration, ...]:
    right = probabilities.argmax(axis=1) == labels
    after = calibration_of(AFTER, probabilities.max(axis=1), right)
    if temperature is None:
        return (after,)
    before = without_temperature(probabilities, temperature)
    return calibration_of(BEFORE, before.max(axis=1), right), after


def _most_confident(probabilities: Probabilities, wrong: NDArray[np.bool_]) -> list[int]:
    confidence = probabilities.max(axis=1)
    return sorted(map(int, np.flatnonzero(wrong)), key=lambda row: (-confidence[row], row))


def _mistake(pair: LabelledPair, probabilities: Probabilities) -> dict[str, Any]:
    label = "not_contradiction" if pair.label == NOT_CONTRADICTION else THREE[pair.label]
    return {
        "task": "nli",
        "set": pair.origin,
        "premise": pair.premise,
        "hypothesis": pair.hypothesis,
        "label": label,
        "judged": THREE[int(probabilities.argmax())],
        "confidence": round(float(probabilities.max()), 4),
    }
