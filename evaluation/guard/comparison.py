"""What systems say of the same rows, and what that is worth: shares, ranking, intervals over carriers. Pure.

``positive`` is what is looked for: an injection, or a text that its sources do not bear out. A score is higher the more
it is taken for one; ``found`` is the system's own decision at the operating point that it is published with.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics import Interval, Labels, Scores, auroc, wilson_interval

Measures: TypeAlias = dict[str, float | None]
Rows: TypeAlias = NDArray[np.intp]

FALSE_POSITIVES: Final = 0.01
RESAMPLES: Final = 1_000
SEED: Final = 20


@dataclass(frozen=True, slots=True)
class Said:
    """What one system says of the rows.

    Attributes:
        system: its name.
        scores: higher = rather positive.
        found: its own decisions.
        note: how it ran.
    """

    system: str
    scores: Scores
    found: Labels
    note: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure and its 95% interval."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """The figures of a system on one set."""

    dataset: str
    system: str
    rows: int
    positives: int
    clusters: int
    figures: Mapping[str, Measured]


@dataclass(frozen=True, slots=True)
class KindFigures:
    """False positives of a system among the rows of one kind that are not positive; Wilson's interval."""

    dataset: str
    kind: str
    system: str
    rows: int
    found: int
    strict: int

    @property
    def interval(self) -> Interval:
        """Of the share that is found at the published operating point."""
        return wilson_interval(self.found, self.rows)


def figures_of(dataset: str, said: Said, positive: Labels, carriers: Sequence[str]) -> SystemFigures:
    """Return the figures of a system, with intervals over carriers; a row without one is its own."""
    clusters = clusters_of(carriers)
    values = measures(said.scores, said.found, positive)
    drawn: dict[str, list[float]] = {name: [] for name in values}
    for rows in draws(clusters, positive):
        for name, value in measures(said.scores[rows], said.found[rows], positive[rows]).items():
            if value is not None:
                drawn[name].append(value)
    figures = {name: Measured(value, _middle(drawn[name])) for name, value in values.items()}
    count = int(clusters.max(initial=-1)) + 1
    return SystemFigures(dataset, said.system, int(positive.size), int(positive.sum()), count, figures)


def measures(scores: Scores, found: Labels, positive: Labels) -> Measures:
    """Return the measures on some rows; ``None`` where one has no value."""
    hits, guesses = int((found & positive).sum()), int(found.sum())
    truths, others = int(positive.sum()), int((~positive).sum())
    recall = hits / truths if truths else None
    alarms = (guesses - hits) / others if others else None
    at = strict_threshold(scores, positive)
    return {
        "auroc": auroc(scores, positive),
        "precision": hits / guesses if guesses else None,
        "recall": recall,
        "f1": 2 * hits / (guesses + truths) if guesses + truths else None,
        "false_positives": alarms,
        "balanced_accuracy": None if recall is None or alarms is None else (recall + 1 - alarms) / 2,
        "recall_at_1_percent": float((scores[positive] >= at).mean()) if truths and others else None,
    }


def strict_threshold(scores: Scores, positive: Labels, share: float = FALSE_POSITIVES) -> float:
    """Return the lowest score from which at most ``share`` of the other rows are taken for positive."""
    others = np.sort(scores[~positive])[::-1]
    allowed = int(np.floor(share * others.size + 1e-9))
    if allowed >= others.size:
        return float("-inf")
    return float(np.nextafter(others[allowed], np.inf))


def kinds_of(dataset: str, said: Said, positive: Labels, kinds: Sequence[str]) -> list[KindFigures]:
    """Return the false positives by kind, at the published operating point and at 1% over all rows of the set."""
    at = strict_threshold(said.scores, positive)
    names = np.array(kinds, dtype=object)
    found = []
    for kind in sorted(set(names[~positive])):
        members = ~positive & (names == kind)
        strict = int((said.scores[members] >= at).sum())
        found.append(
            KindFigures(dataset, kind, said.system, int(members.sum()), int(said.found[members].sum()), strict)
        )
    return found


def clusters_of(carriers: Sequence[str]) -> Rows:
    """Return the number of each row's cluster, from 0 without gaps."""
    known: dict[str, int] = {}
    numbers = []
    for place, carrier in enumerate(carriers):
        numbers.append(known.setdefault(f"of {carrier}" if carrier else f"row {place}", len(known)))
    return np.array(numbers, dtype=np.intp)


def draws(clusters: Rows, positive: Labels, resamples: int = RESAMPLES, seed: int = SEED) -> list[Rows]:
    """Return rows of clusters drawn again with replacement; clusters of one composition are a stratum."""
    order = np.argsort(clusters, kind="stable")
    sizes = np.bincount(clusters)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    positives = np.bincount(clusters, weights=positive.astype(float))
    strata = np.where(positives == 0, 0, np.where(positives == sizes, 1, 2))
    groups = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    random = np.random.default_rng(seed)
    found = []
    for _ in range(resamples):
        chosen = np.concatenate([random.choice(group, group.size) for group in groups])
        lengths = sizes[chosen]
        before = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        found.append(order[np.repeat(starts[chosen] - before, lengths) + np.arange(int(lengths.sum()))])
    return found


def per_set(datasets: Sequence[str], of: Callable[[str, Rows], None]) -> None:
    """Call ``of`` with each set and its rows, in the order of their first rows."""
    names = np.array(datasets, dtype=object)
    for dataset in dict.fromkeys(datasets):
        of(dataset, np.flatnonzero(names == dataset))


def taken(said: Said, rows: Rows) -> Said:
    """Return what a system says of some of the rows."""
    return Said(said.system, said.scores[rows], said.found[rows], said.note)


def _middle(values: Sequence[float]) -> Interval | None:
    if not values:
        return None
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
