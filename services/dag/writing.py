"""Writing a step once: read, decide, write under the version guard, try again when another writer came first.

The answer is serialised before the write and kept as a receipt in the same transaction, so that a repeated request gets
the same bytes, token included.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeAlias, TypeVar

from services.common.clock import Clock
from services.common.errors import ConflictError, CrpError, ErrorReason, PreconditionError, UnreadableRecordError
from services.common.ports.receipts import RECEIPT_RETENTION, Receipt
from services.common.ports.sessions import SessionChange, SessionStore
from services.common.progress import stored, writing

ResultT = TypeVar("ResultT")
Changes: TypeAlias = SessionChange | tuple[SessionChange, ...]
"""One session's change, or those of several that are written together; the receipt goes with the first."""

ATTEMPTS: Final = 64
"""One writer wins each round, so that this many processes at once on one session lose nothing."""
_BACKOFF_S: Final = 0.002
_LONGEST_BACKOFF_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class RequestKey(Generic[ResultT]):
    """What makes one mutating call repeatable.

    Attributes:
        rpc: short method name.
        request_id: the caller's UUID.
        body_hash: SHA-256 hex of the request without its id.
        encode: serialises the answer.
    """

    rpc: str
    request_id: str
    body_hash: str
    encode: Callable[[ResultT], bytes]


@contextlib.contextmanager
def refusing_unreadable() -> Iterator[None]:
    """Refuse to continue what does not parse, as a broken chain is refused (SPEC-004 §16.4, ADR 0101).

    The session is not closed: what cannot be read cannot be written on top of.
    """
    try:
        yield
    except UnreadableRecordError as error:
        raise error.while_continuing() from error


class Writer:
    """Writes decided steps to the store."""

    def __init__(self, store: SessionStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def once(
        self,
        tenant_id: str,
        request: RequestKey[ResultT],
        decide: Callable[[int], Awaitable[tuple[Changes, ResultT]]],
    ) -> bytes:
        """Return the serialised answer of the step, or of the earlier call with the same request id.

        Args:
            tenant_id: the caller's tenant.
            request: what makes the call repeatable.
            decide: reads the store and decides; called anew after each lost race, with the number of races lost.

        Raises:
            PreconditionError: REQUEST_ID_REUSED.
            ConflictError: COMMIT_RACE: other writers came first every time.
        """
        for attempt in range(ATTEMPTS):
            answered = await self._answered(tenant_id, request)
            if answered is not None:
                return answered
            try:
                changes, result = await decide(attempt)
            except CrpError:
                # What stands in the way may be this very request's twin, which was answered meanwhile.
                answered = await self._answered(tenant_id, request)
                if answered is None:
                    raise
                return answered
            first, *others = changes if isinstance(changes, tuple) else (changes,)
            response = request.encode(result)
            receipt = Receipt(
                tenant_id, request.rpc, request.request_id, request.body_hash, response, self._clock.now()
            )
            try:
                with writing():
                    await self._store.write(replace(first, receipt=receipt), *others)
            except ConflictError:
                await asyncio.sleep(min(_BACKOFF_S * attempt, _LONGEST_BACKOFF_S))
            else:
                stored()
                return response
        answered = await self._answered(tenant_id, request)
        if answered is not None:
            return answered
        text = "other writers changed the session first each time; read it again and retry"
        raise ConflictError(ErrorReason.COMMIT_RACE, text, retry_after_s=_LONGEST_BACKOFF_S)

    async def continued(
        self,
        tenant_id: str,
        request: RequestKey[ResultT],
        decide: Callable[[int], Awaitable[tuple[Changes, ResultT]]],
    ) -> bytes:
        """Do as ``once`` for a step that continues a session or begins one.

        Raises:
            ChainBrokenError: CHAIN_BROKEN: a stored record that the step needs does not parse; nothing was written.
        """

        async def decided(lost: int) -> tuple[Changes, ResultT]:
            with refusing_unreadable():
                return await decide(lost)

        return await self.once(tenant_id, request, decided)

    async def _answered(self, tenant_id: str, request: RequestKey[ResultT]) -> bytes | None:
        receipt = await self._store.get_receipt(tenant_id, request.rpc, request.request_id)
        if receipt is None or self._clock.now() > receipt.created_at + RECEIPT_RETENTION:
            return None
        if receipt.body_hash != request.body_hash:
            text = f"request_id {request.request_id} was used for another {request.rpc} request; take a fresh UUID"
            raise PreconditionError(ErrorReason.REQUEST_ID_REUSED, text, request_id=request.request_id, rpc=request.rpc)
        return receipt.response
