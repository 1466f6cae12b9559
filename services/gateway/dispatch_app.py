"""Dispatching one query: policy, window, draft, commit (architecture §1; SPEC-003 §11, -004 §4, §16, -005 §7.4).

What makes it safe to retry and to break off:

* The steps' request ids are derived from the caller's, so a retry meets the window that the first try opened.
* The analysed answer is kept before the commit, and the first one kept wins: a retry commits the very same answer, also
  after a crash in between, also when two retries run at once.
* Whatever ends a try after its window was opened, cancellation included, gives the window up, apart from the call, so
  that a caller who has gone away does not leave it PENDING. The next retry opens a fresh window.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Final

from services.common.cleanups import Cleanups, reason_of
from services.common.context import current_call
from services.common.errors import (
    CrpError,
    ErrorReason,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
    UnavailableError,
)
from services.common.ports.credentials import AiSystemRecord
from services.common.progress import at, stored
from services.common.settings import GatewaySettings
from services.common.telemetry import note
from services.gateway.admission import Admission
from services.gateway.conclusions import Conclusions
from services.gateway.deadlines import left_s
from services.gateway.domain.ai_systems import prohibited_rows
from services.gateway.domain.command import (
    Agent,
    Answered,
    Continuation,
    DispatchCommand,
    DispatchDraft,
    DispatchResult,
    Notice,
    Part,
    StepIds,
    derived_id,
)
from services.gateway.domain.job import Job
from services.gateway.domain.outcome import OVERSIGHT_REQUIRED, UNACCEPTABLE_SYSTEM
from services.gateway.domain.remedies import Focus
from services.gateway.domain.vocabulary import SUSTAINED_OR_WORSE, Degradation, Strategy, WindowStatus
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow, WindowPlace
from services.gateway.opening import joined, under_policy
from services.gateway.ports import DraftOwner, DraftSlot, DraftStore, OpenWindow, SessionClient
from services.gateway.window_run import WindowRun

MAX_TRIES: Final = 16
"""Windows that one request id may open: one, and another after each try that was given up."""


class _Turn:
    """A lock and how many hold it or wait for it."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


@dataclass(frozen=True, slots=True)
class DispatchParts:
    """What dispatching is composed of."""

    sessions: SessionClient
    run: WindowRun
    drafts: DraftStore
    admission: Admission


