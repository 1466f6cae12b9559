"""Erasing sessions: read, verify, decide, write once (GDPR Art. 17; ADR 0055)."""

from dataclasses import dataclass, replace

from services.common.clock import Clock
from services.common.context import Caller
from services.common.ports.sessions import AuditEventRecord, SessionChange, SessionRecord, SessionStore
from services.dag.chains import Chains
from services.dag.domain.erasing import Erasure, ErasureCommand, check_not_erased, erase_session
from services.dag.domain.retention import check_not_held
from services.dag.domain.step import to_change
from services.dag.domain.verification import StoredChain
from services.dag.domain.view import DagView
from services.dag.registers import Registers
from services.dag.writing import RequestKey, Writer


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure did.

    Attributes:
        event: the SESSION_ERASED event.
        windows, reports, events: how many had content, and have none now.
    """

    session: SessionRecord
    dag: DagView
    event: AuditEventRecord
    windows: int
    reports: int
    events: int


class Erasures:
    """Erases the content of sessions."""

    def __init__(self, store: SessionStore, chains: Chains, clock: Clock, registers: Registers | None = None) -> None:
        self._chains = chains
        self._registers = registers
        self._clock = clock
        self._writer = Writer(store, clock)

    async def erase(self, caller: Caller, session_id: str, reason: str, request: RequestKey[Erased]) -> bytes:
        """Erase a session's content for good; also of one that has ended or is broken.

        Args:
            caller: who asks; the subject stands in the event.
            session_id: the session.
            reason: why; stands in the event.
            request: what makes the call repeatable.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
            PreconditionError: SESSION_CLOSED: it was erased before; SESSION_HELD; REQUEST_ID_REUSED.
            ConflictError: COMMIT_RACE.
            ChainBrokenError: CHAIN_BROKEN: of the tenant's register, so that nobody knows what is held.
            UnavailableError: SERVICE_UNAVAILABLE: the session's master key is not held here.
        """

        async def decide(_: int) -> tuple[SessionChange, Erased]:
            stored = await self._chains.load(caller.tenant_id, session_id)
            check_not_erased(stored.snapshot.session)
            check_not_held(stored, tenant_held=await self._is_held(caller.tenant_id))
            verification = await self._chains.verify(stored)
            erasure = erase_session(stored, verification, ErasureCommand(session_id, reason, caller.subject))
            key = await self._chains.hmac_key(stored.snapshot.session)
            # The invariants are not asked: a broken session's content has to go too.
            change = to_change(erasure.step, stored.snapshot, self._clock.now(), key, check=False)
            return replace(change, erased_events=erasure.events), _erased(stored, erasure, change)

        return await self._writer.once(caller.tenant_id, request, decide)

    async def _is_held(self, tenant_id: str) -> bool:
        """Say whether the tenant's rules keep everything."""
        return self._registers is not None and (await self._registers.read(tenant_id)).effective.legal_hold


def _erased(stored: StoredChain, erasure: Erasure, change: SessionChange) -> Erased:
    return Erased(
        session=change.session,
        dag=DagView.of(stored.snapshot, change.windows),
        event=change.events[0],
        windows=sum(bool(window.response_text) for window in stored.snapshot.windows),
        reports=sum(bool(report.body or report.inputs) for report in stored.reports),
        events=len(erasure.events),
    )
