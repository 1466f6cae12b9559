"""What of mode observe waits to be analysed, within bounds, and the counts of what became of it (ADR 0142)."""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Any, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.errors import CrpError
from services.common.settings.chat import ChatSettings
from services.gateway.dispatch.held_back import Check

_LOG: Final = logging.getLogger(__name__)


@unique
class Fate(StrEnum):
    """What became of an answer."""

    ANALYSED = "analysed"
    NO_SOURCES = "no_sources"
    SHED = "shed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Observed:
    """An answer that is to be analysed; ``size`` is about its characters, sources included."""

    request_id: str
    text: str = field(repr=False)
    check: Check = field(repr=False)
    size: int


class Backlog(Collector):
    """Answers that wait, and what became of those before them.

    Metrics: ``groundtrail_observed_answers_total`` by fate, ``groundtrail_observed_risk_total`` by level,
    ``groundtrail_observed_waiting``.

    Args:
        settings: bounds.
    """

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        self._waiting: deque[Observed] = deque()
        self._size = 0
        self._running: set[asyncio.Task[None]] = set()
        self._fates: Counter[Fate] = Counter()
        self._levels: Counter[str] = Counter()
        self._closed = False

    def add(self, observed: Observed) -> bool:
        """Take an answer in, or shed it; say which."""
        full = len(self._waiting) >= self._settings.observe_backlog
        if self._closed or full or self._size + observed.size > self._settings.observe_backlog_bytes:
            self._fates[Fate.SHED] += 1
            return False
        self._waiting.append(observed)
        self._size += observed.size
        if len(self._running) < self._settings.observe_at_once:
            task = asyncio.get_running_loop().create_task(self._worked())
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return True

    def shed(self) -> None:
        """Count an answer that is too long to be kept."""
        self._fates[Fate.SHED] += 1

    async def idle(self) -> None:
        """Wait until nothing waits and nothing runs."""
        while self._running:
            await asyncio.wait(set(self._running))

    async def close(self) -> None:
        """Shed what waits and end what runs; both are counted as shed."""
        self._closed = True
        self._fates[Fate.SHED] += len(self._waiting) + len(self._running)
        self._waiting.clear()
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(set(self._running))

    async def _worked(self) -> None:
        while self._waiting:
            observed = self._waiting.popleft()
            self._size -= observed.size
            self._fates[await self._analysed(observed)] += 1

    async def _analysed(self, observed: Observed) -> Fate:
        try:
            found = await observed.check(observed.text, is_whole=True)
        except CrpError as error:
            _LOG.warning("an observed answer was not analysed", extra=_named(observed, reason=error.reason.value))
            return Fate.FAILED
        except Exception as error:  # noqa: BLE001 - one answer's failure is not the others'
            _LOG.error("an observed answer was not analysed", exc_info=error, extra=_named(observed))
            return Fate.FAILED
        if "risk_level" not in found:
            return Fate.NO_SOURCES
        self._levels[found["risk_level"]] += 1
        told = {name: found[name] for name in ("risk_level", "supported", "judged")}
        _LOG.info("an answer was observed", extra=_named(observed, would_withhold=found["withheld"], **told))
        return Fate.ANALYSED

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        fates = CounterMetricFamily(
            "groundtrail_observed_answers", "Answers of mode observe by what became of them", labels=["fate"]
        )
        for fate in Fate:
            fates.add_metric([fate.value], self._fates[fate])
        yield fates
        levels = CounterMetricFamily(
            "groundtrail_observed_risk", "Analysed answers of mode observe by risk level", labels=["level"]
        )
        for level, count in sorted(self._levels.items()):
            levels.add_metric([level], count)
        yield levels
        yield GaugeMetricFamily(
            "groundtrail_observed_waiting", "Answers of mode observe that wait to be analysed", len(self._waiting)
        )


def _named(observed: Observed, **more: Any) -> dict[str, Any]:
    return {"request_id": observed.request_id, **more}
