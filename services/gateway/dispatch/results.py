"""From what became of a window to the result with its headers and notices (SPEC-004 §13.2, §14.2, §16)."""

from collections.abc import Sequence
from dataclasses import replace

from services.common.settings import GatewaySettings
from services.common.taxonomy import SUSTAINED_OR_WORSE, Degradation, DispatchStrategy
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.ai_systems import UNACCEPTABLE_CLASS
from services.gateway.domain.command import (
    Answered,
    DispatchDraft,
    DispatchResult,
    Halted,
    HeldForReview,
    Notice,
    NotModified,
    Part,
)
from services.gateway.domain.headers import HeaderInputs, PolicyOutcome, response_headers
from services.gateway.domain.outcome import RETRY_OVERSIGHT, UNACCEPTABLE_SYSTEM, Verdict, retry_condition
from services.gateway.domain.window import BuiltEnvelope, CommittedWindow, OpenedWindow, ReportSummary, WindowPlace

_DEGRADATION_CODES = {
    Degradation.FIRST_DROP: "QUALITY_DEGRADING",
    Degradation.SUSTAINED: "QUALITY_DEGRADING",
    Degradation.CRITICAL: "QUALITY_CRITICAL",
    Degradation.PERSISTENT: "QUALITY_CRITICAL",
}
_HIERARCHICAL = Notice(
    "STRATEGY_RECOMMENDED",
    "the envelopes' quality falls: switch to the strategy hierarchical (a window for each part of the query, and one "
    "that puts them together); the knowledge may lack depth on this subject",
)

_REFUSED_NEXT = Notice(
    "CONTINUATION_REFUSED",
    "this deployment refuses the next question of a session whose envelopes stay at tier D; ask it in a new session",
)


