"""The sweep: walks over all tenants' sessions, turn by turn, and does what is due (ADR 0104).

Of the processes that share a store the one that holds the claim sweeps. A turn changes a bounded number of sessions,
one after the other, and rests after each four times as long as it took, so that callers never wait for it. Where the
walk is stands in memory alone: a process that takes over begins anew and finds what is still due.
"""

import asyncio
import contextlib
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import structlog

from services.common.clock import Clock
from services.common.errors import CrpError, ErrorReason
from services.common.ports.event_feed import EventFeed
from services.common.ports.sessions import SessionStatus, SessionStore
from services.common.settings.retention import RetentionSettings
from services.dag.retention.acting import Acted, Outcome, Retention, WalkPlace
from services.dag.retention.metrics import SweepMetrics, count

CONSUMER: Final = "retention-sweep"
LEASE: Final = timedelta(seconds=60)
_RENEWED_AFTER: Final = LEASE / 3
_RESTS: Final = 4.0
_LONGEST_REST_S: Final = 5.0
_PAGE: Final = 50


@dataclass(frozen=True, slots=True)
class SweepParts:
    """What the sweep works with.

    Attributes:
        feed: the store's, whose claims it takes.
        holder: names this process among those that share the store.
    """

    retention: Retention
    store: SessionStore
    feed: EventFeed
    clock: Clock
    holder: str
    metrics: SweepMetrics = field(default_factory=SweepMetrics)


@dataclass(slots=True)
class _Walk:
    """One walk over all tenants: where it is and what it found."""

    tenant: str = ""
    place: WalkPlace | None = None
    sessions: Counter[SessionStatus] = field(default_factory=Counter)
    held: int = 0


class RetentionSweep:
    """Sweeps until it is closed; ``start`` once, ``close`` once."""

    def __init__(self, parts: SweepParts, settings: RetentionSettings) -> None:
        self._parts = parts
        self._settings = settings
        self._log = structlog.get_logger("groundtrail")
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._claimed_at: datetime | None = None
        self._walk = _Walk()

    def start(self) -> None:
        """Begin to sweep in the background; does nothing when the settings say that this process does not."""
        if self._settings.sweep_interval_s > 0:
            self._task = asyncio.create_task(self._run(), name="retention-sweep")

    async def close(self) -> None:
        """Stop after the session that is under way, and give the claim up. Idempotent."""
        self._stopping.set()
        task, self._task = self._task, None
        if task is None:
            return
        await asyncio.gather(task, return_exceptions=True)
        if self._claimed_at is not None:
            with contextlib.suppress(CrpError):
                await self._parts.feed.release(CONSUMER, self._parts.holder)

    async def turn(self) -> bool:
        """Change up to ``sweep_batch`` sessions; ``True`` while the walk over all tenants is not over.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
        """
        left = self._settings.sweep_batch
        while left > 0 and not self._stopping.is_set() and await self._claim():
            began = time.monotonic()
            if self._walk.place is None and not await self._next_tenant():
                self._finish()
                return False
            left -= await self._some(left)
            await self._rest(time.monotonic() - began)
        return self._claimed_at is not None

    async def _run(self) -> None:
        while True:
            await self._sleep(self._settings.sweep_interval_s)
            if self._stopping.is_set():
                return
            try:
                await self.turn()
            except CrpError as error:
                self._log.warning("retention sweep waits", reason=error.reason.value, problem=error.message)
            except Exception:  # noqa: BLE001 - a sweep that died in silence would be worse than one that tries on
                self._log.exception("retention sweep failed")

    async def _next_tenant(self) -> bool:
        """Go on to the next tenant and count its sessions; ``False`` after the last."""
        tenants = await self._parts.store.session_tenants(after=self._walk.tenant, limit=1)
        if not tenants:
            return False
        self._walk.tenant, self._walk.place = tenants[0], WalkPlace()
        self._walk.sessions.update(await self._parts.store.count_sessions(tenants[0]))
        return True

    async def _some(self, left: int) -> int:
        """Do some of what is due for the tenant; return how many sessions were looked at."""
        walk = self._walk
        try:
            page = await self._parts.retention.due(walk.tenant, walk.place or WalkPlace(), min(left, _PAGE))
        except CrpError as error:
            if error.reason is ErrorReason.STORE_UNAVAILABLE:
                raise
            walk.place = None
            self._parts.metrics.unknown_rules += 1
            self._log.error("retention passes a tenant over", reason=error.reason.value, **error.metadata)
            return 1
        for item in page.items:
            if self._stopping.is_set() or not await self._claim():
                break
            began = time.monotonic()
            self._count(await self._parts.retention.act(walk.tenant, item))
            await self._rest(time.monotonic() - began)
            walk.place = item.place
        else:
            walk.place = page.following
        return max(1, len(page.items))

    def _count(self, acted: Acted) -> None:
        self._walk.held += acted.outcome is Outcome.HELD
        count(self._parts.metrics, acted)
        if acted.outcome is Outcome.FAILED:
            self._log.warning(
                "retention failed", session_id=acted.session_id, stage=acted.stage.value, problem=acted.detail
            )

    def _finish(self) -> None:
        metrics, walk = self._parts.metrics, self._walk
        metrics.sessions, metrics.held = walk.sessions, walk.held
        metrics.walked_at = self._parts.clock.now().timestamp()
        self._walk = _Walk()

    async def _claim(self) -> bool:
        """Hold the claim: prolong it when a part of its time is over, take it when nobody has it."""
        parts, now = self._parts, self._parts.clock.now()
        if self._claimed_at is None or not timedelta() <= now - self._claimed_at < _RENEWED_AFTER:
            held = await parts.feed.claim(CONSUMER, parts.holder, now, now + LEASE)
            self._claimed_at = now if held else None
        parts.metrics.sweeping = self._claimed_at is not None
        return parts.metrics.sweeping

    async def _rest(self, took_s: float) -> None:
        await self._sleep(min(_RESTS * took_s, _LONGEST_REST_S))

    async def _sleep(self, seconds: float) -> None:
        """Sleep, or until the sweep is told to stop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
