"""The provenance stages that a score outside a session needs: claims, attribution, fidelity, what was said before.

The same stages as in a report (SPEC-005 §3 to §5, §8). Stage 4's windows of facts are not read; what the guard alone
wants to know goes out in the same batch of each model.
"""

from dataclasses import replace
from typing import Final

from services.dpe.domain.analysis import Analysis, Requests
from services.dpe.domain.guard.opinions_held import held_opinions
from services.dpe.domain.guard.prompt_statements import pairs
from services.dpe.domain.outcome import StageKey
from services.dpe.domain.pipeline import PIPELINE, Step
from services.dpe.domain.stages import s03_fidelity

_NUMBERS: Final = frozenset({1, 2, 3, 6})
_FIRST_OF_FIDELITY: Final = StageKey(3, "a")


def plan_coherence(analysis: Analysis) -> Requests:
    """Ask for verdicts and contradictions, for what the prompt states, and for opinions where there is nothing else."""
    judge = tuple(one.request for one in held_opinions(analysis)) if analysis.models.grounding_configured else ()
    classify = tuple(pairs(analysis)) if analysis.models.entailment_tokens is not None else ()
    return s03_fidelity.plan_verdicts(analysis).and_(Requests(classify=classify, judge=judge))


def _own(step: Step) -> Step:
    return replace(step, plan=plan_coherence) if step.key == _FIRST_OF_FIDELITY else step


COHERENCE_STAGES: Final = tuple(_own(step) for step in PIPELINE if step.key.number in _NUMBERS)
"""Stages 1, 2, 3 and 6, in the order in which they end."""
