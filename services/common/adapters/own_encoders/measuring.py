"""How good a model is on pairs that its user brings, and how much of that the claims alone would give away."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.own_encoders.claim_only import GIVEN_AWAY, claim_only_scores
from services.common.adapters.own_encoders.fitting import FOLDS, Labels, Values, folds
from services.common.adapters.own_encoders.pairs_file import Pairs
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.measures import (
    Interval,
    auroc,
    balanced_accuracy,
    bootstrap_interval,
    equal_mass_bins,
    expected_calibration_error,
)
from services.common.ports.entailment import ENTAILMENT, EntailmentModel
from services.common.ports.grounding import GroundingModel, GroundingRequest

Step: TypeAlias = Callable[[int], None]
"""Told how many pairs more are done."""

BLOCK: Final = 64
BINS: Final = 15
DIGITS: Final = 4
LITTLE_ABOVE: Final = 0.05
"""A model that is not so much better than its claims alone has hardly read the premises."""
FEW: Final = 100
"""Below so many rows of a class intervals are wide; it is said."""


@dataclass(frozen=True, slots=True)
class Quality:
    """What was measured of one judge on some rows; intervals are 95%, by bootstrap within the classes."""

    auroc: float
    auroc_interval: Interval | None
    balanced_accuracy: float
    balanced_accuracy_interval: Interval | None
    calibration_error: float
    """Over 15 bins of equally many rows; 0 is perfect."""
    threshold: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What ``models evaluate`` says.

    Attributes:
        rows: how many pairs.
        positive: share of supported (or entailed) ones.
        judge: the model as it decides.
        encoder: the encoder alone, at even odds; ``None`` for entailment.
        accuracy: of three classes, for entailment.
        claim_only_auroc: what the hypotheses' words alone reach; ``None`` with too few rows.
        warnings: what makes the figures mean less than they seem to.
    """

    rows: int
    positive: float
    judge: Quality
    encoder: Quality | None
    accuracy: float | None
    claim_only_auroc: float | None
    warnings: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return it as JSON gives it back."""
        return json_value(asdict(self))


async def evaluate_grounding(model: GroundingModel, pairs: Pairs, step: Step) -> Evaluation:
    """Measure a grounding model.

    Raises:
        OwnModelError: ROWS_TOO_FEW: a class is missing.
    """
    labels = pairs.labels > 0
    _both_classes(labels)
    supports, alone = np.zeros(len(pairs)), np.full(len(pairs), 0.0)
    for start in range(0, len(pairs), BLOCK):
        block = range(start, min(start + BLOCK, len(pairs)))
        requests = [GroundingRequest(pairs.hypotheses[place], (pairs.premises[place],)) for place in block]
        for place, verdict in zip(block, await model.judge(requests), strict=True):
            supports[place] = verdict.support
            alone[place] = verdict.encoder_support or 0.0
        step(len(block))
    judge = quality(supports, labels, model.threshold)
    claims = claim_only(pairs, labels)
    found = _warnings(pairs, labels, judge.auroc, claims)
    return Evaluation(len(pairs), float(labels.mean()), judge, quality(alone, labels, 0.5), None, claims, found)


async def evaluate_entailment(model: EntailmentModel, pairs: Pairs, step: Step) -> Evaluation:
    """Measure an entailment model: entailed against the rest, and three classes.

    Raises:
        OwnModelError: ROWS_TOO_FEW: entailed pairs, or all others, are missing.
    """
    labels = pairs.labels == ENTAILMENT
    _both_classes(labels)
    rows = await classified(model, pairs, step)
    judge = quality(rows[:, ENTAILMENT].astype(np.float64), labels, 0.5)
    claims = claim_only(pairs, labels)
    found = _warnings(pairs, labels, judge.auroc, claims)
    accuracy = round(float((rows.argmax(axis=1) == pairs.labels).mean()), DIGITS)
    return Evaluation(len(pairs), float(labels.mean()), judge, None, accuracy, claims, found)


async def classified(model: EntailmentModel, pairs: Pairs, step: Step) -> NDArray[np.float64]:
    """Return the probabilities of all pairs, shape ``(pairs, 3)``."""
    parts = []
    for start in range(0, len(pairs), BLOCK):
        block = slice(start, start + BLOCK)
        both = list(zip(pairs.premises[block], pairs.hypotheses[block], strict=True))
        parts.append(await model.classify(both))
        step(len(both))
    return np.concatenate(parts).astype(np.float64)


def quality(scores: Values, labels: Labels, threshold: float, decisions: Labels | None = None) -> Quality:
    """Measure scores that are probabilities of support.

    Args:
        scores: in [0, 1].
        labels: both classes occur.
        threshold: from which on a row counts as supported.
        decisions: instead of the threshold, where rows were decided by several.
    """
    decided = scores >= threshold if decisions is None else decisions
    strata = labels.astype(np.intp)
    verdicts = decided.astype(np.float64)

    def area(rows: NDArray[np.intp]) -> float | None:
        return auroc(scores[rows], labels[rows])

    def accuracy(rows: NDArray[np.intp]) -> float | None:
        return balanced_accuracy(verdicts[rows], labels[rows], 0.5)

    error = expected_calibration_error(equal_mass_bins(np.clip(scores, 0.0, 1.0), labels, BINS))
    return Quality(
        _rounded(auroc(scores, labels)),
        _ends(bootstrap_interval(area, strata)),
        _rounded(balanced_accuracy(verdicts, labels, 0.5)),
        _ends(bootstrap_interval(accuracy, strata)),
        round(error, DIGITS),
        threshold,
    )


def claim_only(pairs: Pairs, labels: Labels) -> float | None:
    """Return the AUROC of a reader of the hypotheses alone; ``None`` where there are too few premises."""
    if len(np.unique(pairs.groups)) < FOLDS:
        return None
    scores = claim_only_scores(pairs.hypotheses, labels, folds(pairs.groups, labels.astype(np.int64)))
    return _rounded(auroc(scores, labels))


def _warnings(pairs: Pairs, labels: Labels, area: float, claims: float | None) -> tuple[str, ...]:
    found = []
    if claims is None:
        found.append(f"fewer than {FOLDS} premises: what the claims alone give away was not measured")
    elif claims >= GIVEN_AWAY:
        found.append(f"the claims' wording alone reaches AUROC {claims:.3f}: the set gives its labels away")
    if claims is not None and area < claims + LITTLE_ABOVE:
        found.append(f"the model's AUROC {area:.3f} is hardly above what the claims alone reach ({claims:.3f})")
    least = int(min(labels.sum(), (~labels).sum()))
    if least < FEW:
        found.append(f"only {least} rows of one class: the intervals are wide")
    repeated = len(pairs) - len(set(zip(pairs.premises, pairs.hypotheses, strict=True)))
    if repeated:
        found.append(f"{repeated} rows repeat a pair")
    return tuple(found)


def json_value(found: dict[str, Any]) -> dict[str, Any]:
    """Return what JSON makes of a record: lists for tuples."""
    value: dict[str, Any] = json.loads(json.dumps(found))
    return value


def _both_classes(labels: Labels) -> None:
    if not labels.size or labels.all() or not labels.any():
        raise OwnModelError(Refusal.ROWS_TOO_FEW, "pairs of both kinds are needed: supported ones and others")


def _rounded(value: float | None) -> float:
    return round(float("nan") if value is None else value, DIGITS)


def _ends(interval: Interval | None) -> Interval | None:
    return None if interval is None else (round(interval[0], DIGITS), round(interval[1], DIGITS))
