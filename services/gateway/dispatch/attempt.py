"""One attempt at a dispatch: open the window, keep the draft, commit it or halt, give the window up (SPEC-004 §4, §16).

What makes it safe to retry and to break off:

* The steps' request ids are derived from the caller's, so a retry meets the window that the first attempt opened.
* The analysed answer is kept before the commit, and the first one kept wins: a retry commits the very same answer, also
  after a crash in between, also when two retries run at once.
* Whatever ends an attempt after its window was opened, cancellation included, gives the window up, apart from the call,
  so that a caller who has gone away does not leave it PENDING. The next retry opens a fresh window.
"""

from dataclasses import dataclass, replace

from services.common.cleanups import Cleanups, reason_of
from services.common.concurrency import uninterrupted
from services.common.context import current_call
from services.common.errors import CrpError, ErrorReason, PermissionDeniedError, UnauthenticatedError, UnavailableError
from services.common.ports.credentials import AiSystemRecord
from services.common.progress import at, stored
from services.common.settings import GatewaySettings
from services.common.taxonomy import SUSTAINED_OR_WORSE, Degradation, WindowStatus
from services.common.telemetry import note
from services.gateway.dispatch.opening import joined, under_policy
from services.gateway.dispatch.outlet import Outlet
from services.gateway.dispatch.results import Results
from services.gateway.dispatch.strategies import strategy_named
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.ai_systems import prohibited_rows
from services.gateway.domain.command import Continuation, DispatchDraft, DispatchResult, Part, StepIds
from services.gateway.domain.outcome import OVERSIGHT_REQUIRED, UNACCEPTABLE_SYSTEM
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow, WindowPlace
from services.gateway.ports import DraftOwner, DraftSlot, DraftStore, HeldAnswers, OpenWindow, SessionClient, ToHold


@dataclass(frozen=True, slots=True)
class AttemptParts:
    """What an attempt is composed of.

    Attributes:
        window: takes an opened window to an analysed answer.
    """

    sessions: SessionClient
    window: WindowRun
    drafts: DraftStore
    held: HeldAnswers


