"""``EventEndpoint`` over HTTP/1.1 (httpx): one POST a batch, to a judged address, never further."""

import asyncio
import hashlib
import hmac
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx

from services.common.adapters.http.deliveries import deliver, judge
from services.common.adapters.http.guarded import GuardedHost, HostTraits, Resolve, resolve
from services.common.clock import Clock
from services.common.ports.event_endpoint import Delivery, EventBatch, Outcome
from services.common.settings import SettingsError
from services.common.settings.event_sink import EventSinkSettings

TENANT_HEADER: Final = "Groundtrail-Tenant"
"""Whose events a batch holds, percent-encoded."""
SIGNATURE_HEADER: Final = "Groundtrail-Signature"
COUNT_HEADER: Final = "Groundtrail-Events"
MIN_KEY_CHARS: Final = 32
_MAX_SECRET_BYTES: Final = 16 * 1024
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def signature(key: bytes, moment: int, body: bytes) -> str:
    """Return the value of ``Groundtrail-Signature``: ``t=<moment>,v1=<hex>``.

    The HMAC-SHA256 is over the moment in decimal, a full stop and the body, so that a recorded request cannot be used
    later by somebody else than its recorder.

    Args:
        key: the shared secret.
        moment: seconds since 1970.
        body: the request's body.
    """
    digest = hmac.new(key, f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={digest}"


class HttpEventEndpoint:
    """One endpoint.

    Args:
        settings: with a url.
        clock: tells when a request was signed.
        resolver: tells a host's addresses.
    """

    def __init__(self, settings: EventSinkSettings, clock: Clock, resolver: Resolve = resolve) -> None:
        self._settings = settings
        self._clock = clock
        private = settings.host in {host.lower() for host in settings.private_hosts}
        self._host = GuardedHost(settings.url, HostTraits(private, settings.ca_file, settings.timeout_s), resolver)

    async def send(self, batch: EventBatch) -> Delivery:
        """Post the batch once. Raises nothing but cancellation."""
        return await deliver(lambda: self._send(batch), self._host.host, self._settings.timeout_s)

    async def problem(self) -> str:
        """Return why nothing could be sent: secrets and addresses, without connecting."""
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                _, problem = await self._host.addresses()
                await asyncio.to_thread(self._headers, EventBatch("", b"", "", 0))
        except TimeoutError:
            return f"{self._host.host}: no answer of the name server within {self._settings.timeout_s} s"
        except OSError as error:
            return f"{self._host.host}: {error.strerror or type(error).__name__}"
        except SettingsError as error:
            return "; ".join(error.problems)
        return problem

    async def close(self) -> None:
        """Close the connection; idempotent."""
        await self._host.close()

    async def _send(self, batch: EventBatch) -> Delivery:
        async def headers() -> Mapping[str, str]:
            return await asyncio.to_thread(self._headers, batch)

        return self._judged((await self._host.post(self._host.path, headers, batch.body)).response)

    def _headers(self, batch: EventBatch) -> Mapping[str, str]:
        settings = self._settings
        key = read_secret(settings.signing_key_file, MIN_KEY_CHARS) if settings.signing_key_file else ""
        moment = int(self._clock.now().timestamp())
        headers = {
            "Content-Type": batch.media_type,
            TENANT_HEADER: quote(batch.tenant_id, safe="-._~:@"),
            COUNT_HEADER: str(batch.count),
            SIGNATURE_HEADER: signature(key.encode(), moment, batch.body),
        }
        if settings.bearer_token_file:
            headers["Authorization"] = f"Bearer {read_secret(settings.bearer_token_file, 1)}"
        return headers

    def _judged(self, answer: httpx.Response) -> Delivery:
        return judge(answer, self._clock.now(), "set the url it leads to", _outcome)


def _outcome(status: int) -> Outcome:
    return Outcome.TOO_LARGE if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE else Outcome.REFUSED


async def open_event_endpoint(settings: EventSinkSettings, clock: Clock) -> HttpEventEndpoint:
    """Return the configured endpoint after its secrets and certificates were read once.

    Raises:
        SettingsError: a file cannot be read, is readable by others, or holds no fitting secret.
    """
    return await asyncio.to_thread(_opened, settings, clock)


def _opened(settings: EventSinkSettings, clock: Clock) -> HttpEventEndpoint:
    if settings.signing_key_file:
        read_secret(settings.signing_key_file, MIN_KEY_CHARS)
    if settings.bearer_token_file:
        read_secret(settings.bearer_token_file, 1)
    try:
        return HttpEventEndpoint(settings, clock)
    except OSError as error:  # ssl.SSLError is one
        text = f"GROUNDTRAIL_EVENT_SINK__CA_FILE: {settings.ca_file} cannot be used: {error.strerror or error}"
        raise SettingsError([text]) from None


def read_secret(path: Path, at_least: int) -> str:
    """Return a file's secret without the white space around it.

    Raises:
        SettingsError: the file cannot be read, is readable by others, or what it holds cannot be a header or a key.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if os.fstat(descriptor).st_mode & _OTHERS:
                raise SettingsError([f"{path} can be read by others than its owner; chmod 600 it"])
            text = file.read(_MAX_SECRET_BYTES).decode("ascii", "replace").strip()
    except OSError as error:
        raise SettingsError([f"{path}: {error.strerror}"]) from None
    if len(text) < at_least or not all("!" <= character <= "~" for character in text):
        raise SettingsError([f"{path} must hold at least {at_least} printable ASCII characters without spaces"])
    return text
