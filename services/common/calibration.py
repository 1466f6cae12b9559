"""From raw cosine to the scale on which the specifications' similarity thresholds are defined (ADR 0012).

Sentence embedders spread cosines differently; 0.75 and 0.60 mean nothing on a raw scale. Each model carries a monotone
piecewise-linear map that puts its equal-error point at 0.75 and its 95% recall point at 0.60.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class PiecewiseLinearCalibration:
    """A strictly monotone map of [0, 1] onto itself; cosines below 0 count as 0, above 1 (by rounding) as 1.

    Args:
        raw: knots on the raw scale: strictly ascending, first 0, last 1.
        calibrated: their images: strictly ascending, first 0, last 1.

    Raises:
        ValueError: the knots do not make such a map.
    """

    def __init__(self, raw: Sequence[float], calibrated: Sequence[float]) -> None:
        self._raw = _knots("raw", raw)
        self._calibrated = _knots("calibrated", calibrated)
        if len(self._raw) != len(self._calibrated):
            msg = f"calibration: {len(self._raw)} raw knots and {len(self._calibrated)} calibrated ones"
            raise ValueError(msg)

    @property
    def knots(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The knots on the raw scale and their images."""
        return tuple(self._raw.tolist()), tuple(self._calibrated.tolist())

    def apply(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Map raw cosines (any shape) to calibrated similarity in [0, 1]."""
        return np.interp(cosine, self._raw, self._calibrated).astype(np.float32)


def _knots(side: str, values: Sequence[float]) -> NDArray[np.float64]:
    knots = np.asarray(values, dtype=np.float64)
    if knots.ndim != 1 or knots.size < 2 or knots[0] != 0.0 or knots[-1] != 1.0:  # noqa: PLR2004 - two end points
        msg = f"calibration: the {side} knots must run from 0 to 1"
        raise ValueError(msg)
    if not bool(np.all(np.diff(knots) > 0)):
        msg = f"calibration: the {side} knots must ascend strictly"
        raise ValueError(msg)
    return knots
