"""The columns of a grounding model: what its combiner's two models, and its encoder alone, make of a verdict."""

import numpy as np

from evaluation.grounding_scores import BOTH, ENCODER, SURFACE, System
from services.common.grounding.combiner import Combiner
from services.common.ports.grounding import GroundingVerdict


def columns_of(combiner: Combiner) -> tuple[System[GroundingVerdict], ...]:
    """Return surface features, encoder and both, in this order.

    The combiner holds a calibrated model over the signals alone, with a threshold of its own, so the surface features
    are judged by the best that is known of them. The encoder alone has no threshold in the product: it takes the best
    one on the fold ``calibrate``. A claim with nothing to read has no word of the encoder's, and counts as 0.
    """

    def surface(verdict: GroundingVerdict) -> float:
        columns = {name: np.array([value]) for name, value in verdict.signals}
        return float(combiner.signals.support(columns)[0])

    return (
        System(SURFACE, surface, combiner.signals.threshold),
        System(ENCODER, lambda verdict: verdict.encoder_support or 0.0, None),
        System(BOTH, lambda verdict: verdict.support, combiner.both.threshold),
    )
