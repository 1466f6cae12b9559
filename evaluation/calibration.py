"""How well probabilities keep what they promise: both kinds of bins, and the error of each."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics import (
    Labels,
    ReliabilityBin,
    Scores,
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_error,
)

BINS: Final = 15


@dataclass(frozen=True, slots=True)
class Calibration:
    """One curve of a reliability diagram.

    Attributes:
        name: whose probabilities.
        rows: how many were looked at.
        equal_width: expected calibration error over bins of equal width.
        equal_mass: the same over bins of equally many rows, which a crowd at one end cannot hide in.
        bins: those of equal mass.
    """

    name: str
    rows: int
    equal_width: float
    equal_mass: float
    bins: tuple[ReliabilityBin, ...]


def calibration_of(name: str, confidence: Scores, came_true: Labels, bins: int = BINS) -> Calibration:
    """Measure probabilities (0 to 1) against whether what they promise came true."""
    mass = equal_mass_bins(confidence, came_true, bins)
    width = expected_calibration_error(equal_width_bins(confidence, came_true, bins))
    return Calibration(name, int(confidence.size), width, expected_calibration_error(mass), mass)


def without_temperature(probabilities: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Return what softmax gives without the temperature, from what it gives with it; rows of any number of classes.

    softmax(z / T) to the power T is proportional to softmax(z), so the logits are not needed. Exact for what was read
    at once; near to it for probabilities that were put together from several windows.
    """
    # A class whose probability underflowed stays at the smallest positive number: log(0) would spread NaN over the row.
    logits = temperature * np.log(np.maximum(probabilities, np.finfo(np.float32).tiny))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)