class Results:
    """Makes results; the settings are what headers say of the deployment."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings

    def answered(self, parts: Sequence[Part], further: Sequence[Notice] = ()) -> DispatchResult:
        """Return the delivered answer; of several windows the last one's headers, with the gravest risk of all."""
        last = parts[-1]
        inputs = self._inputs(last.draft, last.committed, "")
        inputs = replace(inputs, report=_gravest([part.draft.report for part in parts]))
        notices = [notice for part in parts for notice in (*part.draft.notices, *self._degradation(part))]
        violations = tuple(violation for part in parts for violation in part.draft.verdict.violations)
        return DispatchResult(
            outcome=Answered(tuple(parts)),
            headers=response_headers(inputs),
            verdict=Verdict("", violations),
            notices=(*dict.fromkeys(notices), *further),
            rounds=tuple(each for part in parts for each in part.draft.rounds),
            calls=tuple(call for part in parts for call in part.draft.calls),
            upgrades=tuple((d.place.window_id, d.upgrade) for d in (p.draft for p in parts) if d.upgrade is not None),
            breaker=last.committed.breaker,
            place=last.draft.place,
            report=inputs.report,
            policy_applied=last.draft.policy_applied,
            tool_calls=tuple(call for part in parts for call in part.draft.tool_calls),
        )

    def halted(self, draft: DispatchDraft, committed: CommittedWindow | None, reason: str) -> DispatchResult:
        """Return the withheld answer; ``committed`` where the halt came from the budget (SPEC-004 §16.3)."""
        condition = retry_condition(reason)
        outcome = Halted(draft.place, reason, condition, draft.report, draft.report_message)
        return self._undelivered(outcome, draft, committed, condition)

    def held(self, held: HeldForReview, draft: DispatchDraft, committed: CommittedWindow | None) -> DispatchResult:
        """Return that the answer waits for a person (ADR 0148); ``committed`` where the budget asked for one."""
        return self._undelivered(held, draft, committed, RETRY_OVERSIGHT)

    def _degradation(self, part: Part) -> tuple[Notice, ...]:
        """SPEC-004 §13.2: what the trend advises, and whether the next window would be refused.

        SPEC-003 §14.3: the strategy that it recommends, unless it was taken.
        """
        committed, hierarchical = part.committed, part.draft.strategy is DispatchStrategy.HIERARCHICAL
        code = _DEGRADATION_CODES.get(committed.degradation)
        advised = (Notice(code, committed.degradation_advice),) if code and committed.degradation_advice else ()
        recommended = committed.degradation in SUSTAINED_OR_WORSE and not hierarchical
        refused = self._settings.refuse_degraded and committed.degradation is Degradation.PERSISTENT
        return (*advised, *[_HIERARCHICAL] * recommended, *[_REFUSED_NEXT] * refused)

    def _undelivered(
        self, outcome: Halted | HeldForReview, draft: DispatchDraft, committed: CommittedWindow | None, condition: str
    ) -> DispatchResult:
        return DispatchResult(
            outcome=outcome,
            headers=response_headers(self._inputs(draft, committed, condition)),
            verdict=draft.verdict,
            notices=draft.notices,
            rounds=draft.rounds,
            calls=draft.calls,
            breaker=None if committed is None else committed.breaker,
            place=draft.place,
            report=draft.report,
            policy_applied=draft.policy_applied,
            tool_calls=draft.tool_calls,
        )

    def depleted(self, admitted: AdmittedDispatch, opened: OpenedWindow) -> DispatchResult:
        """Return the halt of a window that starts with a spent budget: no model is called (SPEC-004 §4.3, ADR 0103)."""
        condition = retry_condition(opened.halt_reason)
        inputs = HeaderInputs(
            strategy=admitted.strategy,
            policy=PolicyOutcome(admitted.policy.applied, admitted.policy.oversight, (), condition),
            place=opened.place,
            data_residency=self._settings.data_residency,
            community_header=self._settings.community_header,
            safety_budget=opened.safety_budget,
        )
        halted = Halted(opened.place, opened.halt_reason, condition)
        return DispatchResult(halted, response_headers(inputs), Verdict(opened.halt_reason), ())

    def prohibited(self, admitted: AdmittedDispatch, place: WindowPlace) -> DispatchResult:
        """Return the halt of a system that no call may be made for (SPEC-005 §14)."""
        condition = retry_condition(UNACCEPTABLE_SYSTEM)
        inputs = HeaderInputs(
            strategy=admitted.strategy,
            policy=PolicyOutcome(admitted.policy.applied, admitted.policy.oversight, (), condition),
            place=place,
            eu_ai_act_class=UNACCEPTABLE_CLASS,
            data_residency=self._settings.data_residency,
            community_header=self._settings.community_header,
        )
        halted = Halted(place, UNACCEPTABLE_SYSTEM, condition)
        return DispatchResult(halted, response_headers(inputs), Verdict(UNACCEPTABLE_SYSTEM), ())

    def not_modified(self, admitted: AdmittedDispatch, probed: BuiltEnvelope) -> DispatchResult:
        """Return that the presented ETag still stands (SPEC-003 §11.2)."""
        inputs = HeaderInputs(
            strategy=admitted.strategy,
            policy=PolicyOutcome(admitted.policy.applied, admitted.policy.oversight),
            tier=probed.summary.quality_tier,
            envelope=probed.summary,
            data_residency=self._settings.data_residency,
            community_header=self._settings.community_header,
        )
        outcome = NotModified(probed.summary.etag, probed.summary.cache_status)
        return DispatchResult(outcome, response_headers(inputs), Verdict(), ())

    def _inputs(self, draft: DispatchDraft, committed: CommittedWindow | None, retry_after: str) -> HeaderInputs:
        policy = PolicyOutcome(draft.policy_applied, draft.oversight, draft.verdict.violated, retry_after)
        return HeaderInputs(
            strategy=draft.strategy,
            policy=policy,
            tier=draft.tier,
            place=draft.place,
            envelope=draft.envelope,
            report=draft.report,
            committed=committed,
            data_residency=self._settings.data_residency,
            community_header=self._settings.community_header,
            agent=draft.agent,
        )


def _gravest(reports: Sequence[ReportSummary]) -> ReportSummary:
    """Return the last report with the highest risk of all: a caution about a part is one about the whole."""
    worst = max(reports, key=lambda report: (report.risk_level.rank, report.composite_score or 0.0))
    return replace(reports[-1], risk_level=worst.risk_level, composite_score=worst.composite_score)
