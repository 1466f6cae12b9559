"""The calibration map: exact knots, monotone, [0, 1]."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.adapters.memory.embedding import IdentityCalibration
from services.common.calibration import PiecewiseLinearCalibration

RAW = (0.0, 0.4, 0.6, 1.0)
CALIBRATED = (0.0, 0.6, 0.75, 1.0)


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [(0.0, 0.0), (0.2, 0.3), (0.4, 0.6), (0.5, 0.675), (0.6, 0.75), (0.8, 0.875), (1.0, 1.0), (-0.3, 0.0), (1.01, 1.0)],
)
def test_value(cosine, expected):
    result = PiecewiseLinearCalibration(RAW, CALIBRATED).apply(np.array([[cosine]], dtype=np.float32))
    assert result.shape == (1, 1)
    assert result.dtype == np.float32
    assert result[0, 0] == pytest.approx(expected, abs=1e-6)


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=20))
def test_order_is_kept(cosines):
    values = np.sort(np.array(cosines, dtype=np.float32))
    result = PiecewiseLinearCalibration(RAW, CALIBRATED).apply(values)
    assert np.all(np.diff(result) >= 0)
    assert result.min() >= 0.0
    assert result.max() <= 1.0


@pytest.mark.parametrize(
    ("raw", "calibrated", "message"),
    [
        ((0.0, 0.5, 0.5, 1.0), CALIBRATED, "raw knots must ascend strictly"),
        (RAW, (0.0, 0.8, 0.75, 1.0), "calibrated knots must ascend strictly"),
        ((0.1, 0.4, 0.6, 1.0), CALIBRATED, "raw knots must run from 0 to 1"),
        (RAW, (0.0, 0.6, 0.75, 0.9), "calibrated knots must run from 0 to 1"),
        ((0.0, 1.0), CALIBRATED, "2 raw knots and 4 calibrated"),
        ((0.0,), (0.0,), "must run from 0 to 1"),
    ],
)
def test_refuses(raw, calibrated, message):
    with pytest.raises(ValueError, match=message):
        PiecewiseLinearCalibration(raw, calibrated)


def test_identity_clips():
    values = np.array([-0.5, 0.25, 1.5], dtype=np.float32)
    assert IdentityCalibration().apply(values).tolist() == [0.0, 0.25, 1.0]
