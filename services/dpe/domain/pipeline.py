"""The 13 stages in order (SPEC-005 §2), free of input and output: a stage says what it needs and is given it.

The caller walks ``PIPELINE``: for each step it fulfils ``plan(analysis)`` and calls ``apply(analysis)``, which appends
exactly one outcome. A further stage is a file, and its line in ``STAGES``.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from services.common.reading.sentences import sentences
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.models import ModelAnswers
from services.dpe.domain.names import Gazetteer
from services.dpe.domain.policy import Policy
from services.dpe.domain.prior_texts import PriorText
from services.dpe.domain.results import TextReading
from services.dpe.domain.stage import Batch, Plan, Stage, Step
from services.dpe.domain.stage_row import StageKey, StageRow
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

STAGES: Final = (
    s01_claims.STAGE,
    s02_attribution.STAGE,
    s03a_fabrication.STAGE,
    s03b_distortion.STAGE,
    s03c_contradiction.STAGE,
    s03_fidelity.STAGE,
    s04_entailment.STAGE,
    s05_risk.STAGE,
    s06_coherence.STAGE,
    s07_repetition.STAGE,
    s08_completeness.STAGE,
    s09_flow.STAGE,
    s10_omission.STAGE,
    s11_pii.STAGE,
    s12_regulatory.STAGE,
    s13_report.STAGE,
)
"""Every stage, in the order in which it ends."""
STAGE_BY_KEY: Final[Mapping[StageKey, Stage]] = {stage.key: stage for stage in STAGES}


def steps_of(stages: Sequence[Stage], also: Mapping[Batch, Plan] | None = None) -> tuple[Step, ...]:
    """Return the steps of a run of some stages; a common batch holds what these stages ask, and nothing for others.

    Args:
        stages: in the order of ``STAGES``.
        also: what the caller wants to know besides, by the batch in which it goes out.
    """
    return tuple(Step(stage, (*_shared(stage, stages, also or {}), stage.plan)) for stage in stages)


def _shared(sender: Stage, stages: Sequence[Stage], also: Mapping[Batch, Plan]) -> tuple[Plan, ...]:
    """Return all that goes out in the common batch that a stage sends."""
    if sender.sends is None:
        return ()
    asks = [stage.shares[sender.sends] for stage in stages if sender.sends in stage.shares]
    return (*asks, *([also[sender.sends]] if sender.sends in also else ()))


def stages_for(*wanted: Stage, without: Sequence[Stage] = ()) -> tuple[Stage, ...]:
    """Return what has to run for some stages: they and all that they need, in the order of ``STAGES``.

    Args:
        wanted: the stages whose results are asked for.
        without: what need not run; whoever leaves it out knows what then is missing.
    """
    found: set[StageKey] = set()
    open_: list[StageRow] = list(wanted)
    while open_:
        row = open_.pop()
        if row.key not in found:
            found.add(row.key)
            open_ += row.needs
    left_out = {stage.key for stage in without}
    return tuple(stage for stage in STAGES if stage.key in found - left_out)


PIPELINE: Final = steps_of(STAGES)
"""The whole analysis, step by step."""


def begin(given: AnalysisInput, policy: Policy, gazetteer: Gazetteer, models: ModelAnswers) -> Analysis:
    """Return the analysis before stage 1: the sentences of answer and earlier windows are found, nothing else is.

    Args:
        given: what to analyse.
        policy: what the deployment chose.
        gazetteer: common knowledge.
        models: which there are; nothing was asked of them yet.
    """
    analysis = Analysis(given, policy, gazetteer, models)
    read = [PriorText(window, tuple(sentences(window.text))) for window in given.prior_windows]
    priors = tuple(prior for prior in read if prior.sentences)
    return analysis.with_results(TextReading(sentences=tuple(sentences(given.answer)), prior_texts=priors))
