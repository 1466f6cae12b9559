"""How often a peer may be refused before it is told to wait: one bucket for each address, and one for all.

Only refusals are counted. A credential that holds never meets these buckets, so that nobody can lock out another, nor
a neighbour behind the same address. What is remembered is bounded: of the addresses, the least recently refused go.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from services.common.settings.edge import EdgeSettings

MOST_ADDRESSES: Final = 10_000
"""Addresses with a bucket of their own; who comes back after more than these begins with a full one."""
_MINUTE_S: Final = 60.0


class TokenBucket:
    """So many at once, then so many a second."""

    __slots__ = ("_at", "_left", "most", "per_s")

    def __init__(self, most: float, per_s: float, now: float) -> None:
        self.most = most
        self.per_s = per_s
        self._left = most
        self._at = now

    def wait_s(self, now: float) -> float:
        """Return the seconds until a token is there; 0.0 when one is."""
        self._left = min(self.most, self._left + max(0.0, now - self._at) * self.per_s)
        self._at = now
        return 0.0 if self._left >= 1.0 else (1.0 - self._left) / self.per_s

    def take(self, amount: float = 1.0) -> None:
        """Take a token that ``wait_s`` found, or an amount that may leave less than nothing."""
        self._left -= amount


class FailedLogins:
    """Counts refused credentials by address.

    Args:
        settings: the rates.
        now: a clock that never goes back, in seconds.
    """

    def __init__(self, settings: EdgeSettings, now: Callable[[], float]) -> None:
        self._now = now
        self._burst = float(settings.failed_login_burst)
        self._per_s = settings.failed_logins_per_minute / _MINUTE_S
        overall = settings.failed_logins_per_minute_overall
        self._overall = TokenBucket(max(1.0, overall), overall / _MINUTE_S, now())
        self._by_address: OrderedDict[str, TokenBucket] = OrderedDict()

    def refused(self, address: str) -> float:
        """Count a refusal; return 0.0, or the seconds that its peer has to wait for the next one to count."""
        now = self._now()
        bucket = self._by_address.get(address)
        if bucket is None:
            bucket = self._by_address[address] = TokenBucket(self._burst, self._per_s, now)
            if len(self._by_address) > MOST_ADDRESSES:
                self._by_address.popitem(last=False)
        self._by_address.move_to_end(address)
        wait_s = max(bucket.wait_s(now), self._overall.wait_s(now))
        if wait_s == 0.0:
            bucket.take()
            self._overall.take()
        return wait_s
