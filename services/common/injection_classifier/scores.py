"""From the logits of a text's pieces to its probability (ADR 0227)."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.calibration import PiecewiseLinearCalibration

Values = NDArray[np.float64]
_FAR: Final = 40.0


def squashed(logits: Values) -> Values:
    """Return the logistic of a quarter of the logits: calibration needs room at both ends."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits / 4.0, -_FAR, _FAR))))


def probability(logits: Sequence[float], calibration: PiecewiseLinearCalibration) -> float:
    """Return a text's calibrated probability in [0, 1] from its pieces' logits; 0 without any.

    Args:
        logits: one of each piece.
        calibration: from the squashed logit of the most suspicious piece.
    """
    if not logits:
        return 0.0
    return float(calibration.apply(squashed(np.array([max(logits)])).astype(np.float32))[0])
