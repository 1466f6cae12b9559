"""The loop of the event sink: claim, fill, send, advance; and again from the stored position after any failure.

A position moves only after the endpoint accepted what lies before it, so that nothing is lost and, after a crash
between the two, something is sent twice. One batch is under way at a time. Writers of the store are never waited for
nor made to wait: the sink only reads what they committed.
"""

import asyncio
import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import structlog

from services.common.backoff import pause_s
from services.common.clock import Clock
from services.common.errors import CrpError
from services.common.ports.event_endpoint import Delivery, EventBatch, EventEndpoint, Outcome
from services.common.ports.event_feed import Behind, EventFeed
from services.common.settings.event_sink import EventSinkSettings
from services.dag.sink.batching import Batches, Filled
from services.dag.sink.metrics import SinkMetrics

CONSUMER: Final = "event-sink"
_MAX_TENANTS: Final = 1000
_RENEWALS: Final = 3
"""A claim is prolonged after this part of its time."""


@dataclass(frozen=True, slots=True)
class SinkParts:
    """What the sink works with.

    Attributes:
        holder: names this process among those that share the store.
        share: gives a random number, 0-1, for the pauses.
    """

    feed: EventFeed
    batches: Batches
    endpoint: EventEndpoint
    clock: Clock
    holder: str
    metrics: SinkMetrics = field(default_factory=SinkMetrics)
    share: Callable[[], float] = random.random


class EventSink:
    """Streams until it is closed; ``start`` once, ``close`` once."""

    def __init__(self, parts: SinkParts, settings: EventSinkSettings) -> None:
        self._parts = parts
        self._settings = settings
        self._log = structlog.get_logger("groundtrail").bind(sink=settings.host)
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._limit = settings.batch_events
        self._claimed_until: datetime | None = None
        self._problem = ""

    @property
    def detail(self) -> str:
        """What operators should know now: ``sending``, ``standby``, or what is wrong and how much waits."""
        metrics = self._parts.metrics
        if self._problem:
            return f"{self._problem}; {metrics.behind} records wait"
        return f"sending, {metrics.behind} records wait" if metrics.sending else "standby: another process sends"

    @property
    def metrics(self) -> SinkMetrics:
        """What it counts."""
        return self._parts.metrics

    def start(self) -> None:
        """Begin to stream in the background."""
        self._task = asyncio.create_task(self._run(), name="event-sink")

    async def close(self) -> None:
        """Stop: let an attempt that is under way end within the grace period, then give the claim up. Idempotent."""
        self._stopping.set()
        task, self._task = self._task, None
        if task is None:
            return
        await asyncio.wait({task}, timeout=self._settings.stop_grace_s)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        with contextlib.suppress(CrpError):
            await self._parts.feed.release(CONSUMER, self._parts.holder)
        await self._parts.endpoint.close()

    async def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            try:
                worked = await self._round()
                failures = 0
            except CrpError as error:
                failures += 1
                self._note(f"{error.reason.value}: {error.message}")
                worked = False
            except Exception as error:  # noqa: BLE001 - a sink that died in silence would be worse than one that tries on
                failures += 1
                self._log.exception("event sink failed", failures=failures)
                self._note(type(error).__name__)
                worked = False
            if not worked:
                settings = self._settings
                wait = pause_s(failures, settings.retry_first_s, settings.retry_max_s, self._parts.share(), None)
                await self._sleep(settings.poll_interval_s + (wait if failures else 0.0))

    async def _round(self) -> bool:
        """Send up to one batch of each tenant that is behind; ``False`` when there is nothing to do."""
        if not await self._claim():
            return False
        behind = await self._behind()
        if not behind:
            self._parts.metrics.oldest_s = 0.0
            self._note("")
        for tenant in behind:
            if self._stopping.is_set() or not await self._one_batch(tenant):
                return True
        return bool(behind)

    async def _behind(self) -> list[Behind]:
        """Return the tenants whose events wait, and count what waits."""
        behind = await self._parts.feed.behind(CONSUMER, _MAX_TENANTS, self._settings.tenants)
        self._parts.metrics.behind = sum(tenant.leaves for tenant in behind)
        return behind

    async def _one_batch(self, tenant: Behind) -> bool:
        """Send a tenant's next batch and move the position; ``False`` when the round has to begin anew."""
        parts = self._parts
        filled = await parts.batches.fill(tenant.tenant_id, after=tenant.through, limit=self._limit)
        if filled.batch is not None and not await self._deliver(filled.batch, filled):
            return False
        if not await parts.feed.advance(CONSUMER, parts.holder, tenant.tenant_id, filled.through):
            self._claimed_until = None
            return False
        parts.metrics.behind = max(0, parts.metrics.behind - (filled.through - tenant.through))
        parts.metrics.missing += len(filled.missing)
        for place in filled.missing:
            self._log.error("audit event missing", session_id=place.session_id, sequence=place.sequence)
        return True

    async def _deliver(self, batch: EventBatch, filled: Filled) -> bool:
        """Send until the endpoint accepts; ``False`` when a smaller batch is due or the sink may not go on."""
        metrics = self._parts.metrics
        attempt = 0
        while not self._stopping.is_set():
            if not await self._claim():
                return False
            if filled.oldest is not None:
                metrics.oldest_s = max(0.0, (self._parts.clock.now() - filled.oldest).total_seconds())
            delivery = await self._parts.endpoint.send(batch)
            metrics.attempts[delivery.outcome] += 1
            if delivery.outcome is Outcome.ACCEPTED:
                metrics.sent += batch.count
                self._limit = min(self._settings.batch_events, self._limit + max(1, self._limit // 10))
                self._note("")
                return True
            attempt += 1
            self._note(f"{delivery.outcome.value}: {delivery.problem}")
            if delivery.outcome is Outcome.TOO_LARGE and batch.count > 1:
                self._limit = max(1, batch.count // 2)
                return False
            await self._behind()
            await self._pause(attempt, delivery)
        return False

    async def _pause(self, attempt: int, delivery: Delivery) -> None:
        """Wait before the next attempt, and keep the claim while waiting."""
        settings = self._settings
        share = self._parts.share()
        wait = pause_s(attempt, settings.retry_first_s, settings.retry_max_s, share, delivery.retry_after_s)
        step = settings.lease_s / _RENEWALS
        while wait > 0.0 and not self._stopping.is_set():
            await self._sleep(min(wait, step))
            wait -= step
            if wait > 0.0 and not await self._claim():
                return

    async def _claim(self) -> bool:
        """Hold the claim: prolong it when a part of its time is over, take it when nobody has it."""
        parts, lease = self._parts, self._settings.lease_s
        now = parts.clock.now()
        until = self._claimed_until
        if until is None or until - now < timedelta(seconds=lease * (1 - 1 / _RENEWALS)):
            fresh = now + timedelta(seconds=lease)
            held = await parts.feed.claim(CONSUMER, parts.holder, now, fresh)
            self._claimed_until = fresh if held else None
        parts.metrics.sending = self._claimed_until is not None
        return parts.metrics.sending

    async def _sleep(self, seconds: float) -> None:
        """Sleep, or until the sink is told to stop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    def _note(self, problem: str) -> None:
        """Remember what is wrong, and log it when it changes."""
        if problem == self._problem:
            return
        if problem:
            self._log.warning("event sink waits", problem=problem)
        else:
            self._log.info("event sink sends")
        self._problem = problem
