"""How many calls a process takes on at a time, in all and for one tenant.

More are refused, not queued: a queue would only turn overload into latency (what waits in ``admission`` was counted
here before). Counted on the event loop, without locks. The last places are for tenants with few calls in flight, so
that tenants who use all that they may cannot keep out those who come with a single one.
Calls that need no credential (reflection's streams, which a caller may hold open for ever) get a small share of the
whole, so that nobody without a credential can keep those out who have one.
"""

from typing import Final

from services.common.errors import ErrorReason, LimitExceededError
from services.common.settings import ServerSettings

_OPEN_SHARE: Final = 16
"""One in so many calls may be one that needs no credential; at least one call may."""
_LAST_SHARE: Final = 8
"""The last of so many parts of the places is for tenants with few calls."""
_FEW_SHARE: Final = 16
"""A tenant has few calls while it has less than this part of all places."""


class CallLimits:
    """Counts calls in and out."""

    def __init__(self, settings: ServerSettings) -> None:
        self._most = settings.max_concurrent_calls
        self._most_per_tenant = settings.max_concurrent_calls_per_tenant
        self._retry_s = settings.overload_retry_s
        self._most_open = max(1, settings.max_concurrent_calls // _OPEN_SHARE)
        self._most_of_many = self._most - self._most // _LAST_SHARE
        self._few = self._most // _FEW_SHARE
        self._running = 0
        self._running_open = 0
        self._by_tenant: dict[str, int] = {}

    @property
    def running(self) -> int:
        """Calls that were entered and not left."""
        return self._running

    def enter(self) -> None:
        """Take a call on.

        Raises:
            LimitExceededError: CONCURRENCY_LIMIT, nothing was counted.
        """
        if self._running >= self._most:
            raise self._refusal("process", self._most)
        self._running += 1

    def leave(self) -> None:
        """Undo ``enter``."""
        self._running -= 1

    def enter_open(self) -> None:
        """Take on a call that needs no credential.

        Raises:
            LimitExceededError: CONCURRENCY_LIMIT, nothing was counted.
        """
        if self._running_open >= self._most_open:
            raise self._refusal("process without a credential", self._most_open)
        self.enter()
        self._running_open += 1

    def leave_open(self) -> None:
        """Undo ``enter_open``."""
        self._running_open -= 1
        self.leave()

    def enter_tenant(self, tenant_id: str) -> None:
        """Count the call for its tenant.

        Raises:
            LimitExceededError: CONCURRENCY_LIMIT, nothing was counted.
        """
        running = self._by_tenant.get(tenant_id, 0)
        if running >= self._most_per_tenant:
            raise self._refusal("tenant", self._most_per_tenant)
        if self._running > self._most_of_many and running >= self._few:
            raise self._refusal("process", self._most_of_many)
        self._by_tenant[tenant_id] = running + 1

    def leave_tenant(self, tenant_id: str) -> None:
        """Undo ``enter_tenant``."""
        running = self._by_tenant[tenant_id] - 1
        if running:
            self._by_tenant[tenant_id] = running
        else:
            del self._by_tenant[tenant_id]

    def _refusal(self, scope: str, limit: int) -> LimitExceededError:
        return LimitExceededError(
            ErrorReason.CONCURRENCY_LIMIT,
            f"{limit} calls of this {scope} are in flight already; try again after the delay given in RetryInfo",
            retry_after_s=self._retry_s,
            scope=scope,
            limit=str(limit),
        )