class Attempts:
    """Makes attempts; keeps nothing between them but the windows that are being given up."""

    def __init__(self, parts: AttemptParts, results: Results, settings: GatewaySettings) -> None:
        self._sessions = parts.sessions
        self._window = parts.window
        self._drafts = parts.drafts
        self._held = parts.held
        self._results = results
        self._settings = settings
        self._cleanups = Cleanups(settings.cleanup_s)

    async def close(self) -> None:
        """Wait for windows that are being given up."""
        await self._cleanups.close()

    async def run(
        self, admitted: AdmittedDispatch, steps: StepIds, budget: int, outlet: Outlet | None = None
    ) -> DispatchResult | None:
        """Make one attempt.

        Args:
            admitted: the query.
            steps: request ids of the attempt's steps.
            budget: tokens that the context window leaves for facts.
            outlet: where what has passed of the answer leaves; ``None`` = nothing does before the commit.

        Returns:
            What it came to; ``None`` when its window was given up before, so that the next attempt is due.

        Raises:
            CrpError: as the contract lists; the window is FAILED then.
        """
        slot = DraftSlot(current_call().caller.tenant_id, steps.draft, admitted.command.body_hash)
        admitted, opened = await self._open(admitted, steps, budget)
        place, owner = opened.place, DraftOwner(opened.place.window_id, opened.draft_key)
        note(session_id=place.session_id, window_id=place.window_id)
        try:
            _check_session(admitted.command.continuation, place)
            status = WindowStatus.PENDING  # of a window that was opened a moment ago; a retry has to ask
            if not opened.fresh:
                status = await self._sessions.window_status(place.session_id, place.window_id)
            system = admitted.ai_system
            if system is not None and prohibited_rows(system) and status is not WindowStatus.COMMITTED:
                return _with_breaker(await self._halt_prohibited(admitted, system, steps, opened, status), opened)
            if opened.halt_reason and status is not WindowStatus.COMMITTED:
                return _with_breaker(await self._halt_depleted(admitted, steps, opened, status), opened)
            draft = await self._drafts.find(slot, owner)
            if status is WindowStatus.FAILED and not await self._was_withheld(draft, slot.tenant_id, steps):
                return None
            if draft is None:
                self._check_degradation(opened)
                window = self._window if outlet is None else self._window.leaving_by(outlet)
                fresh = await strategy_named(admitted.strategy).draft(window, admitted, opened)
                if isinstance(fresh, BuiltEnvelope):
                    await self._sessions.fail_window(steps.fail, place, "NOT_MODIFIED")
                    return self._results.not_modified(admitted, fresh)
                draft = await self._drafts.keep(slot, owner, fresh)
            came_to = await self._commit_or_halt(draft, steps, status)
        except BaseException as error:
            await self._give_up(steps, place, error)
            raise
        if isinstance(came_to, ToHold):
            # Not given up from here on: what is held, or may be, is decided about; a retry holds the same answer.
            at("holding the answer")
            came_to = await uninterrupted(self._held.hold(replace(came_to, breaker=opened.breaker)))
            stored()
        return _with_breaker(came_to, opened)

    async def _was_withheld(self, draft: DispatchDraft | None, tenant_id: str, steps: StepIds) -> bool:
        """Say whether a window was given up by a decision about its answer, and not before there was one."""
        reason = "" if draft is None else draft.verdict.halt_reason
        return await self._held.holds(tenant_id, steps.review) if reason == OVERSIGHT_REQUIRED else bool(reason)

    async def _open(
        self, admitted: AdmittedDispatch, steps: StepIds, budget: int
    ) -> tuple[AdmittedDispatch, OpenedWindow]:
        """Open the window and return it with the query under the policy that it was opened under (ADR 0093)."""
        asked = under_policy(
            admitted,
            OpenWindow(
                request_id=steps.open,
                continuation=admitted.command.continuation,
                strategy=admitted.strategy,
                policy_hash="",
                agent=admitted.command.agent,
                available_budget_tokens=budget,
                summariser_available=True,
            ),
        )
        at("opening the window")
        while True:
            try:
                return asked.admitted, await self._sessions.open_window(asked.command)
            except PermissionDeniedError as error:
                asked = joined(asked, error)
            except BaseException as error:
                if _outcome_unknown(error):
                    # It may have been opened: opening once more under the same request id tells which window it is.
                    await self._cleanups.run(self._fail_unseen(asked.command, steps, error))
                raise

    def _check_degradation(self, opened: OpenedWindow) -> None:
        """Refuse a session whose quality stays at D, where the deployment wants that (SPEC-004 §13.2).

        Raises:
            UnavailableError: QUALITY_DEGRADED.
        """
        if self._settings.refuse_degraded and opened.degradation is Degradation.PERSISTENT:
            raise UnavailableError(
                ErrorReason.QUALITY_DEGRADED,
                "the session's quality stays at tier D and this deployment refuses to continue it; start a new session",
                session_id=opened.place.session_id,
                degradation=opened.degradation.value,
            )

    async def _halt_prohibited(
        self,
        admitted: AdmittedDispatch,
        system: AiSystemRecord,
        steps: StepIds,
        opened: OpenedWindow,
        status: WindowStatus,
    ) -> DispatchResult:
        """Withhold everything from a system that no call may be made for: no envelope, no model (SPEC-005 §14)."""
        await self._sessions.record_prohibited((steps.classified, steps.event), opened.place, system)
        if status is WindowStatus.PENDING:
            await self._sessions.fail_window(steps.fail, opened.place, f"HALTED: {UNACCEPTABLE_SYSTEM}")
        return self._results.prohibited(admitted, opened.place)

    async def _halt_depleted(
        self, admitted: AdmittedDispatch, steps: StepIds, opened: OpenedWindow, status: WindowStatus
    ) -> DispatchResult:
        """Withhold everything where the budget is spent before the window answers, as by agents (SPEC-004 §15.2)."""
        await self._sessions.record_depletion(steps.event, opened)
        if status is WindowStatus.PENDING:
            await self._sessions.fail_window(steps.fail, opened.place, f"HALTED: {opened.halt_reason}")
        return self._results.depleted(admitted, opened)

    async def _commit_or_halt(
        self, draft: DispatchDraft, steps: StepIds, status: WindowStatus
    ) -> DispatchResult | ToHold:
        """Commit the draft, or give its window up where the policy withholds the answer (SPEC-004 §16.3).

        An answer that a person has to look at stays pending.
        """
        await self._record(draft, steps)
        if reason := draft.verdict.halt_reason:
            await self._sessions.record_halt(steps.event, draft, reason)
            if reason == OVERSIGHT_REQUIRED:
                return ToHold(draft, None, steps)
            if status is WindowStatus.PENDING:
                await self._sessions.fail_window(steps.fail, draft.place, f"HALTED: {reason}")
            return self._results.halted(draft, None, reason)
        at("committing the window")
        committed = await self._sessions.commit_window(steps.commit, draft)
        stored()
        if committed.degradation in SUSTAINED_OR_WORSE:
            await self._sessions.record_degradation(steps.degraded, draft, committed)
        # A budget that is spent, or low enough for a person to look, is known once the window is in the chain.
        review = OVERSIGHT_REQUIRED if committed.human_review_required else ""
        if reason := committed.halt_reason or review:
            await self._sessions.record_halt(steps.event, draft, reason)
            if reason == OVERSIGHT_REQUIRED:
                return ToHold(draft, committed, steps)
            return self._results.halted(draft, committed, reason)
        return self._results.answered((Part(draft, committed),))

    async def _record(self, draft: DispatchDraft, steps: StepIds) -> None:
        """Append what was done for the answer, before the commit, and for a withheld one too."""
        if draft.rounds or draft.upgrade is not None:
            await self._sessions.record_remedies(steps.remedies, draft)
        if draft.tool_calls or draft.agent is not None:
            await self._sessions.record_agent(steps.tools, draft)
        if draft.suspicions:
            await self._sessions.record_injections(steps.injected, draft)
        if draft.report.ai_system_id:
            # A withheld answer's report is kept nowhere else (SPEC-005 §14).
            await self._sessions.record_classification(steps.classified, draft)

    async def _give_up(self, steps: StepIds, place: WindowPlace, error: BaseException) -> None:
        await self._cleanups.run(self._sessions.fail_window(steps.fail, place, _why(error)))

    async def _fail_unseen(self, command: OpenWindow, steps: StepIds, error: BaseException) -> None:
        opened = await self._sessions.open_window(command)
        await self._sessions.fail_window(steps.fail, opened.place, reason_of(error))


