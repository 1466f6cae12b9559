"""What a decision does, and what the caller of a held answer gets (ADR 0148).

A decision is durable before anything of it is done. What it does - an audit event, then the window committed or given
up - goes by request ids that were fixed when the answer was held, so that whoever comes next does what a process that
was killed left undone, once.
"""

from dataclasses import replace
from typing import Final

from services.common.encoding import sha256_hex
from services.common.errors import ConflictError, ErrorReason, PreconditionError
from services.common.ports.reviews import ReviewRecord, ReviewStatus, ReviewStore
from services.gateway.dispatch.results import Results
from services.gateway.domain.command import DispatchResult, HeldForReview, Part
from services.gateway.domain.outcome import REVIEW_EXPIRED, REVIEW_REJECTED
from services.gateway.domain.window import CommittedWindow
from services.gateway.ports import Decided, SessionClient
from services.gateway.reviews.sealing import Held, opened, sealed

_OVER: Final = frozenset({ErrorReason.SESSION_CLOSED, ErrorReason.SESSION_EXPIRED, ErrorReason.WINDOW_NOT_PENDING})
"""Why an answer can be released no more."""


class Settling:
    """Does what was decided.

    Args:
        store: of the reviews.
        sessions: the dag service, for the running call.
        results: makes what callers get.
    """

    def __init__(self, store: ReviewStore, sessions: SessionClient, results: Results) -> None:
        self._store = store
        self._sessions = sessions
        self._results = results

    async def held(self, review: ReviewRecord) -> tuple[Held, bytes]:
        """Return what the review holds, and the key.

        Raises:
            PreconditionError: SESSION_CLOSED: the session was erased; what was held is destroyed now.
            UnreadableRecordError: it does not open.
        """
        try:
            key = await self._sessions.holding_key(review.session_id, review.window_id)
        except PreconditionError as error:
            if error.reason is ErrorReason.SESSION_CLOSED:
                await self._forget(review)
            raise
        if not review.held:
            text = "the session was erased, and what was held of it"
            raise PreconditionError(ErrorReason.SESSION_CLOSED, text, session_id=review.session_id)
        return opened(review, key), key

    async def settle(self, review: ReviewRecord) -> tuple[ReviewRecord, Held]:
        """Do what was decided, if that was not done, and return the review as it stands then.

        Raises:
            PreconditionError: SESSION_CLOSED: the session was erased.
            CrpError: a service does not answer; the decision stands, and the next call goes on with it.
        """
        held, key = await self.held(review)
        if review.settled:
            return review, held
        await self._sessions.record_decision(_decided(review, held))
        status, committed = review.status, held.committed
        if status is ReviewStatus.APPROVED and committed is None:
            try:
                committed = await self._sessions.commit_window(review.steps[0], held.draft)
            except PreconditionError as error:
                if error.reason not in _OVER:
                    raise
                status = ReviewStatus.EXPIRED  # the session ended, or the window was given up: nothing to release
        elif committed is None:
            await self._give_up(review, held)
        held = held.model_copy(update={"committed": committed})
        done = replace(review, status=status, settled=True, version=review.version + 1)
        done = replace(done, held=sealed(held, done, key))
        try:
            await self._store.change(done)
        except ConflictError:  # somebody else did the same first
            stands = await self._store.get(review.tenant_id, review.review_id)
            return await self.settle(stands or done)
        return done, held

    def result(self, review: ReviewRecord, held: Held) -> DispatchResult:
        """Return what the caller of the held answer gets now."""
        result = self._result(review, held)
        return result if result.breaker is not None else replace(result, breaker=held.breaker)

    def _result(self, review: ReviewRecord, held: Held) -> DispatchResult:
        draft, committed = held.draft, held.committed
        if review.status is ReviewStatus.PENDING or not review.settled:
            waiting = HeldForReview(draft.place, review.review_id, review.reason)
            return self._results.held(waiting, draft, _without_token(committed))
        if review.status is not ReviewStatus.APPROVED or committed is None:
            reason = REVIEW_REJECTED if review.status is ReviewStatus.REJECTED else REVIEW_EXPIRED
            return self._results.halted(draft, _without_token(committed), reason)
        if committed.halt_reason:  # the budget ends with this answer, whoever released it (SPEC-004 §4.3)
            return self._results.halted(draft, committed, committed.halt_reason)
        return self._results.answered((Part(draft, committed),))

    async def _give_up(self, review: ReviewRecord, held: Held) -> None:
        reason = REVIEW_REJECTED if review.status is ReviewStatus.REJECTED else REVIEW_EXPIRED
        try:
            await self._sessions.fail_window(review.steps[1], held.draft.place, f"HALTED: {reason}")
        except PreconditionError as error:
            if error.reason not in _OVER:
                raise

    async def _forget(self, review: ReviewRecord) -> None:
        """Destroy what is held of an erased session."""
        if not review.held:
            return
        pending = review.status is ReviewStatus.PENDING
        status = ReviewStatus.EXPIRED if pending else review.status
        gone = replace(review, status=status, settled=True, version=review.version + 1, held=b"")
        try:
            await self._store.change(gone)
        except ConflictError:
            return  # whoever changed it meets the erasure next


def _decided(review: ReviewRecord, held: Held) -> Decided:
    return Decided(
        request_id=review.steps[2],
        place=held.draft.place,
        review_id=review.review_id,
        decision=review.status.value,
        decided_by=review.decided_by,
        author=review.author,
        comment_sha256=sha256_hex(held.comment) if held.comment else "",
    )


def _without_token(committed: CommittedWindow | None) -> CommittedWindow | None:
    """Return the window without what its session goes on with: that comes with the answer."""
    return None if committed is None else replace(committed, set_session="", session_token="", continuation_id="")
