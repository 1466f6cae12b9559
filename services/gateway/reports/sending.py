"""Sending reports behind the dispatches: taken when due, one at a time for each host, tried again, dead in the end."""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Final

import structlog
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.backoff import pause_s
from services.common.clock import Clock
from services.common.errors import CrpError
from services.common.ports.event_endpoint import Delivery, Outcome
from services.common.ports.violation_reports import (
    OutgoingReport,
    ReportEndpoints,
    ReportState,
    ViolationReportStore,
)
from services.common.settings.reports import ReportSettings

_FOR_GOOD: Final = frozenset({Outcome.REFUSED, Outcome.FORBIDDEN})
_LEASES: Final = 2.0
"""A report that was taken is due again after so many times what an attempt may take."""


class ReportSender(Collector):
    """Sends until it is closed; ``start`` once, ``close`` once.

    Args:
        store: the queue.
        endpoints: whoever gets reports.
        clock: the time.
        settings: bounds, pauses.
        share: gives a random number, 0-1, for the pauses.
    """

    def __init__(
        self,
        store: ViolationReportStore,
        endpoints: ReportEndpoints,
        clock: Clock,
        settings: ReportSettings,
        share: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._endpoints = endpoints
        self._clock = clock
        self._settings = settings
        self._share = share
        self._log = structlog.get_logger("groundtrail")
        self._wake = asyncio.Event()
        self._stopping = False
        self._loop_task: asyncio.Task[None] | None = None
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._attempts: Counter[Outcome] = Counter()
        self._counts = (0, 0)

    def start(self) -> None:
        """Begin to send."""
        self._loop_task = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Look for what is due now."""
        self._wake.set()

    async def close(self) -> None:
        """Stop; what is under way is cut off and sent again later, by whoever comes next."""
        self._stopping = True
        self._wake.set()
        tasks = [*self._busy.values(), *([self._loop_task] if self._loop_task else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._endpoints.close()

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        prefix = "groundtrail_violation_reports"
        told = CounterMetricFamily(f"{prefix}_attempts", "Attempts to send a violation report", labels=["outcome"])
        for outcome in Outcome:
            told.add_metric([outcome.value], self._attempts[outcome])
        yield told
        queued, dead = self._counts
        yield GaugeMetricFamily(f"{prefix}_queued", "Violation reports that wait", value=queued)
        yield GaugeMetricFamily(f"{prefix}_dead", "Violation reports that no endpoint took", value=dead)

    async def _run(self) -> None:
        while not self._stopping:
            try:
                await self._round()
                self._counts = await self._store.counts()
            except CrpError as error:
                self._log.warning("violation reports wait", problem=f"{error.reason.value}: {error.message}")
            except Exception:  # noqa: BLE001 - a sender that died in silence would be worse than one that tries on
                self._log.exception("sending violation reports failed")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.poll_interval_s):
                    await self._wake.wait()
            self._wake.clear()

    async def _round(self) -> None:
        """Take what is due, one report for each host that is free."""
        room = self._settings.max_hosts - len(self._busy)
        if room <= 0:
            return
        now = self._clock.now()
        lease = timedelta(seconds=_LEASES * self._settings.timeout_s)
        for report in await self._store.take(now, now + lease, room, tuple(self._busy)):
            self._busy[report.host] = asyncio.create_task(self._send(report))

    async def _send(self, report: OutgoingReport) -> None:
        try:
            delivery = await self._endpoints.send(report)
            self._attempts[delivery.outcome] += 1
            await self._store.settle(self._settled(report, delivery))
        except CrpError as error:
            self._log.warning("a violation report is sent again later", problem=error.reason.value)
        finally:
            self._busy.pop(report.host, None)
            self._wake.set()

    def _settled(self, report: OutgoingReport, delivery: Delivery) -> OutgoingReport:
        tried = replace(report, attempts=report.attempts + 1, problem=delivery.problem[:500])
        if delivery.outcome is Outcome.ACCEPTED:
            return replace(tried, state=ReportState.SENT, due_at=self._clock.now())
        settings = self._settings
        if delivery.outcome in _FOR_GOOD or tried.attempts >= settings.max_attempts:
            self._log.warning("a violation report is dead", host=report.host, problem=tried.problem)
            return replace(tried, state=ReportState.DEAD)
        wait = pause_s(
            tried.attempts, settings.retry_first_s, settings.retry_max_s, self._share(), delivery.retry_after_s
        )
        return replace(tried, due_at=self._clock.now() + timedelta(seconds=wait))
