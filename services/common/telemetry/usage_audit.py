"""What providers count of an answer, held against our own count of it (ADR 0164).

A provider's count is what is paid for and what limits go by. Ours is of the text that came, by the model's own
tokenizer; where they differ by much, that is counted, and said once a minute for each provider. Nothing waits for it:
answers are looked at behind the call, a few at a time, and what comes beyond them is not looked at, which is counted.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from enum import StrEnum, unique
from typing import Final

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.computing import compute_unless_small
from services.common.errors import CrpError
from services.common.ports.tokens import TokenCounter
from services.common.telemetry.model_calls import ModelCall

MOST_WAITING: Final = 32
"""Answers that are looked at at once."""
MOST_CHARS: Final = 200_000
"""Of one answer that is looked at."""
TOLERANCE_RATIO: Final = 0.1
TOLERANCE_TOKENS: Final = 8
"""Both counts agree within a tenth and 8 tokens: providers count marks around the text that no tokenizer sees."""
SAID_EVERY_S: Final = 60.0
_LOG: Final = logging.getLogger(__name__)


@unique
class Compared(StrEnum):
    """How a provider's count of an answer stands to ours."""

    AGREES = "agrees"
    MORE = "more"
    """It counts more than we do."""
    FEWER = "fewer"
    UNCOUNTED = "uncounted"
    """It names no count, or the model's tokenizer is not known."""
    SHED = "shed"
    """Too many at once, or too long."""


def compared(theirs: int, ours: int) -> Compared:
    """Return how two counts of one answer stand to each other."""
    if abs(theirs - ours) <= TOLERANCE_TOKENS + TOLERANCE_RATIO * ours:
        return Compared.AGREES
    return Compared.MORE if theirs > ours else Compared.FEWER


class UsageAudit(Collector):
    """Looks at answers behind their calls.

    Metrics: ``groundtrail_model_usage_compared_total`` by provider and result, and by provider
    ``groundtrail_model_usage_excess_tokens_total``: what it counted beyond our count.

    Args:
        tokens: opens what counts.
    """

    def __init__(self, tokens: Callable[[], Awaitable[TokenCounter]]) -> None:
        self._tokens = tokens
        self._running: set[asyncio.Task[None]] = set()
        self._results: Counter[tuple[str, Compared]] = Counter()
        self._excess: Counter[str] = Counter()
        self._said: dict[str, float] = {}

    def note(self, call: ModelCall) -> None:
        """Take a call in that has ended; one without a text that was read is none to compare."""
        text, theirs, provider = call.written, call.output_tokens, call.asked.provider
        if not text or call.error_type:
            return
        if theirs is None:
            self._results[provider, Compared.UNCOUNTED] += 1
            return
        if len(self._running) >= MOST_WAITING or len(text) > MOST_CHARS:
            self._results[provider, Compared.SHED] += 1
            return
        task = asyncio.get_running_loop().create_task(self._compare(provider, call.asked.model, text, theirs))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def idle(self) -> None:
        """Wait until nothing is looked at."""
        while self._running:
            await asyncio.wait(set(self._running))

    async def close(self) -> None:
        """Stop looking."""
        for task in self._running:
            task.cancel()
        await self.idle()

    async def _compare(self, provider: str, model: str, text: str, theirs: int) -> None:
        try:
            tokens = await self._tokens()
            await tokens.opened(model)
            (ours,) = await compute_unless_small(len(text), tokens.count, [text], model)
        except CrpError:
            self._results[provider, Compared.UNCOUNTED] += 1
            return
        result = compared(theirs, ours)
        self._results[provider, result] += 1
        self._excess[provider] += max(0, theirs - ours)
        if result is not Compared.AGREES:
            self._say(provider, theirs, ours)

    def _say(self, provider: str, theirs: int, ours: int) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._said.get(provider, -SAID_EVERY_S) < SAID_EVERY_S:
            return
        self._said[provider] = now
        told = {"provider": provider, "provider_tokens": theirs, "own_tokens": ours}
        _LOG.warning("a provider counts an answer otherwise than we do", extra=told)

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        results = CounterMetricFamily(
            "groundtrail_model_usage_compared",
            "Answers by how the provider's count of tokens stands to ours",
            labels=["provider", "result"],
        )
        for (provider, result), count in sorted(self._results.items()):
            results.add_metric([provider, result.value], count)
        yield results
        excess = CounterMetricFamily(
            "groundtrail_model_usage_excess_tokens",
            "Tokens that providers counted of answers beyond our own count",
            labels=["provider"],
        )
        for provider, count in sorted(self._excess.items()):
            excess.add_metric([provider], count)
        yield excess
