"""Which stages a caller's deadline leaves time for (ADR 0042).

Stages 1-5 and 13 have priority: the report is written whatever the time. A batch of theirs that does not come back in
its share of the time is given up, and its stages say so; what concerns prompt and earlier windows goes out last. Of
stages 6-12 each runs when what it will probably take fits into what is left; those that the risk does not need (8, 9,
10) give way to those that it does (6, 7, 11). What a stage will probably take is judged by what this very analysis has
measured: seconds per character for each model, and the longest computation of a stage. Without a deadline nothing is
measured against anything and nothing is left out.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from services.common.context import current_call
from services.common.errors import DeadlineError, ErrorReason
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.models import ASKED_MODELS, ModelAnswers, ModelRole, Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.pipeline import STAGES
from services.dpe.domain.stage import Stage, Step
from services.dpe.domain.stage_row import REPORT_SHARE, StageKey
from services.dpe.domain.stages import s13_report

Fulfil = Callable[[Requests, ModelAnswers], Awaitable[ModelAnswers]]

_NEVER: Final = float("inf")
SHARE_KEPT: Final = 0.25
"""Of the time that may be spent, what a batch of stages 1-5 leaves to each further one of them that must follow."""
OPINION_SHARE: Final = 0.5
"""Of the time that may be spent after stage 3, what a second opinion may take of it: stages 4 to 12 follow."""
_BLAMED: Final = {model.failed: model.role for model in ASKED_MODELS}
"""What a stage says of a model that gave nothing, and whose answers it missed."""


@dataclass(slots=True)
class _Pace:
    """What one model took so far."""

    seconds: float = 0.0
    chars: int = 0

    def predicted(self, chars: int) -> float:
        return self.seconds / self.chars * chars if self.chars else 0.0


class Timekeeper:
    """Keeps the time of one analysis.

    Args:
        now: a monotonic clock, in seconds.
        deadline: when the caller stops waiting, by that clock; infinite when never.
        reserve_s: seconds that settling, hashing and sending the report are given.
    """

    def __init__(self, now: Callable[[], float], deadline: float, reserve_s: float) -> None:
        self.now = now
        self._deadline = deadline
        self._reserve_s = reserve_s
        self._paces = {model.role: _Pace() for model in ASKED_MODELS}
        self._longest_compute_s = 0.0
        self._computed_s = 0.0
        self._given_up: set[ModelRole] = set()
        self._dropped: set[StageKey] = set()
        self._bounded = deadline != _NEVER

    def require_time(self) -> None:
        """Refuse to begin what cannot end.

        Raises:
            DeadlineError: less than the report's own time is left; nothing was done.
        """
        left = self._deadline - self.now()
        if left < self._reserve_s:
            raise DeadlineError(
                ErrorReason.DEADLINE_EXCEEDED,
                "the deadline leaves no time to write a report",
                left_s=f"{max(0.0, left):.3f}",
                needed_s=f"{self._reserve_s:.3f}",
            )

    def affords(self, stage: Stage, requests: Requests, *, is_first: bool) -> bool:
        """Say whether a stage is to run; always true of stages 1-5, 12 and 13, and of one that has nothing to do."""
        idle = is_first and stage.idle_in_first_window
        if stage.always_runs or idle or not self._bounded:
            return True
        if stage.key in self._dropped:
            return False
        return self.predicted_s(requests) <= self._spare_s() - self._kept_for_risk_s(stage)

    def predicted_s(self, requests: Requests) -> float:
        """Return what a stage that asks for this will probably take: its models' pace and the longest computation."""
        return self._asking_s(requests) + self._longest_compute_s

    def batch_limit_s(self, stage: Stage) -> float:
        """Return the seconds that a stage's batch of models may take."""
        ahead = (stage.computing_ahead - REPORT_SHARE) * self._computed_s
        return max(0.0, (self._spare_s() - ahead) * (1.0 - SHARE_KEPT * stage.batches_after))

    def opinion_limit_s(self) -> float:
        """Return the seconds that a second opinion may take (ADR 0119); no bound without a deadline."""
        return max(0.0, self._spare_s() * OPINION_SHARE)

    def computed(self, seconds: float) -> None:
        """Note what a stage's own computation took."""
        self._longest_compute_s = max(self._longest_compute_s, seconds)
        self._computed_s += seconds

    async def ask(self, step: Step, requests: Requests, analysis: Analysis, fulfil: Fulfil) -> Analysis:
        """Return the analysis with the models' answers, or without those that did not come in time.

        Stages 1-5 ask for what concerns the answer first. What concerns prompt and earlier windows follows when it will
        probably come in time; if it does not, the stages that read them are dropped, and the earlier windows left out.

        Args:
            step: the stage.
            requests: what it plans.
            analysis: so far.
            fulfil: asks the models.
        """
        if not self._bounded:
            return replace(analysis, models=await fulfil(requests, analysis.models))
        if not step.stage.always_runs:
            answered = await self._answered(step.stage, requests, analysis, fulfil)
            if answered is None:
                self._dropped.add(step.key)
            return answered or analysis
        alone = _answer_alone(analysis)
        own = requests if alone is analysis else step.plan(alone)
        answered = await self._answered(step.stage, own, analysis, fulfil) or self._without_answers(own, analysis)
        rest = requests.beyond(own)
        if not any(rest.chars().values()):
            return answered
        fits = self._asking_s(rest) <= self.batch_limit_s(step.stage)
        whole = await self._answered(step.stage, rest, answered, fulfil) if fits else None
        if whole is None:
            has_prompt, has_priors = bool(analysis.input.prompt), bool(analysis.outputs.text.prior_texts)
            self._dropped |= {
                stage.key
                for stage in STAGES
                if (has_prompt and stage.reads_prompt) or (has_priors and stage.reads_earlier_windows)
            }
            return answered.with_results(replace(answered.outputs.text, prior_texts=()))
        return whole

    def has_dropped(self, stage: Stage) -> bool:
        """Say whether there was no time for a stage that was asked about or begun."""
        return stage.key in self._dropped

    def drop(self, stage: Stage, analysis: Analysis) -> Analysis:
        """Return the analysis with the outcome of a stage that there is no time for."""
        self._dropped.add(stage.key)
        return analysis.ended(StageOutcome(stage, StageStatus.SKIPPED, Reason.DEADLINE_TOO_SHORT))

    def blame_deadline(self, analysis: Analysis) -> Analysis:
        """Return the analysis with the last stage's reason put right where time, and not a model, was what failed.

        The report itself (stage 13) is DEGRADED as soon as the deadline took something away.
        """
        outcome = analysis.outcomes[-1]
        told = outcome
        if _BLAMED.get(outcome.reason) in self._given_up:
            status = StageStatus.SKIPPED if outcome.status is StageStatus.FAILED else outcome.status
            told = replace(outcome, status=status, reason=Reason.DEADLINE_TOO_SHORT)
        elif outcome.stage is s13_report.STAGE and any(
            each.reason is Reason.DEADLINE_TOO_SHORT for each in analysis.outcomes
        ):
            told = replace(outcome, status=StageStatus.DEGRADED, reason=Reason.DEADLINE_TOO_SHORT)
        return analysis if told is outcome else replace(analysis, outcomes=(*analysis.outcomes[:-1], told))

    async def _answered(self, stage: Stage, requests: Requests, analysis: Analysis, fulfil: Fulfil) -> Analysis | None:
        """Return the analysis with the answers, or ``None`` when they did not come in time."""
        start = self.now()
        try:
            async with asyncio.timeout(self.batch_limit_s(stage)):
                models = await fulfil(requests, analysis.models)
        except TimeoutError:
            return None
        for role, chars in requests.chars().items():
            if chars:  # models that computed side by side are each charged the whole time
                self._paces[role].seconds += self.now() - start
                self._paces[role].chars += chars
        return replace(analysis, models=models)

    def _without_answers(self, requests: Requests, analysis: Analysis) -> Analysis:
        """Return the analysis as if the models that were asked had given nothing."""
        lost = {role for role, chars in requests.chars().items() if chars}
        self._given_up |= lost
        nothing: dict[str, Any] = {model.answers: None for model in ASKED_MODELS if model.role in lost}
        return replace(analysis, models=replace(analysis.models, **nothing))

    def _asking_s(self, requests: Requests) -> float:
        return sum(self._paces[role].predicted(chars) for role, chars in requests.chars().items())

    def _spare_s(self) -> float:
        return self._deadline - self.now() - self._reserve_s - REPORT_SHARE * self._computed_s

    def _kept_for_risk_s(self, stage: Stage) -> float:
        """Return what a stage that the risk does not need leaves to those behind it that it does."""
        behind = 0 if stage.amplifiers else sum(1 for each in STAGES if each.amplifiers and each.key > stage.key)
        return behind * self._longest_compute_s


def unlimited() -> Timekeeper:
    """Return a keeper that leaves nothing out: the call ends in time, or with DEADLINE_EXCEEDED."""
    return Timekeeper(asyncio.get_running_loop().time, _NEVER, 0.0)


def timekeeper(reserve_s: float) -> Timekeeper:
    """Return the keeper of the running call's time; unbounded outside of a call and without a deadline."""
    try:
        deadline = current_call().deadline
    except LookupError:
        deadline = None
    return unlimited() if deadline is None else Timekeeper(asyncio.get_running_loop().time, deadline, reserve_s)


def _answer_alone(analysis: Analysis) -> Analysis:
    """Return the analysis without prompt and earlier windows; itself when it has neither."""
    if not analysis.outputs.text.prior_texts and not analysis.input.prompt:
        return analysis
    given = replace(analysis.input, prompt="")
    return replace(analysis, input=given).with_results(replace(analysis.outputs.text, prior_texts=()))
