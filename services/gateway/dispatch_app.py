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
from typing import Final

from services.common.context import current_call
from services.common.errors import (
    CrpError,
    ErrorReason,
    InvalidRequestError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from services.common.ports.credentials import AiSystemRecord
from services.common.ports.language_model import LanguageModel
from services.common.settings import GatewaySettings
from services.common.telemetry import note
from services.gateway.cleanups import Cleanups, reason_of
from services.gateway.domain.ai_systems import unknown_ai_system
from services.gateway.domain.command import (
    SERVED_STRATEGIES,
    Answered,
    Continuation,
    DispatchCommand,
    DispatchDraft,
    DispatchResult,
    Halted,
    Notice,
    NotModified,
    StepIds,
)
from services.gateway.domain.headers import HeaderInputs, PolicyOutcome, response_headers
from services.gateway.domain.outcome import (
    OVERSIGHT_REQUIRED,
    PolicyInForce,
    PolicyRelaxedError,
    Verdict,
    policy_in_force,
    retry_condition,
)
from services.gateway.domain.policy import PolicyError, policy_hash
from services.gateway.domain.vocabulary import Strategy, WindowStatus
from services.gateway.domain.window import BuiltEnvelope, CommittedWindow, OpenedWindow, WindowPlace
from services.gateway.ports import DraftStore, OpenWindow, SessionClient, TenantRegistry
from services.gateway.window_run import Job, WindowRun

MAX_TRIES: Final = 16
"""Windows that one request id may open: one, and another after each try that was given up."""


class _Turn:
    """A lock and how many hold it or wait for it."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


class DispatchApp:
    """Dispatches queries."""

    def __init__(
        self,
        *,
        sessions: SessionClient,
        run: WindowRun,
        drafts: DraftStore,
        registry: TenantRegistry,
        model: LanguageModel,
        settings: GatewaySettings,
    ) -> None:
        self._sessions = sessions
        self._run = run
        self._drafts = drafts
        self._registry = registry
        self._model = model
        self._settings = settings
        self._turns: dict[tuple[str, str], _Turn] = {}
        self._cleanups = Cleanups(settings.cleanup_s)

    async def dispatch(self, command: DispatchCommand) -> DispatchResult:
        """Answer one query.

        Raises:
            CrpError: as the contract lists; the window that was opened is FAILED then.
        """
        tenant_id = current_call().caller.tenant_id
        job = await self._job(command, tenant_id)
        budget = self._run.available_budget_tokens(job)
        async with self._one_at_a_time(tenant_id, command.request_id):
            if command.continuation.is_root and command.context.if_match:
                probed = await self._run.probe(job)
                if probed.not_modified:
                    return self._not_modified(job, probed)
            for attempt in range(MAX_TRIES):
                result = await self._try(job, StepIds.of(command.request_id, attempt), budget)
                if result is not None:
                    return result
        raise PreconditionError(
            ErrorReason.WINDOW_NOT_PENDING,
            f"{MAX_TRIES} windows of this request_id were given up; find out why and take a fresh request_id",
            request_id=command.request_id,
        )

    async def close(self) -> None:
        """Wait for windows that are being given up."""
        await self._cleanups.close()

    async def _job(self, command: DispatchCommand, tenant_id: str) -> Job:
        generation = command.generation
        return Job(
            command=command,
            force=await self._policy(command, tenant_id),
            strategy=served_strategy(command.strategies),
            model=generation.model or self._model.default_model,
            max_tokens=generation.max_tokens or self._settings.default_max_tokens,
            temperature=self._settings.default_temperature
            if generation.temperature is None
            else generation.temperature,
            ai_system=await self._ai_system(command, tenant_id),
        )

    async def _ai_system(self, command: DispatchCommand, tenant_id: str) -> AiSystemRecord | None:
        """Return the system that the command names; one that is not registered is refused, never guessed (§14)."""
        if not command.ai_system_id:
            return None
        system = await self._registry.ai_system(tenant_id, command.ai_system_id)
        if system is None:
            raise unknown_ai_system(command.ai_system_id)
        return system

    async def _policy(self, command: DispatchCommand, tenant_id: str) -> PolicyInForce:
        tenant = await self._registry.safety_policy(tenant_id)
        try:
            return policy_in_force(command.policy, tenant, self._settings.default_safety_policy)
        except PolicyError as error:
            raise InvalidRequestError(
                ErrorReason.UNKNOWN_DIRECTIVE,
                f"safety policy, directive {error.directive!r}: {error}; known directives: {', '.join(error.known)}",
                directive=error.directive,
                known=", ".join(error.known),
            ) from None
        except PolicyRelaxedError as error:
            raise PermissionDeniedError(
                ErrorReason.POLICY_RELAXED,
                f"the request's policy is weaker than the tenant's: {error}",
                directive=error.relaxation.directive,
                parent_value=error.relaxation.parent_value,
                child_value=error.relaxation.child_value,
            ) from None

    async def _try(self, job: Job, steps: StepIds, budget: int) -> DispatchResult | None:
        """Run one try; ``None`` when its window was given up before, so that the next try is due."""
        tenant_id, body = current_call().caller.tenant_id, job.command.body_hash
        opened = await self._open(job, steps, budget)
        place = opened.place
        note(session_id=place.session_id, window_id=place.window_id)
        try:
            _check_session(job.command.continuation, place)
            status = await self._sessions.window_status(place.session_id, place.window_id)
            draft = await self._drafts.find(tenant_id, steps.draft, body)
            withheld = draft is not None and draft.verdict.halt_reason
            if status is WindowStatus.FAILED and not withheld:
                return None
            if draft is None:
                fresh = await self._run.draft(job, opened)
                if isinstance(fresh, BuiltEnvelope):
                    await self._sessions.fail_window(steps.fail, place, "NOT_MODIFIED")
                    return self._not_modified(job, fresh)
                draft = await self._drafts.keep(tenant_id, steps.draft, body, fresh)
            return await self._concluded(draft, steps, status)
        except BaseException as error:
            await self._give_up(steps, place, error)
            raise

    async def _open(self, job: Job, steps: StepIds, budget: int) -> OpenedWindow:
        command = OpenWindow(
            request_id=steps.open,
            continuation=job.command.continuation,
            strategy=job.strategy,
            policy_hash=policy_hash(job.force.applied),
            agent=job.command.agent,
            available_budget_tokens=budget,
        )
        try:
            return await self._sessions.open_window(command)
        except BaseException as error:
            if _outcome_unknown(error):
                # It may have been opened: opening once more under the same request id tells which window it is.
                await self._cleanups.run(self._fail_unseen(command, steps, error))
            raise

    async def _concluded(self, draft: DispatchDraft, steps: StepIds, status: WindowStatus) -> DispatchResult:
        """Commit the draft, or give its window up where the policy withholds the answer (SPEC-004 §16.3)."""
        if draft.report.ai_system_id:
            # Before the commit, and for a withheld answer too, whose report is kept nowhere else (SPEC-005 §14).
            await self._sessions.record_classification(steps.classified, draft)
        if reason := draft.verdict.halt_reason:
            await self._sessions.record_halt(steps.event, draft, reason)
            if status is WindowStatus.PENDING:
                await self._sessions.fail_window(steps.fail, draft.place, f"HALTED: {reason}")
            return self._halted(draft, None, reason)
        committed = await self._sessions.commit_window(steps.commit, draft)
        # A budget that is spent, or low enough for a person to look, is known once the window is in the chain.
        review = OVERSIGHT_REQUIRED if committed.human_review_required else ""
        if reason := committed.halt_reason or review:
            await self._sessions.record_halt(steps.event, draft, reason)
            return self._halted(draft, committed, reason)
        notices = list(draft.notices)
        if committed.degradation_advice:
            notices.append(Notice("QUALITY_DEGRADING", committed.degradation_advice))
        headers = response_headers(self._header_inputs(draft, committed, ""))
        return DispatchResult(Answered(draft, committed), headers, draft.verdict, tuple(notices))

    def _halted(self, draft: DispatchDraft, committed: CommittedWindow | None, reason: str) -> DispatchResult:
        condition = retry_condition(reason)
        headers = response_headers(self._header_inputs(draft, committed, condition))
        return DispatchResult(Halted(draft, reason, condition), headers, draft.verdict, draft.notices)

    def _not_modified(self, job: Job, probed: BuiltEnvelope) -> DispatchResult:
        policy = PolicyOutcome(job.force.applied, job.force.oversight)
        inputs = HeaderInputs(
            strategy=job.strategy,
            policy=policy,
            tier=probed.summary.quality_tier,
            envelope=probed.summary,
            data_residency=self._settings.data_residency,
            community_header=self._settings.community_header,
        )
        outcome = NotModified(probed.summary.etag, probed.summary.cache_status)
        return DispatchResult(outcome, response_headers(inputs), Verdict(), ())

    def _header_inputs(self, draft: DispatchDraft, committed: CommittedWindow | None, retry_after: str) -> HeaderInputs:
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
        )

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
        await self._cleanups.run(self._sessions.fail_window(steps.fail, place, reason_of(error)))

    async def _fail_unseen(self, command: OpenWindow, steps: StepIds, error: BaseException) -> None:
        opened = await self._sessions.open_window(command)
        await self._sessions.fail_window(steps.fail, opened.place, reason_of(error))


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


def served_strategy(wanted: tuple[Strategy, ...]) -> Strategy:
    """Return the first wanted strategy that is served; push when none is wanted.

    Raises:
        PreconditionError: UNSUPPORTED_STRATEGY with those that are served.
    """
    if not wanted:
        return Strategy.PUSH
    for strategy in wanted:
        if strategy in SERVED_STRATEGIES:
            return strategy
    served = ", ".join(SERVED_STRATEGIES)
    raise PreconditionError(
        ErrorReason.UNSUPPORTED_STRATEGY,
        f"none of the wanted strategies ({', '.join(wanted)}) is served here; served: {served}",
        wanted=", ".join(wanted),
        served=served,
    )
