"""Scores of verdicts against labels, pure: surface features, the encoder, and both, on the same verdicts.

The class that is looked for in precision, recall and F1 is "not supported": that is what a reader has to be warned of.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.calibration import Calibration, calibration_of
from evaluation.labelled import LabelledClaim
from evaluation.metrics import (
    Interval,
    Labels,
    Scores,
    SpanCounts,
    auroc,
    balanced_accuracy,
    best_threshold,
    bootstrap_interval,
)
from services.common.ports.grounding import GroundingVerdict

Rows: TypeAlias = NDArray[np.intp]
Judged: TypeAlias = tuple[LabelledClaim, GroundingVerdict]
SaidT = TypeVar("SaidT")
"""What was said of a claim: a grounding verdict, or more."""

SURFACE: Final = "surface features"
ENCODER: Final = "encoder"
BOTH: Final = "both"
MEAN: Final = "mean over the sets"
ALL: Final = "all claims"
RESAMPLES: Final = 1_000


@dataclass(frozen=True, slots=True)
class System(Generic[SaidT]):
    """One column: how a verdict is read, and from where on it says "supported".

    Attributes:
        name: of the column.
        score: the probability of support that this system gives.
        threshold: at or above it a claim counts as supported; ``None`` = the best one on the fold ``calibrate``.
    """

    name: str
    score: Callable[[SaidT], float]
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Column:
    """A system's scores of all claims and its threshold, ``None`` where there was none to take."""

    name: str
    scores: Scores
    threshold: float | None

    def auroc(self, rows: Rows, supported: Labels) -> float | None:
        """Return it for some of the claims."""
        return auroc(self.scores[rows], supported[rows])

    def balanced_accuracy(self, rows: Rows, supported: Labels) -> float | None:
        """Return it for some of the claims."""
        return None if self.threshold is None else balanced_accuracy(self.scores[rows], supported[rows], self.threshold)

    def warnings(self, rows: Rows, supported: Labels) -> SpanCounts | None:
        """Return how often it said "not supported", rightly or not."""
        if self.threshold is None:
            return None
        warned, wanting = self.scores[rows] < self.threshold, ~supported[rows]
        return SpanCounts(int((warned & wanting).sum()), int(warned.sum()), int(wanting.sum()))


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims' data sets and labels."""

    names: NDArray[np.str_]
    supported: Labels

    @property
    def sets(self) -> list[tuple[str, Rows]]:
        """Each data set with its rows, by name."""
        return [(str(name), np.flatnonzero(self.names == name)) for name in sorted(set(self.names))]

    @property
    def strata(self) -> NDArray[np.intp]:
        """A number for each pair of data set and label."""
        return 2 * np.searchsorted(np.unique(self.names), self.names) + self.supported


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system on one data set.

    Attributes:
        dataset: the set, the mean over the sets, or all claims together.
        rows: claims.
        unsupported: how many of them are not supported.
        system: whose figures these are.
        auroc: probability that a supported claim scores above one that is not.
        auroc_interval: bootstrap, 95%.
        balanced_accuracy: at the threshold; ``None`` without one.
        interval: bootstrap, 95%.
        precision: of "not supported".
        recall: of "not supported".
        f1: of "not supported".
    """

    dataset: str
    rows: int
    unsupported: int
    system: str
    auroc: float | None
    auroc_interval: Interval | None
    balanced_accuracy: float | None
    interval: Interval | None
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class Gain:
    """How much better one system is than another, on the same claims; positive = better.

    Attributes:
        dataset: the set, or the mean over the sets.
        auroc: difference of the AUROCs.
        auroc_interval: paired bootstrap, 95%.
        balanced_accuracy: difference at the thresholds; ``None`` without them.
        interval: paired bootstrap, 95%.
    """

    dataset: str
    auroc: float | None
    auroc_interval: Interval | None
    balanced_accuracy: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class GroundingResult:
    """All data sets and systems, what the encoder adds, the thresholds (``None`` = none to be had), the calibration."""

    results: tuple[SystemResult, ...]
    gains: tuple[Gain, ...]
    thresholds: dict[str, float | None]
    calibration: tuple[Calibration, ...]


def score(
    judged: Sequence[tuple[LabelledClaim, SaidT]],
    tuning: Sequence[tuple[LabelledClaim, SaidT]],
    systems: Sequence[System[SaidT]],
    gain: tuple[str, str] = (SURFACE, BOTH),
) -> GroundingResult:
    """Score what was said against labels.

    Args:
        judged: what is reported.
        tuning: where a missing threshold is taken from.
        systems: the columns.
        gain: the systems that are compared, the better one last; no gains when one of them is no column.
    """
    thresholds = {system.name: _threshold(system, tuning) for system in systems}
    columns = {system.name: Column(system.name, _scores(system, judged), thresholds[system.name]) for system in systems}
    claims = Claims(
        np.array([claim.dataset for claim, _ in judged]),
        np.array([claim.supported for claim, _ in judged], dtype=np.bool_),
    )
    results: list[SystemResult] = []
    for column in columns.values():
        each = [_result(name, column, rows, claims.supported) for name, rows in claims.sets]
        results += [*each, _mean(each), _result(ALL, column, np.arange(len(judged)), claims.supported)]
    calibration = tuple(calibration_of(name, one.scores, claims.supported) for name, one in columns.items())
    gains = tuple(_gains(columns[gain[0]], columns[gain[1]], claims)) if columns.keys() >= set(gain) else ()
    return GroundingResult(tuple(results), gains, thresholds, calibration)


def _scores(system: System[SaidT], judged: Sequence[tuple[LabelledClaim, SaidT]]) -> Scores:
    return np.array([system.score(verdict) for _, verdict in judged], dtype=np.float64)


def _threshold(system: System[SaidT], tuning: Sequence[tuple[LabelledClaim, SaidT]]) -> float | None:
    labels = np.array([claim.supported for claim, _ in tuning], dtype=np.bool_)
    if system.threshold is not None or labels.all() or not labels.any():
        return system.threshold
    return best_threshold(_scores(system, tuning), labels)


def _result(dataset: str, column: Column, rows: Rows, supported: Labels) -> SystemResult:
    strata = supported[rows].astype(np.intp)
    counts = column.warnings(rows, supported)
    return SystemResult(
        dataset=dataset,
        rows=int(rows.size),
        unsupported=int((~supported[rows]).sum()),
        system=column.name,
        auroc=column.auroc(rows, supported),
        auroc_interval=bootstrap_interval(lambda drawn: column.auroc(rows[drawn], supported), strata, RESAMPLES),
        balanced_accuracy=column.balanced_accuracy(rows, supported),
        interval=bootstrap_interval(lambda drawn: column.balanced_accuracy(rows[drawn], supported), strata, RESAMPLES),
        precision=counts.precision if counts else None,
        recall=counts.recall if counts else None,
        f1=counts.f1 if counts else None,
    )


def _gains(plain: Column, better: Column, claims: Claims) -> Iterator[Gain]:
    def auroc_gain(rows: Rows) -> float | None:
        return _difference(better.auroc(rows, claims.supported), plain.auroc(rows, claims.supported))

    def accuracy_gain(rows: Rows) -> float | None:
        return _difference(
            better.balanced_accuracy(rows, claims.supported), plain.balanced_accuracy(rows, claims.supported)
        )

    def mean_of(gain: Callable[[Rows], float | None]) -> Callable[[Rows], float | None]:
        return lambda rows: _mean_of_known([gain(rows[claims.names[rows] == name]) for name, _ in claims.sets])

    for name, rows in claims.sets:
        yield _gain(name, (auroc_gain, accuracy_gain), rows, claims.strata)
    yield _gain(MEAN, (mean_of(auroc_gain), mean_of(accuracy_gain)), np.arange(claims.names.size), claims.strata)


def _gain(
    dataset: str,
    measures: tuple[Callable[[Rows], float | None], Callable[[Rows], float | None]],
    rows: Rows,
    strata: NDArray[np.intp],
) -> Gain:
    values = [measure(rows) for measure in measures]
    intervals = [
        bootstrap_interval(lambda drawn, measure=measure: measure(rows[drawn]), strata[rows], RESAMPLES)  # type: ignore[misc]
        for measure in measures
    ]
    return Gain(dataset, values[0], intervals[0], values[1], intervals[1])


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _mean(each: Sequence[SystemResult]) -> SystemResult:
    """Weigh the sets alike, whatever their size; a set with one class alone has no figure to take part with."""
    return SystemResult(
        dataset=MEAN,
        rows=sum(one.rows for one in each),
        unsupported=sum(one.unsupported for one in each),
        system=each[0].system,
        auroc=_mean_of_known([one.auroc for one in each]),
        auroc_interval=None,
        balanced_accuracy=_mean_of_known([one.balanced_accuracy for one in each]),
        interval=None,
        precision=_mean_of_known([one.precision for one in each]),
        recall=_mean_of_known([one.recall for one in each]),
        f1=_mean_of_known([one.f1 for one in each]),
    )
