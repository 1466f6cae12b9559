"""Legal holds: one session exempt from erasure until somebody ends the exemption (ADR 0104)."""

from dataclasses import dataclass

from services.common.clock import Clock
from services.common.context import Caller
from services.common.errors import ChainBrokenError, ErrorReason, PreconditionError
from services.common.ports.sessions import AuditEventRecord, SessionChange, SessionSnapshot, SessionStatus, SessionStore
from services.dag.chains import Chains
from services.dag.domain.register import check_no_register
from services.dag.domain.retention import hold_session
from services.dag.domain.step import Step, to_change
from services.dag.writing import RequestKey, Writer


@dataclass(frozen=True, slots=True)
class Hold:
    """A hold to place or to end."""

    session_id: str
    held: bool
    reason: str


class Holds:
    """Places and ends holds."""

    def __init__(self, store: SessionStore, chains: Chains, clock: Clock) -> None:
        self._chains = chains
        self._clock = clock
        self._writer = Writer(store, clock)

    async def set(self, caller: Caller, hold: Hold, request: RequestKey[AuditEventRecord]) -> bytes:
        """Place or end a hold; also of a session that has ended or is broken.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
            PreconditionError: SESSION_CLOSED: nothing is left to hold, or it is the register; REQUEST_ID_REUSED.
            ConflictError: COMMIT_RACE.
        """

        async def decide(_: int) -> tuple[SessionChange, AuditEventRecord]:
            before = await self._chains.snapshot(caller.tenant_id, hold.session_id)
            check_no_register(before.session)
            if before.session.status is SessionStatus.TOMBSTONED:
                text = "a tombstone stands for the session; nothing is left to hold"
                status = before.session.status.value
                raise PreconditionError(ErrorReason.SESSION_CLOSED, text, session_id=hold.session_id, status=status)
            try:
                step = self._step(caller, hold, before)
                change = await self._chains.change(step, before, check=False)
            except ChainBrokenError:
                # It is evidence: closed by now, and held all the same, on top of a trail that stays as broken as it is.
                before = await self._chains.snapshot(caller.tenant_id, hold.session_id)
                key = await self._chains.hmac_key(before.session)
                step = self._step(caller, hold, before)
                change = to_change(step, before, self._clock.now(), key, check=False)
            return change, change.events[-1]

        return await self._writer.once(caller.tenant_id, request, decide)

    def _step(self, caller: Caller, hold: Hold, before: SessionSnapshot) -> Step:
        return hold_session(before.session, held=hold.held, reason=hold.reason, set_by=caller.subject)
