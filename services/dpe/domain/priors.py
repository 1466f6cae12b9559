"""Earlier windows as stages 6 to 9 take them (SPEC-005 §8-§11, ADR 0037).

A summary stands for what a window said, never for how it said it: coherence and completeness read summaries, repetition
and flow do not. Windows on a path are numbered without gaps, so a number that is not there is a text that is missing.
"""

from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.outcome import Reason
from services.dpe.domain.prior_texts import PriorText


def verbatim(analysis: Analysis) -> list[PriorText]:
    """Return the earlier windows whose own words are there, in their order."""
    return [prior for prior in analysis.outputs.text.prior_texts if not prior.window.is_summary]


def previous(analysis: Analysis) -> PriorText | None:
    """Return the window before this one; of several parents the last, one in its own words before a summary."""
    wanted = analysis.input.window_number - 1
    found = [prior for prior in analysis.outputs.text.prior_texts if prior.window.window_number == wanted]
    own = [prior for prior in found if not prior.window.is_summary]
    return own[-1] if own else found[-1] if found else None


def prior_status(analysis: Analysis, *, summaries_serve: bool) -> tuple[StageStatus, Reason]:
    """Say how a stage ends as far as earlier windows decide: SKIPPED without any, DEGRADED where some are missing.

    Args:
        analysis: of window 2 or later.
        summaries_serve: whether the stage reads summaries.
    """
    there = analysis.outputs.text.prior_texts
    if not there:
        return StageStatus.SKIPPED, Reason.NO_PRIOR_TEXT
    is_short = any(prior.window.is_summary for prior in there) and not summaries_serve
    if is_short and not verbatim(analysis):
        return StageStatus.SKIPPED, Reason.PRIOR_IS_SUMMARY
    if len({prior.window.window_number for prior in there}) < analysis.input.window_number - 1:
        return StageStatus.DEGRADED, Reason.PRIOR_WINDOWS_MISSING
    return (StageStatus.DEGRADED, Reason.PRIOR_IS_SUMMARY) if is_short else (StageStatus.COMPLETED, Reason.NONE)
