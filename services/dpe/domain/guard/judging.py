"""Stages 1 to 3 without what a verdict does not need: claims held against sources alone (SPEC-005 §3 to §5).

The contradictions of an answer with itself (3c), entailment (4) and coherence (6) have requests of their own, which no
verdict rests on: they are left out, and the encoders are asked a fraction.
"""

from typing import Final

from services.dpe.domain.pipeline import Step
from services.dpe.domain.stages import (
    s01_claims,
    s02_attribution,
    s03_fidelity,
    s03a_fabrication,
    s03b_distortion,
)

JUDGING: Final = (
    Step(s01_claims.KEY, s01_claims.apply, s01_claims.plan),
    Step(s02_attribution.KEY, s02_attribution.apply, s02_attribution.plan),
    Step(s03a_fabrication.KEY, s03a_fabrication.apply, s03_fidelity.plan_support),
    Step(s03b_distortion.KEY, s03b_distortion.apply),
    Step(s03_fidelity.KEY, s03_fidelity.apply),
)
"""The steps, in the order in which they end."""
