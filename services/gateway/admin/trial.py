"""Trying a policy: which stored windows it would have withheld (CRP-SPEC-006 facts; ADR 0152).

Stored windows were judged by another policy. Their reports say what any policy would find in them, so that the same
functions judge them again as judge a fresh answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.taxonomy import QualityTier
from services.gateway.domain.outcome import OVERSIGHT_REQUIRED, PolicyInForce, PolicyRequest, judge, policy_in_force
from services.gateway.ports import ReportReads, StoredSignals

MOST_TOLD: Final = 1_000
"""Windows that are named; their numbers are those of all."""


@dataclass(frozen=True, slots=True)
class TriedWindow:
    """A window that would have been withheld, and why."""

    window: StoredSignals
    halt_reason: str
    directives: tuple[str, ...]


@dataclass(slots=True)
class Trial:
    """What a policy would have done.

    Attributes:
        windows: looked at, those that cannot be read among them.
        withheld: the first of those that were halted or held.
    """

    windows: int = 0
    halted: int = 0
    held: int = 0
    warned: int = 0
    unreadable: int = 0
    withheld: Sequence[TriedWindow] = ()


async def try_policy(text: str, reports: ReportReads, most: int) -> Trial:
    """Judge up to ``most`` stored windows by the policy.

    Raises:
        PolicyError: it cannot be read.
    """
    force, trial, told = policy_in_force(PolicyRequest(safety_policy=text), "", ""), Trial(), list[TriedWindow]()
    tiers = dict[str, dict[str, QualityTier]]()  # reports of a session lie apart: all are kept
    async for page in reports.signals():
        for window in page[: most - trial.windows]:
            trial.windows += 1
            tier = QualityTier.S
            if force.directives.require_quality is not None and window.report is not None:
                if window.session_id not in tiers:
                    tiers[window.session_id] = await reports.tiers(window.session_id)
                tier = tiers[window.session_id].get(window.window_id, QualityTier.D)
            _count(trial, told, window, force, tier)
        if trial.windows >= most:
            break
    trial.withheld = told
    return trial


def _count(
    trial: Trial, told: list[TriedWindow], window: StoredSignals, force: PolicyInForce, tier: QualityTier
) -> None:
    if window.report is None:
        trial.unreadable += 1
        return
    verdict = judge(force, window.report, tier)
    if not verdict.halt_reason:
        trial.warned += bool(verdict.violations)
        return
    if verdict.halt_reason == OVERSIGHT_REQUIRED:
        trial.held += 1
    else:
        trial.halted += 1
    if len(told) < MOST_TOLD:
        told.append(TriedWindow(window, verdict.halt_reason, verdict.violated))
