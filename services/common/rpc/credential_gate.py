"""The one place where a credential is proven, for gRPC and HTTP alike: bounded by peer, recorded when refused.

A refused credential is an audit event: a warning ``credential refused`` in the log with its reason, the peer's
address, and of the credential only what names it without opening anything (the prefix of an API key, the ``kid`` of a
JWT); and a count in ``groundtrail_refused_credentials_total``. Beyond the rates of ``FailedLogins`` the peer is told to
wait instead, and refusals are counted, not written one by one: a flood leaves one line for each token of the bucket.
"""

import base64
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import structlog
from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.api_key_format import KEY_START, prefix_of
from services.common.context import Caller
from services.common.errors import CrpError, ErrorReason, LimitExceededError, UnauthenticatedError
from services.common.rpc.authentication import Authenticator
from services.common.rpc.failed_logins import FailedLogins
from services.common.rpc.peer_address import PeerAddresses
from services.common.settings import Settings

_PLAIN: Final = re.compile(r"[A-Za-z0-9._~:/+=-]{1,64}")
_MAX_SECRET: Final = 8_192
_MAX_UNLOGGED: Final = 10_000


class CredentialGate:
    """Proves callers through an ``Authenticator`` and keeps those in bounds who are refused.

    Args:
        authenticator: who decides.
        settings: bounds of the edge and of the process.
        now: a clock that never goes back, in seconds.
    """

    def __init__(
        self, authenticator: Authenticator, settings: Settings, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._authenticator = authenticator
        self.addresses = PeerAddresses(settings.edge.trusted_proxies)
        self.metrics = RefusalMetrics()
        self._failed = FailedLogins(settings.edge, now)
        self._most_unproven = settings.server.max_concurrent_calls_per_tenant
        self._retry_s = settings.server.overload_retry_s
        self._unproven: Counter[str] = Counter()
        self._unlogged: Counter[str] = Counter()
        self._log = structlog.get_logger("groundtrail")

    def remembered(self, authorization: str) -> Caller | None:
        """Return the caller if this credential was verified a moment ago; never blocks."""
        return self._authenticator.remembered(authorization)

    async def prove(self, authorization: str, address: str, transport: str) -> Caller:
        """Return the caller that the credential proves.

        Args:
            authorization: the header's or metadata's value; empty when there was none.
            address: of the peer, as ``PeerAddresses`` gives it.
            transport: ``grpc`` or ``http``.

        Raises:
            UnauthenticatedError: CREDENTIAL_MISSING, _INVALID, _EXPIRED or _REVOKED.
            LimitExceededError: LOGIN_LIMIT: the same, and the peer was refused too often; CONCURRENCY_LIMIT: as many
                credentials of this address are being looked at as a tenant may have calls.
            UnavailableError: the store of keys does not answer.
        """
        found = self._authenticator.remembered(authorization)
        if found is not None:
            return found
        with self._looking(address):
            try:
                return await self._authenticator.authenticate(authorization)
            except UnauthenticatedError as error:
                refusal = self._refused(error, authorization, address, transport)
        raise refusal

    @contextmanager
    def _looking(self, address: str) -> Iterator[None]:
        if self._unproven[address] >= self._most_unproven:
            text = f"{self._most_unproven} calls of this address wait for their credential to be checked; try again"
            raise LimitExceededError(
                ErrorReason.CONCURRENCY_LIMIT, text, retry_after_s=self._retry_s, scope="address",
                limit=str(self._most_unproven),
            )  # fmt: skip
        self._unproven[address] += 1
        try:
            yield
        finally:
            self._unproven[address] -= 1
            if not self._unproven[address]:
                del self._unproven[address]

    def _refused(self, error: UnauthenticatedError, authorization: str, address: str, transport: str) -> CrpError:
        wait_s = self._failed.refused(address)
        if wait_s:
            self.metrics.count(transport, ErrorReason.LOGIN_LIMIT)
            if address in self._unlogged or len(self._unlogged) < _MAX_UNLOGGED:
                self._unlogged[address] += 1
            return LimitExceededError(
                ErrorReason.LOGIN_LIMIT,
                f"too many calls from this address had no good credential; the next is looked at in {wait_s:.1f} s",
                retry_after_s=wait_s,
            )
        self.metrics.count(transport, error.reason)
        told: dict[str, Any] = {"reason": error.reason.value, "address": address, "transport": transport}
        told |= named(authorization)
        if unlogged := self._unlogged.pop(address, 0):
            told["not_logged_before"] = unlogged
        self._log.warning("credential refused", **told)
        return error


class RefusalMetrics(Collector):
    """``groundtrail_refused_credentials_total`` by transport and reason, closed sets both."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def count(self, transport: str, reason: ErrorReason) -> None:
        """Count a refusal."""
        self._counts[transport, reason.value] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        refused = CounterMetricFamily(
            "groundtrail_refused_credentials",
            "Calls whose credential did not hold; LOGIN_LIMIT where the peer was told to wait",
            labels=["transport", "reason"],
        )
        for labels, count in sorted(self._counts.items()):
            refused.add_metric(labels, count)
        yield refused


def named(authorization: str) -> dict[str, str]:
    """Return what a log may say of a credential: its kind, the prefix of an API key, the ``kid`` of a JWT."""
    secret = authorization.partition(" ")[2].strip()
    if not authorization:
        return {"kind": "none"}
    if secret.startswith(KEY_START):
        prefix = prefix_of(secret)
        return {"kind": "api_key"} if prefix is None else {"kind": "api_key", "key_prefix": prefix}
    if secret.startswith("eyJ"):
        kid = _kid(secret)
        return {"kind": "jwt", "kid": kid} if kid else {"kind": "jwt"}
    return {"kind": "other"}


def _kid(token: str) -> str:
    """Return the token's ``kid`` if it is a plain short name; whoever sent the token wrote it."""
    head = token[:_MAX_SECRET].partition(".")[0]
    try:
        kid = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))).get("kid")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return kid if isinstance(kid, str) and _PLAIN.fullmatch(kid) else ""
