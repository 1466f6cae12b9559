"""How promptly the event loop turns: measured on it, read from outside of it.

Everything that a process serves waits for its event loop. A heartbeat that comes late says by how much; one that does
not come says for how long, to a thread that asks (``http_endpoint``).
"""

import asyncio
import contextlib
import time
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

INTERVAL_S: Final = 0.25
BUCKETS_S: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the lag's histogram, in seconds, inclusive."""


class Heartbeat(Collector):
    """Beats on the event loop while it is open; any thread may ask and collect."""

    def __init__(self) -> None:
        self._due: float | None = None
        self._buckets = [0] * (len(BUCKETS_S) + 1)
        self._lag_s = 0.0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to beat on the running loop."""
        self._task = asyncio.create_task(self._beat(), name="heartbeat")

    async def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self._due = None

    def unresponsive_s(self) -> float:
        """Return for how long the loop has not turned although it should have, in seconds; 0.0 when all is well."""
        due = self._due
        return 0.0 if due is None else max(0.0, time.monotonic() - due)

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        text = "seconds for which the event loop has not turned although it should have"
        yield GaugeMetricFamily("groundtrail_event_loop_unresponsive_seconds", text, value=self.unresponsive_s())
        counted, sofar = 0, []
        for bound, count in zip([*map(str, BUCKETS_S), "+Inf"], self._buckets, strict=True):
            counted += count
            sofar.append((bound, counted))
        text = f"how late the event loop came to a task that is due every {INTERVAL_S} s, in seconds"
        yield HistogramMetricFamily("groundtrail_event_loop_lag_seconds", text, buckets=sofar, sum_value=self._lag_s)

    async def _beat(self) -> None:
        while True:
            due = self._due = time.monotonic() + INTERVAL_S
            await asyncio.sleep(INTERVAL_S)
            lag = max(0.0, time.monotonic() - due)
            self._buckets[bisect_left(BUCKETS_S, lag)] += 1
            self._lag_s += lag
