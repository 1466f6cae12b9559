"""Holding answers, looking at them, deciding about them."""

import asyncio
import contextlib
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from services.common.clock import Clock
from services.common.concurrency import remaining_s
from services.common.context import Caller, Role, current_call
from services.common.encoding import iso_micros
from services.common.errors import (
    ConflictError,
    ErrorReason,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
)
from services.common.ports.reviews import (
    HeldViolation,
    ReviewFilter,
    ReviewPlace,
    ReviewRecord,
    ReviewStatus,
    ReviewStore,
)
from services.common.progress import stored, writing
from services.common.settings.reviews import ReviewSettings
from services.gateway.dispatch.results import Results
from services.gateway.domain.command import DispatchResult
from services.gateway.domain.outcome import OVERSIGHT_REQUIRED
from services.gateway.ports import HeldAnnouncements, SessionClient, ToHold
from services.gateway.reviews.sealing import Held, sealed
from services.gateway.reviews.settling import Settling

_REPLY_S: Final = 0.5
"""Of a call's deadline, kept for the reply when it waits for a decision."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reviewer wants.

    Attributes:
        body_hash: of the request without its id.
        status: APPROVED or REJECTED.
        expected_version: of the review that was looked at.
    """

    request_id: str
    body_hash: str
    review_id: str
    status: ReviewStatus
    comment: str
    expected_version: int


@dataclass(frozen=True, slots=True)
class Looked:
    """A review as its viewer may see it.

    Attributes:
        text: what is held; for reviewers alone.
        report_message: the serialised report of it; for reviewers alone.
        inputs_message: the serialised inputs of its analysis, its query among them; as far as they are kept, and for
            reviewers alone.
        result: what the caller of the answer gets; for that caller alone.
    """

    review: ReviewRecord
    text: str = ""
    report_message: bytes = b""
    inputs_message: bytes = b""
    comment: str = ""
    result: DispatchResult | None = None


