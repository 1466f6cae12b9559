"""Stages 1 to 3 without what a verdict does not need: claims held against sources alone (SPEC-005 §3 to §5).

The contradictions of an answer with itself (3c), entailment (4) and coherence (6) have requests of their own, which no
verdict rests on: they are left out, and the encoders are asked a fraction.
"""

from typing import Final

from services.dpe.domain.pipeline import stages_for, steps_of
from services.dpe.domain.stages import s03_fidelity, s03c_contradiction

JUDGING: Final = steps_of(stages_for(s03_fidelity.STAGE, without=(s03c_contradiction.STAGE,)))
"""The steps, in the order in which they end."""