class DispatchApp:
    """Dispatches queries."""

    def __init__(self, parts: DispatchParts, settings: GatewaySettings) -> None:
        self._sessions = parts.sessions
        self._run = parts.run
        self._drafts = parts.drafts
        self._admission = parts.admission
        self._settings = settings
        self._conclusions = Conclusions(settings)
        self._turns: dict[tuple[str, str], _Turn] = {}
        self._cleanups = Cleanups(settings.cleanup_s)

    async def dispatch(self, command: DispatchCommand) -> DispatchResult:
        """Answer one query.

        Raises:
            CrpError: as the contract lists; the window that was opened is FAILED then.
        """
        tenant_id = current_call().caller.tenant_id
        job = await self._admission.job(command, tenant_id)
        began = asyncio.get_running_loop().time()
        async with self._one_at_a_time(tenant_id, command.request_id):
            if (
                command.continuation.is_root
                and command.context.if_match
                and not await self._answered(tenant_id, command)
            ):
                probed = await self._run.probe(job)
                if isinstance(probed, BuiltEnvelope):
                    return self._conclusions.not_modified(job, probed)
                job = replace(job, cache_status=probed)
            result = await self._tried(job)
            took = asyncio.get_running_loop().time() - began
            return await self._continued(job, result, took)

    async def _answered(self, tenant_id: str, command: DispatchCommand) -> bool:
        """Say whether an earlier try has an answer: it stands, although its envelope would now be found unchanged."""
        steps = StepIds.of(command.request_id, 0)
        return await self._drafts.holds(DraftSlot(tenant_id, steps.draft, command.body_hash))

    async def close(self) -> None:
        """Wait for windows that are being given up."""
        await self._cleanups.close()

    async def _tried(self, job: Job) -> DispatchResult:
        """Run tries until one comes to something."""
        request_id, budget = job.command.request_id, await self._run.available_budget_tokens(job)
        for attempt in range(MAX_TRIES):
            result = await self._try(job, StepIds.of(request_id, attempt), budget)
            if result is not None:
                return result
        raise PreconditionError(
            ErrorReason.WINDOW_NOT_PENDING,
            f"{MAX_TRIES} windows of this request_id were given up; find out why and take a fresh request_id",
            request_id=request_id,
        )

    async def _continued(self, job: Job, result: DispatchResult, took_s: float) -> DispatchResult:
        """Continue an answer that leaves parts of the query open, and return both as one (SPEC-005 §10.3).

        One that comes to nothing leaves the answer as it is, with a notice; one that spends the budget halts.
        """
        if not isinstance(result.outcome, Answered):
            return result
        parts, notices = list(result.outcome.parts), list[Notice]()
        for number in range(1, self._settings.max_continuations + 1):
            last = parts[-1]
            if last.draft.focus is None or not last.committed.continuation_id:
                break
            left = left_s()
            if left is not None and left - self._settings.reserve_s < took_s:
                text = f"{max(0.0, left):.3f} s are left; the first answer took {took_s:.3f} s"
                notices.append(Notice("CONTINUATION_NEEDS_TIME", text))
                break
            try:
                more = await self._tried(_continuing(job, last, last.draft.focus, number))
            except CrpError as error:
                text = f"the answer was not continued: {error.reason.value}; continue the session to go on"
                notices.append(Notice("CONTINUATION_FAILED", text))
                break
            if not isinstance(more.outcome, Answered):
                if more.verdict.halt_reason:  # given up by the policy: the answer before it stands
                    notices.append(Notice("CONTINUATION_WITHHELD", "the policy withheld the answer's continuation"))
                    break
                return more
            parts += more.outcome.parts
        return self._conclusions.answered(parts, notices) if len(parts) > 1 or notices else result

    async def _try(self, job: Job, steps: StepIds, budget: int) -> DispatchResult | None:
        """Run one try; ``None`` when its window was given up before, so that the next try is due."""
        slot = DraftSlot(current_call().caller.tenant_id, steps.draft, job.command.body_hash)
        job, opened = await self._open(job, steps, budget)
        place, owner = opened.place, DraftOwner(opened.place.window_id, opened.draft_key)
        note(session_id=place.session_id, window_id=place.window_id)
        try:
            _check_session(job.command.continuation, place)
            status = WindowStatus.PENDING  # of a window that was opened a moment ago; a retry has to ask
            if not opened.fresh:
                status = await self._sessions.window_status(place.session_id, place.window_id)
            system = job.ai_system
            if system is not None and prohibited_rows(system) and status is not WindowStatus.COMMITTED:
                return _with_breaker(await self._prohibited(job, system, steps, opened, status), opened)
            if opened.halt_reason and status is not WindowStatus.COMMITTED:
                return _with_breaker(await self._depleted(job, steps, opened, status), opened)
            draft = await self._drafts.find(slot, owner)
            withheld = draft is not None and draft.verdict.halt_reason
            if status is WindowStatus.FAILED and not withheld:
                return None
            if draft is None:
                self._check_degradation(opened)
                fresh = await self._run.draft(job, opened)
                if isinstance(fresh, BuiltEnvelope):
                    await self._sessions.fail_window(steps.fail, place, "NOT_MODIFIED")
                    return self._conclusions.not_modified(job, fresh)
                draft = await self._drafts.keep(slot, owner, fresh)
            return _with_breaker(await self._concluded(draft, steps, status), opened)
        except BaseException as error:
            await self._give_up(steps, place, error)
            raise

    async def _open(self, job: Job, steps: StepIds, budget: int) -> tuple[Job, OpenedWindow]:
        """Open the window and return it with the job under the policy that it was opened under (ADR 0093)."""
        asked = under_policy(
            job,
            OpenWindow(
                request_id=steps.open,
                continuation=job.command.continuation,
                strategy=job.strategy,
                policy_hash="",
                agent=job.command.agent,
                available_budget_tokens=budget,
                summariser_available=True,
            ),
        )
        at("opening the window")
        while True:
            try:
                return asked.job, await self._sessions.open_window(asked.command)
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

    async def _prohibited(
        self, job: Job, system: AiSystemRecord, steps: StepIds, opened: OpenedWindow, status: WindowStatus
    ) -> DispatchResult:
        """Withhold everything from a system that no call may be made for: no envelope, no model (SPEC-005 §14)."""
        await self._sessions.record_prohibited((steps.classified, steps.event), opened.place, system)
        if status is WindowStatus.PENDING:
            await self._sessions.fail_window(steps.fail, opened.place, f"HALTED: {UNACCEPTABLE_SYSTEM}")
        return self._conclusions.prohibited(job, opened.place)

    async def _depleted(self, job: Job, steps: StepIds, opened: OpenedWindow, status: WindowStatus) -> DispatchResult:
        """Withhold everything where the budget is spent before the window answers, as by agents (SPEC-004 §15.2)."""
        await self._sessions.record_depletion(steps.event, opened)
        if status is WindowStatus.PENDING:
            await self._sessions.fail_window(steps.fail, opened.place, f"HALTED: {opened.halt_reason}")
        return self._conclusions.depleted(job, opened)

    async def _concluded(self, draft: DispatchDraft, steps: StepIds, status: WindowStatus) -> DispatchResult:
        """Commit the draft, or give its window up where the policy withholds the answer (SPEC-004 §16.3)."""
        if draft.rounds or draft.upgrade is not None:
            await self._sessions.record_remedies(steps.remedies, draft)
        if draft.suspicions:
            await self._sessions.record_injections(steps.injected, draft)
        if draft.report.ai_system_id:
            # Before the commit, and for a withheld answer too, whose report is kept nowhere else (SPEC-005 §14).
            await self._sessions.record_classification(steps.classified, draft)
        if reason := draft.verdict.halt_reason:
            await self._sessions.record_halt(steps.event, draft, reason)
            if status is WindowStatus.PENDING:
                await self._sessions.fail_window(steps.fail, draft.place, f"HALTED: {reason}")
            return self._conclusions.halted(draft, None, reason)
        at("committing the window")
        committed = await self._sessions.commit_window(steps.commit, draft)
        stored()
        if committed.degradation in SUSTAINED_OR_WORSE:
            await self._sessions.record_degradation(steps.degraded, draft, committed)
        # A budget that is spent, or low enough for a person to look, is known once the window is in the chain.
        review = OVERSIGHT_REQUIRED if committed.human_review_required else ""
        if reason := committed.halt_reason or review:
            await self._sessions.record_halt(steps.event, draft, reason)
            return self._conclusions.halted(draft, committed, reason)
        return self._conclusions.answered((Part(draft, committed),))

    @contextlib.asynccontextmanager
    async def _one_at_a_time(self, tenant_id: str, request_id: str) -> AsyncIterator[None]:
        """Let retries of one request wait for each other within this process."""
        key = (tenant_id, request_id)
        turn = self._turns.setdefault(key, _Turn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                del self._turns[key]

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


def _continuing(job: Job, last: Part, focus: Focus, number: int) -> Job:
    """Return the job of the ``number``-th window that the gateway adds to an answer by itself."""
    command = job.command
    return replace(
        job,
        command=replace(
            command,
            request_id=derived_id(command.request_id, f"continuation/{number}"),
            continuation=Continuation(
                session_token=last.committed.session_token,
                session_id=last.draft.place.session_id,
                continuation_ids=(last.committed.continuation_id,),
            ),
            # What the query's window held is no part of the next one's context (SPEC-003 §14.2).
            context=replace(command.context, if_match="", active_fact_ids=()),
            agent=Agent(loop_depth=command.agent.loop_depth, safety_budget=command.agent.safety_budget),
        ),
        strategy=Strategy.PUSH,
        focus=focus,
        cache_status="",
        # Told of and recorded with the window of the query.
        suspicion=None,
    )
