"""How much a credential may ask for in a minute: a bucket of requests and one of tokens for each (ADR 0164).

Counted on the event loop, without locks, in this process alone. What a language model took is known when its answer has
ended: it is taken from the bucket then, which may go below nothing, and later calls wait until it is filled again.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.context import spend_for
from services.common.errors import ErrorReason, LimitExceededError
from services.common.rpc.failed_logins import TokenBucket
from services.common.settings.limits import KeyLimits, LimitSettings
from services.common.telemetry.model_calls import ModelCall

REQUESTS: Final = "requests"
TOKENS: Final = "tokens"
MOST_CREDENTIALS: Final = 100_000
"""Credentials with buckets; the longest unused begins with full ones again."""
_MINUTE_S: Final = 60.0
_CHARS_A_TOKEN: Final = 4


class RateLimits(Collector):
    """The buckets of a process.

    Metrics: ``groundtrail_rate_limited_total`` by limit, ``groundtrail_rate_limited_tokens_total``: tokens of those who
    have a limit.

    Args:
        settings: how much.
        now: a clock that never goes back, in seconds.
    """

    def __init__(self, settings: LimitSettings, now: Callable[[], float]) -> None:
        self._settings = settings
        self._now = now
        self._buckets: OrderedDict[str, dict[str, TokenBucket]] = OrderedDict()
        self._refused: Counter[str] = Counter()
        self._spent = 0

    def admit(self, scope: str) -> None:
        """Let a credential's call begin, and have what it takes counted for it from here on.

        Raises:
            LimitExceededError: RATE_LIMIT, with the time to wait; nothing was counted.
        """
        spend_for(scope)
        limits = self._settings.of(scope)
        buckets = self._of(scope, limits)
        if not buckets:
            return
        now = self._now()
        for limit, bucket in buckets.items():
            wait_s = bucket.wait_s(now)
            if wait_s > 0.0:
                self._refused[limit] += 1
                raise _refusal(limit, int(bucket.most), wait_s)
        if REQUESTS in buckets:
            buckets[REQUESTS].take()

    def spend(self, scope: str, tokens: int) -> None:
        """Take what a language model read and wrote for a credential."""
        bucket = self._of(scope, self._settings.of(scope)).get(TOKENS) if scope else None
        if bucket is not None:
            bucket.wait_s(self._now())  # what the time since the last call has given
            bucket.take(float(tokens))
            self._spent += tokens

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        refused = CounterMetricFamily(
            "groundtrail_rate_limited", "Calls refused for what their credential took in a minute", labels=["limit"]
        )
        for limit in (REQUESTS, TOKENS):
            refused.add_metric([limit], self._refused[limit])
        yield refused
        yield CounterMetricFamily(
            "groundtrail_rate_limited_tokens", "Tokens of credentials that have a limit of them", value=self._spent
        )

    def _of(self, scope: str, limits: KeyLimits) -> dict[str, TokenBucket]:
        most = {REQUESTS: limits.requests_per_minute, TOKENS: limits.tokens_per_minute}
        if not any(most.values()):
            return {}
        found = self._buckets.get(scope)
        if found is None:
            now = self._now()
            found = {name: TokenBucket(float(size), size / _MINUTE_S, now) for name, size in most.items() if size}
            self._buckets[scope] = found
            if len(self._buckets) > MOST_CREDENTIALS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(scope)
        return found


def _refusal(limit: str, per_minute: int, wait_s: float) -> LimitExceededError:
    text = f"this credential has used up its {per_minute} {limit} of a minute; there is room again in {wait_s:.1f} s"
    return LimitExceededError(
        ErrorReason.RATE_LIMIT, text, retry_after_s=wait_s, limit=limit, per_minute=str(per_minute)
    )


def spend(limits: RateLimits, call: ModelCall) -> None:
    """Count an ended call of a language model for whoever it was made for.

    Tokens are the provider's; where it names none, a quarter of the characters that it was sent, and of a streamed
    answer its pieces, which are about its tokens.
    """
    sent = sum(len(part.get("content", "")) for _, parts in call.asked.messages for part in parts)
    read = sent // _CHARS_A_TOKEN if call.input_tokens is None else call.input_tokens
    wrote = call.output_tokens
    if wrote is None:
        wrote = call.chunks or len(call.written or "") // _CHARS_A_TOKEN
    limits.spend(call.spender, read + wrote)
