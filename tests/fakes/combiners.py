"""A combiner that can be worked out by hand: support = logistic(token_recall logit + encoder_support)."""

from copy import deepcopy
from typing import Any

_MODEL: dict[str, Any] = {
    "names": ["token_recall"],
    "means": [0.5],
    "scales": [0.5],
    "weights": [1.0],
    "bias": 0.0,
    "calibration": {"raw": [0.0, 1.0], "calibrated": [0.0, 1.0]},
    "threshold": 0.5,
}


def tiny_combiner() -> dict[str, Any]:
    """Return the content of a ``combiner.json``: signals weigh half of what the encoder does."""
    both = deepcopy(_MODEL) | {
        "names": ["signals_logit", "encoder_support"],
        "means": [0.0, 0.0],
        "scales": [2.0, 1.0],
        "weights": [1.0, 1.0],
    }
    return {
        "schema_version": 1,
        "windows": {"premise_tokens": 32, "max_windows": 2},
        "spans": {"threshold": 0.75},
        "signals": deepcopy(_MODEL),
        "both": both,
        "fitted_on": {},
    }
