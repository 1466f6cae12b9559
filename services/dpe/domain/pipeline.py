"""The 13 stages in order (SPEC-005 §2), free of input and output: a stage says what it needs and is given it.

The caller walks ``PIPELINE``: for each step it fulfils ``plan(analysis)`` and calls ``apply(analysis)``, which appends
exactly one outcome.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from services.common.reading.sentences import sentences
from services.dpe.domain.analysis import Analysis, AnalysisInput, Models, PriorText, Requests
from services.dpe.domain.names import Gazetteer
from services.dpe.domain.outcome import StageKey
from services.dpe.domain.policy import Policy
from services.dpe.domain.stages import (
    s01_claims,
    s02_attribution,
    s03_fidelity,
    s03a_fabrication,
    s03b_distortion,
    s03c_contradiction,
    s04_entailment,
    s05_risk,
    s06_coherence,
    s07_repetition,
    s08_completeness,
    s09_flow,
    s10_omission,
    s11_pii,
    s12_regulatory,
    s13_report,
)


def _nothing(_: Analysis) -> Requests:
    return Requests()


@dataclass(frozen=True, slots=True)
class Step:
    """One stage or sub-stage of the pipeline."""

    key: StageKey
    apply: Callable[[Analysis], Analysis]
    plan: Callable[[Analysis], Requests] = _nothing


PIPELINE: Final = (
    Step(s01_claims.KEY, s01_claims.apply, s01_claims.plan),
    Step(s02_attribution.KEY, s02_attribution.apply, s02_attribution.plan),
    Step(s03a_fabrication.KEY, s03a_fabrication.apply, s03_fidelity.plan),
    Step(s03b_distortion.KEY, s03b_distortion.apply),
    Step(s03c_contradiction.KEY, s03c_contradiction.apply, s03c_contradiction.plan),
    Step(s03_fidelity.KEY, s03_fidelity.apply),
    Step(s04_entailment.KEY, s04_entailment.apply, s04_entailment.plan),
    Step(s05_risk.KEY, s05_risk.apply),
    Step(s06_coherence.KEY, s06_coherence.apply, s06_coherence.plan),
    Step(s07_repetition.KEY, s07_repetition.apply),
    Step(s08_completeness.KEY, s08_completeness.apply),
    Step(s09_flow.KEY, s09_flow.apply),
    Step(s10_omission.KEY, s10_omission.apply),
    Step(s11_pii.KEY, s11_pii.apply, s11_pii.plan),
    Step(s12_regulatory.KEY, s12_regulatory.apply),
    Step(s13_report.KEY, s13_report.apply),
)
"""Every stage, in the order in which it ends."""


def begin(given: AnalysisInput, policy: Policy, gazetteer: Gazetteer, models: Models) -> Analysis:
    """Return the analysis before stage 1: the sentences of answer and earlier windows are found, nothing else is.

    Args:
        given: what to analyse.
        policy: what the deployment chose.
        gazetteer: common knowledge.
        models: which there are; nothing was asked of them yet.
    """
    analysis = Analysis(given, policy, gazetteer, models)
    read = [PriorText(window, tuple(sentences(window.text))) for window in given.prior_windows]
    return analysis.segmented(tuple(sentences(given.answer)), tuple(prior for prior in read if prior.sentences))