class ReviewApp:
    """The queue; ``HeldAnswers`` for the dispatches of this process.

    Args:
        store: of the reviews.
        sessions: the dag service, for the running call.
        results: makes what callers get.
        clock: the time.
        settings: how long an answer waits, and who may decide.
        announcements: who is told of answers that wait; ``None`` = nobody.
    """

    def __init__(
        self,
        store: ReviewStore,
        sessions: SessionClient,
        results: Results,
        clock: Clock,
        settings: ReviewSettings,
        announcements: HeldAnnouncements | None = None,
    ) -> None:
        self._announcements = announcements
        self._store = store
        self._sessions = sessions
        self._settling = Settling(store, sessions, results)
        self._clock = clock
        self._settings = settings
        self._waiting = 0
        self._decision = asyncio.Event()  # the next one that this process takes; whoever waits looks again then

    async def hold(self, answer: ToHold) -> DispatchResult:
        """Hold the answer durably, and return what its caller gets now."""
        caller, draft = current_call().caller, answer.draft
        review = await self._store.get(caller.tenant_id, answer.steps.review)
        if review is None:
            key = await self._sessions.holding_key(draft.place.session_id, draft.place.window_id)
            review = self._new(caller, answer)
            held = Held(draft=draft, committed=answer.committed, breaker=answer.breaker)
            with writing():
                review = await self._store.add(replace(review, held=sealed(held, review, key)))
        review, held = await self._settling.settle(await self._timely(review))
        result = self._settling.result(review, held)
        if self._announcements is None or review.status is not ReviewStatus.PENDING:
            return result
        return replace(result, notices=(*result.notices, *await self._announcements.announce(review)))

    async def holds(self, tenant_id: str, review_id: str) -> bool:
        """Say whether an answer is held, or was, under this id."""
        return await self._store.get(tenant_id, review_id) is not None

    async def page(
        self, caller: Caller, status: ReviewStatus | None, session_id: str, *, after: ReviewPlace | None, limit: int
    ) -> list[ReviewRecord]:
        """Return up to ``limit`` reviews, oldest first."""
        wanted = ReviewFilter(self._clock.now(), status, session_id)
        found = await self._store.page(caller.tenant_id, wanted, after=after, limit=limit)
        return [self._as_of_now(review) for review in found]

    async def look(self, caller: Caller, review_id: str, wait_s: float) -> Looked:
        """Return a review, once it is decided or the wait is over.

        Raises:
            NotFoundError: REVIEW_NOT_FOUND.
            PermissionDeniedError: ROLE_MISSING: neither a reviewer nor whoever asked for the answer.
            PreconditionError: SESSION_CLOSED: the session was erased.
        """
        review = await self._find(caller, review_id)
        mine, reviewer = review.author == caller.subject, caller.allows(Role.REVIEWER)
        if not (mine or reviewer):
            text = "reviews are for reviewers, and for whoever asked for the answer"
            raise PermissionDeniedError(ErrorReason.ROLE_MISSING, text, role=Role.REVIEWER.value)
        review, held = await self._settling.settle(await self._timely(await self._awaited(review, wait_s)))
        return Looked(
            review=review,
            text=held.draft.written.text if reviewer else "",
            report_message=held.draft.report_message if reviewer else b"",
            inputs_message=held.draft.inputs_message if reviewer else b"",
            comment=held.comment,
            result=self._settling.result(review, held) if mine else None,
        )

    async def decide(self, caller: Caller, decision: Decision) -> tuple[Looked, DispatchResult]:
        """Decide, and return the review and what the caller of the answer gets.

        Raises:
            NotFoundError: REVIEW_NOT_FOUND.
            PermissionDeniedError: REVIEWER_IS_AUTHOR.
            PreconditionError: REVIEW_EXPIRED, SESSION_CLOSED, SESSION_EXPIRED, WINDOW_NOT_PENDING, REQUEST_ID_REUSED.
            ConflictError: ETAG_STALE: decided by another, or changed since it was looked at.
        """
        review = await self._store.find_decision(caller.tenant_id, decision.request_id)
        if review is None:
            review = await self._decide(caller, decision)
        elif (review.decision_hash, review.review_id) != (decision.body_hash, decision.review_id):
            text = "request_id was used for another decision; take a fresh UUID"
            raise PreconditionError(ErrorReason.REQUEST_ID_REUSED, text, request_id=decision.request_id)
        stored()
        review, held = await self._settling.settle(review)
        self._decision.set()
        self._decision = asyncio.Event()
        if review.status is not decision.status:
            text = "the answer can be released no more: its session has ended, or its window was given up"
            raise PreconditionError(ErrorReason.WINDOW_NOT_PENDING, text, review_id=review.review_id)
        return Looked(review, held.draft.written.text, comment=held.comment), self._settling.result(review, held)

    async def check(self) -> None:
        """Return when the store can serve."""
        await self._store.check()

    async def _decide(self, caller: Caller, decision: Decision) -> ReviewRecord:
        review = await self._timely(await self._find(caller, decision.review_id))
        if review.author == caller.subject and not self._settings.author_may_decide:
            text = "whoever asked for an answer may not decide about it; let another reviewer do so"
            raise PermissionDeniedError(ErrorReason.REVIEWER_IS_AUTHOR, text, review_id=review.review_id)
        if review.status is ReviewStatus.EXPIRED:
            text = "nobody decided in time; the answer stays withheld, ask again"
            at = iso_micros(review.expires_at)
            raise PreconditionError(ErrorReason.REVIEW_EXPIRED, text, review_id=review.review_id, expire_time=at)
        if review.status is not ReviewStatus.PENDING or review.version != decision.expected_version:
            raise _stale(review)
        held, key = await self._settling.held(review)
        decided = replace(
            review,
            status=decision.status,
            version=review.version + 1,
            settled=False,
            decided_at=self._clock.now(),
            decided_by=caller.subject,
            decision_id=decision.request_id,
            decision_hash=decision.body_hash,
        )
        held = held.model_copy(update={"comment": decision.comment})
        decided = replace(decided, held=sealed(held, decided, key))
        try:
            with writing():
                await self._store.change(decided)
        except ConflictError:
            raise _stale(await self._find(caller, decision.review_id)) from None
        return decided

    def _new(self, caller: Caller, answer: ToHold) -> ReviewRecord:
        draft, now, steps = answer.draft, self._clock.now(), answer.steps
        violations = tuple(
            HeldViolation(
                directive=each.finding.directive,
                violation_type=each.finding.violation_type,
                description=each.finding.description,
                enforcement=each.enforcement.value,
                signal_missing=each.finding.signal_missing,
            )
            for each in draft.verdict.violations
        )
        return ReviewRecord(
            tenant_id=caller.tenant_id,
            review_id=steps.review,
            session_id=draft.place.session_id,
            window_id=draft.place.window_id,
            report_id=draft.report.report_id,
            reason=OVERSIGHT_REQUIRED,
            risk_level=draft.report.risk_level.value,
            violations=violations,
            author=caller.subject,
            steps=(steps.commit, steps.fail, steps.decided),
            created_at=now,
            expires_at=now + timedelta(seconds=self._settings.expiry_s),
        )

    async def _find(self, caller: Caller, review_id: str) -> ReviewRecord:
        review = await self._store.get(caller.tenant_id, review_id)
        if review is None:
            text = f"there is no review {review_id}"
            raise NotFoundError(ErrorReason.REVIEW_NOT_FOUND, text, review_id=review_id)
        return review

    def _as_of_now(self, review: ReviewRecord) -> ReviewRecord:
        """Return the review with the status that its time gives it."""
        late = review.status is ReviewStatus.PENDING and review.expires_at <= self._clock.now()
        return replace(review, status=ReviewStatus.EXPIRED, decided_at=review.expires_at) if late else review

    async def _timely(self, review: ReviewRecord) -> ReviewRecord:
        """Return the review, expired durably where its time is over; what that does is not done yet."""
        expired = self._as_of_now(review)
        if expired is review:
            return review
        expired = replace(expired, version=review.version + 1, settled=False)
        try:
            await self._store.change(expired)
        except ConflictError:
            return await self._store.get(review.tenant_id, review.review_id) or review
        return expired

    async def _awaited(self, review: ReviewRecord, wait_s: float) -> ReviewRecord:
        """Return the review once it is no longer pending, or the wait or the call's time is over."""
        if self._waiting >= self._settings.max_waiting:
            return review
        self._waiting += 1
        try:
            return await self._awaited_until(review, wait_s)
        finally:
            self._waiting -= 1

    async def _awaited_until(self, review: ReviewRecord, wait_s: float) -> ReviewRecord:
        loop = asyncio.get_running_loop()
        allowed = remaining_s()
        until = loop.time() + (wait_s if allowed is None else min(wait_s, allowed - _REPLY_S))
        while self._as_of_now(review).status is ReviewStatus.PENDING and (left := until - loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, self._settings.poll_interval_s)):
                    await self._decision.wait()
            review = await self._store.get(review.tenant_id, review.review_id) or review
        return review


def _stale(review: ReviewRecord) -> ConflictError:
    text = (
        "the review was changed since it was looked at; read it again"
        if review.status is ReviewStatus.PENDING
        else f"the review was decided already: {review.status.value}"
    )
    return ConflictError(
        ErrorReason.ETAG_STALE,
        text,
        review_id=review.review_id,
        status=review.status.value,
        decided_by=review.decided_by,
        version=str(review.version),
    )
