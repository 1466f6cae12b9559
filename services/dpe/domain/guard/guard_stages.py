"""The provenance stages that a score outside a session needs: claims, attribution, fidelity, what was said before.

The same stages as in a report (SPEC-005 §3 to §5, §8). Stage 4's windows of facts are not read; what the guard alone
wants to know goes out in the same batch of each model.
"""

from typing import Final

from services.dpe.domain.analysis import Analysis
from services.dpe.domain.guard.opinions_held import held_opinions
from services.dpe.domain.guard.prompt_statements import pairs
from services.dpe.domain.models import ModelRole, Requests
from services.dpe.domain.pipeline import stages_for, steps_of
from services.dpe.domain.stage import Batch
from services.dpe.domain.stages import s03_fidelity, s06_coherence


def ask_of_prompt(analysis: Analysis) -> Requests:
    """Ask for what the prompt states, and for opinions where there is nothing else."""
    judge = tuple(one.request for one in held_opinions(analysis)) if analysis.models.has(ModelRole.GROUNDING) else ()
    classify = tuple(pairs(analysis)) if analysis.models.entailment_tokens is not None else ()
    return Requests(classify=classify, judge=judge)


COHERENCE_STAGES: Final = steps_of(
    stages_for(s03_fidelity.STAGE, s06_coherence.STAGE), also={Batch.PAIRS: ask_of_prompt}
)
"""Stages 1, 2, 3 and 6, in the order in which they end."""
