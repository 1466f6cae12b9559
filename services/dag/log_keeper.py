"""Whether each tenant's log still goes on from the head that was signed last; where it does not, nothing is written.

At a tenant's first use in this process the log is computed anew from its leaves, off the event loop: at once where it
is small, beside the calls where it is not. Every head that is to be signed must extend the one that was kept, which is
stored under a MAC. A log that was found not to hold together stays refused until the process starts again (ADR 0099).
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Iterator, Sequence
from typing import Final, TypeVar

import structlog
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.computing import compute
from services.common.counting import counted
from services.common.errors import CrpError, LogInconsistentError, UnavailableError, UnreadableRecordError
from services.common.merkle import Place, Span, consistency_holds, consistency_spans, fold, places
from services.common.ports.session_lists import SessionFilter
from services.common.ports.sessions import SessionStore
from services.common.ports.transparency_log import KeptHead, LogState, TransparencyLog
from services.common.signed_note import Checkpoint, Note
from services.dag.domain.chain import head_mac, same
from services.dag.domain.events import OwnEvent
from services.dag.domain.keys import log_head_key
from services.dag.domain.log_audit import LogAudit, check_floor
from services.dag.domain.promises import read_promise
from services.dag.ports import HeadSigning, MasterKeys

_T = TypeVar("_T")

TOPIC: Final = "transparency_log"
_AT_ONCE: Final = 4_096
"""Leaves of a log that is computed anew before its first use: some 30 ms."""
_PAGE: Final = 2_048
_NEWEST: Final = 16
"""Sessions that are asked whether a head was ever kept, when there is none."""
_LOG: Final = structlog.get_logger(__name__)


class LogKeeper(Collector):
    """Says whether a tenant's log may be written to and signed.

    Args:
        store: sessions and logs, with content that can be read.
        master_keys: what the keys of the kept heads' MACs are derived from.
        signers: whose signatures heads have that witnesses cosigned; ``None`` = such heads are not looked at.
    """

    def __init__(self, store: SessionStore, master_keys: MasterKeys, signers: HeadSigning | None = None) -> None:
        self._store = store
        self._master_keys = master_keys
        self._signers = signers
        self._kept: dict[str, KeptHead] = {}
        self._faults: dict[str, str] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._audits: dict[str, asyncio.Task[None]] = {}
        self._audited = 0
        self._refused = 0

    async def admit(self, tenant_id: str) -> None:
        """Return when the tenant's log may be written to.

        Raises:
            LogInconsistentError: LOG_INCONSISTENT.
            UnavailableError: SERVICE_UNAVAILABLE: the master key cannot be had.
        """
        self._check(tenant_id)
        if tenant_id not in self._kept:
            async with self._locks[tenant_id]:
                self._check(tenant_id)
                if tenant_id not in self._kept:
                    await self._marking(tenant_id, self._look(tenant_id))

    async def extend(self, tenant_id: str, size: int) -> bytes:
        """Return the root of a size that may be signed: it belongs with the head that was kept, and is kept if larger.

        Raises:
            LogInconsistentError: LOG_INCONSISTENT.
            UnavailableError: SERVICE_UNAVAILABLE: the master key cannot be had.
        """
        await self.admit(tenant_id)
        return await self._marking(tenant_id, self._extended(tenant_id, size))

    def found(self, tenant_id: str, error: LogInconsistentError) -> None:
        """Note what somebody met who wrote to the log or read it."""
        if tenant_id not in self._faults:
            _LOG.error("the transparency log does not hold together", tenant=tenant_id, detail=error.metadata["detail"])
        self._faults.setdefault(tenant_id, error.metadata["detail"])

    async def settle(self) -> None:
        """Wait for the logs that are being computed anew."""
        await asyncio.gather(*self._audits.values(), return_exceptions=True)

    async def close(self) -> None:
        """End what is being computed; idempotent."""
        for audit in self._audits.values():
            audit.cancel()
        await self.settle()

    def details(self) -> dict[str, str]:
        """Return what operators should know."""
        count = len(self._faults)
        text = f"logs that do not hold together, and are not written to: those of {counted(count, 'tenant')}"
        return {TOPIC: text} if count else {}

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        prefix, count = "groundtrail_log", len(self._faults)
        yield GaugeMetricFamily(
            f"{prefix}_inconsistent_tenants", "Tenants whose log does not hold together", value=count
        )
        text = "Writes and heads that were refused because the log does not hold together"
        yield CounterMetricFamily(f"{prefix}_refused", text, value=self._refused)
        text = "Leaves from which logs were computed anew"
        yield CounterMetricFamily(f"{prefix}_audited_leaves", text, value=self._audited)

    def _check(self, tenant_id: str) -> None:
        fault = self._faults.get(tenant_id)
        if fault is not None:
            self._refused += 1
            raise LogInconsistentError.of(fault)

    async def _marking(self, tenant_id: str, work: Awaitable[_T]) -> _T:
        try:
            return await work
        except LogInconsistentError as error:
            self.found(tenant_id, error)
            self._refused += 1
            raise

    async def _look(self, tenant_id: str) -> None:
        """Compare the log with its kept head at its first use here, and keep the head that it has now."""
        state = await self._store.log_state(tenant_id)
        await self._compare_cosigned(tenant_id, await self._believed(tenant_id, state))
        audit = LogAudit(state)
        if state.size <= _AT_ONCE:
            root = await self._audit(tenant_id, audit)
        else:
            root = await self._glance(tenant_id, state)
            self._audits[tenant_id] = asyncio.create_task(self._audit_beside(tenant_id, audit))
        await self._keep(tenant_id, state, root)

    async def _extended(self, tenant_id: str, size: int) -> bytes:
        (root,) = await span_hashes(self._store, tenant_id, [(0, size)])
        known = self._kept[tenant_id]  # before the state is read: another call may keep a larger head meanwhile
        state = await self._store.log_state(tenant_id)
        head = await self._believed(tenant_id, state)
        if head is None or head.size < known.size:
            raise LogInconsistentError.of(f"the head that was kept of size {known.size} is gone")
        await self._compare_cosigned(tenant_id, head)
        small, large = sorted([(head.size, head.root), (size, root)])
        path = await span_hashes(self._store, tenant_id, consistency_spans(small[0], large[0]))
        if not consistency_holds(small, large, path):
            raise LogInconsistentError.of(f"its head of size {size} does not belong with the one of size {head.size}")
        if size > head.size:
            await self._keep(tenant_id, state, root, size)
        return root

    async def _believed(self, tenant_id: str, state: LogState) -> KeptHead | None:
        """Return the kept head, which this deployment made, or ``None`` where none was ever kept."""
        head = check_floor(state)
        if head is None:
            if await self._was_kept(tenant_id):
                raise LogInconsistentError.of("the head that was kept is gone")
            return None
        master = await self._master_keys.find(head.key_version)
        if master is None:
            text = f"the head that was kept names master key version {head.key_version}, which is not configured"
            raise LogInconsistentError.of(text)
        if not same(head_mac(head.size, head.root, log_head_key(master, tenant_id)), head.mac):
            raise LogInconsistentError.of("the head that was kept was changed")
        return head

    async def _compare_cosigned(self, tenant_id: str, head: KeptHead | None) -> None:
        """Compare kept head and log with the head that witnesses cosigned, which was kept before it was signed.

        A kept head that is smaller was put back, although it is one that was kept. A row that holds none of this log's
        heads says nothing: witnesses are asked again (ADR 0100).
        """
        if self._signers is None or not (kept := await self._store.cosigned(tenant_id)):
            return
        try:
            note, origin = Note.parse(kept), self._signers.origin(tenant_id)
            seen = Checkpoint.parse(note.text)
            keys = await self._signers.keys(tenant_id)
        except (ValueError, UnavailableError):  # the signer is away: heads wait for it, and look again
            return
        if seen.origin != origin or not any(note.holds(key, origin) for key in keys):
            return
        size = head.size if head is not None else 0
        if size < seen.size:
            text = f"the head that was kept is of size {size}, and witnesses cosigned one of size {seen.size}"
            raise LogInconsistentError.of(text)
        (root,) = await span_hashes(self._store, tenant_id, [(0, seen.size)])
        if root != seen.root:
            raise LogInconsistentError.of(
                f"it does not go on from the head of size {seen.size} that witnesses cosigned"
            )

    async def _was_kept(self, tenant_id: str) -> bool:
        """Say whether a session promises that a head is kept: all do that were begun since heads are."""
        for listed in await self._store.list_sessions(tenant_id, SessionFilter(), after="", limit=_NEWEST):
            try:
                events = await self._store.page_events(tenant_id, listed.session_id, after_sequence=-1, limit=1)
                # Of a session that a tombstone stands for the first event is gone; there are none of before.
                if any(event.event_type == OwnEvent.SESSION_TOMBSTONED or read_promise(event) for event in events):
                    return True
            except (UnreadableRecordError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue  # verification names it
        return False

    async def _keep(self, tenant_id: str, state: LogState, root: bytes, size: int | None = None) -> None:
        size = state.size if size is None else size
        if state.head is not None and state.head.size == size:
            self._kept[tenant_id] = state.head
            return
        master = await self._master_keys.current()
        mac = head_mac(size, root, log_head_key(master, tenant_id))
        head = KeptHead(size, root, mac, master.version)
        await self._store.keep_head(tenant_id, head)
        known = self._kept.get(tenant_id)
        if known is None or known.size < head.size:
            self._kept[tenant_id] = head

    async def _glance(self, tenant_id: str, state: LogState) -> bytes:
        """Compare peaks and kept head with the hashes that the leaves are stored with; return the root."""
        peaks = await self._store.tree_hashes(tenant_id, places((0, state.size)))
        if b"".join(peaks) != state.peaks:
            raise LogInconsistentError.of("its peaks are not those that its leaves make")
        if state.head is not None:
            (root,) = await span_hashes(self._store, tenant_id, [(0, state.head.size)])
            if root != state.head.root:
                raise LogInconsistentError.of(f"the head that was kept of size {state.head.size} is not its head")
        return fold(peaks)

    async def _audit(self, tenant_id: str, audit: LogAudit) -> bytes:
        while not audit.done:
            rows = await self._store.page_log(tenant_id, after=audit.read - 1, limit=_PAGE)
            before = audit.read
            await compute(audit.take, rows)
            self._audited += audit.read - before
        return audit.finish()

    async def _audit_beside(self, tenant_id: str, audit: LogAudit) -> None:
        try:
            await self._audit(tenant_id, audit)
        except LogInconsistentError as error:
            self.found(tenant_id, error)
        except CrpError as error:  # the store does not answer; the next start looks again
            _LOG.warning("the transparency log was not computed anew", tenant=tenant_id, reason=error.reason.value)
        finally:
            self._audits.pop(tenant_id, None)


async def span_hashes(log: TransparencyLog, tenant_id: str, spans: Sequence[Span]) -> list[bytes]:
    """Return the hash of each range of a log; what several need is read once."""
    parts = [places(span) for span in spans]
    wanted = list(dict.fromkeys(place for part in parts for place in part))
    found: dict[Place, bytes] = dict(zip(wanted, await log.tree_hashes(tenant_id, wanted), strict=True))
    return [fold([found[place] for place in part]) for part in parts]