def _with_breaker(result: DispatchResult, opened: OpenedWindow) -> DispatchResult:
    """Return the result with the circuit breaker as the window was opened, where no commit says how it is now."""
    return result if result.breaker is not None else replace(result, breaker=opened.breaker)


def _why(error: BaseException) -> str:
    """Return what the audit trail says of a window that was given up: the reason, and an upgrade that was of no use."""
    metadata = error.metadata if isinstance(error, CrpError) else {}
    attempted, best = metadata.get("attempted_strategy"), metadata.get("best_tier")
    return f"{reason_of(error)}: {best} with {attempted}" if attempted and best else reason_of(error)


def _outcome_unknown(error: BaseException) -> bool:
    """Say whether a call that ended so may have done its work all the same."""
    if isinstance(error, CrpError):
        return error.reason in {ErrorReason.SERVICE_UNAVAILABLE, ErrorReason.DEADLINE_EXCEEDED}
    return True


def _check_session(continuation: Continuation, place: WindowPlace) -> None:
    """Refuse a token of another session than the one that the request names (SPEC-004 §17.3)."""
    if continuation.session_id and continuation.session_id != place.session_id:
        text = "the session token belongs to another session than session_id names"
        raise UnauthenticatedError(ErrorReason.TOKEN_INVALID, text)
