"""``EventEndpoint`` over HTTP/1.1 (httpx): one POST a batch, to a judged address, never further.

No redirect is followed, no proxy of the environment is used, certificates are verified against the host's name though
the connection goes to an address. An answer's body is read up to a bound and thrown away.
"""

import asyncio
import errno
import hashlib
import hmac
import math
import os
import socket
import ssl
import stat
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

import httpx

from services.common.adapters.http.addresses import refusal
from services.common.clock import Clock
from services.common.ports.event_endpoint import Delivery, EventBatch, Outcome
from services.common.settings import SettingsError
from services.common.settings.event_sink import EventSinkSettings

TENANT_HEADER: Final = "Groundtrail-Tenant"
"""Whose events a batch holds, percent-encoded."""
SIGNATURE_HEADER: Final = "Groundtrail-Signature"
COUNT_HEADER: Final = "Groundtrail-Events"
MIN_KEY_CHARS: Final = 32
MAX_RETRY_AFTER_S: Final = 3600.0
_MAX_ANSWER_BYTES: Final = 64 * 1024
_MAX_SECRET_BYTES: Final = 16 * 1024
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO

Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """Return the host's addresses, each once, in the resolver's order.

    Raises:
        OSError: it has none.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # a label that is empty or too long
        raise OSError(errno.EINVAL, "is no host name") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


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


def retry_after_s(value: str, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for (RFC 9110), 0 to 3600; ``None`` for what is none."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_RETRY_AFTER_S)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = (moment - now).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_S) if math.isfinite(seconds) else None


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
        self._resolve = resolver
        parts = urlsplit(settings.url)
        self._scheme, self._host = parts.scheme, settings.host
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._host_header = parts.netloc
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._private = self._host in {host.lower() for host in settings.private_hosts}
        self._attempt = 0
        context = ssl.create_default_context(cafile=str(settings.ca_file) if settings.ca_file else None)
        self._client = httpx.AsyncClient(
            verify=context,
            trust_env=False,
            follow_redirects=False,
            timeout=settings.timeout_s,
            limits=httpx.Limits(max_connections=2, max_keepalive_connections=1),
        )

    async def send(self, batch: EventBatch) -> Delivery:
        """Post the batch once. Raises nothing but cancellation."""
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await self._send(batch)
        except TimeoutError:
            return Delivery(Outcome.UNREACHABLE, f"no answer within {self._settings.timeout_s} s")
        except httpx.HTTPError as error:
            return Delivery(Outcome.UNREACHABLE, _named(error))
        except OSError as error:
            return Delivery(Outcome.UNREACHABLE, f"{self._host}: {error.strerror or type(error).__name__}")
        except SettingsError as error:
            return Delivery(Outcome.FORBIDDEN, "; ".join(error.problems))

    async def problem(self) -> str:
        """Return why nothing could be sent: secrets and addresses, without connecting."""
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                _, problem = await self._addresses()
                await asyncio.to_thread(self._headers, EventBatch("", b"", "", 0))
        except TimeoutError:
            return f"{self._host}: no answer of the name server within {self._settings.timeout_s} s"
        except OSError as error:
            return f"{self._host}: {error.strerror or type(error).__name__}"
        except SettingsError as error:
            return "; ".join(error.problems)
        return problem

    async def close(self) -> None:
        """Close the connection; idempotent."""
        await self._client.aclose()

    async def _send(self, batch: EventBatch) -> Delivery:
        addresses, problem = await self._addresses()
        if problem:
            return Delivery(Outcome.FORBIDDEN, problem)
        headers = await asyncio.to_thread(self._headers, batch)
        address = addresses[self._attempt % len(addresses)]
        self._attempt += 1  # the next attempt tries the next address
        literal = f"[{address}]" if ":" in address else address
        request = self._client.build_request(
            "POST",
            f"{self._scheme}://{literal}:{self._port}{self._path}",
            headers=headers,
            content=batch.body,
            extensions={"sni_hostname": self._host},
        )
        answer = await self._client.send(request, stream=True)
        try:
            await _drained(answer)
            delivery = self._judged(answer)
        finally:
            await answer.aclose()
        if delivery.outcome is Outcome.ACCEPTED:
            self._attempt -= 1  # and the next batch takes the one that works
        return delivery

    async def _addresses(self) -> tuple[list[str], str]:
        """Return the host's addresses of this moment, and why they must not be talked to."""
        addresses = await self._resolve(self._host, self._port)
        problem = refusal(addresses, private_allowed=self._private, plaintext=self._scheme == "http")
        return addresses, problem and f"{self._host}: {problem}"

    def _headers(self, batch: EventBatch) -> Mapping[str, str]:
        settings = self._settings
        key = _secret(settings.signing_key_file, MIN_KEY_CHARS) if settings.signing_key_file else ""
        moment = int(self._clock.now().timestamp())
        headers = {
            "Host": self._host_header,
            "Content-Type": batch.media_type,
            "User-Agent": "groundtrail",
            "Accept-Encoding": "identity",
            TENANT_HEADER: quote(batch.tenant_id, safe="-._~:@"),
            COUNT_HEADER: str(batch.count),
            SIGNATURE_HEADER: signature(key.encode(), moment, batch.body),
        }
        if settings.bearer_token_file:
            headers["Authorization"] = f"Bearer {_secret(settings.bearer_token_file, 1)}"
        return headers

    def _judged(self, answer: httpx.Response) -> Delivery:
        status = answer.status_code
        asked = retry_after_s(answer.headers.get("retry-after", ""), self._clock.now())
        if answer.is_success:
            return Delivery(Outcome.ACCEPTED)
        if answer.is_redirect:
            return Delivery(Outcome.REFUSED, f"HTTP {status}: redirects are not followed; set the url it leads to")
        if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
            return Delivery(Outcome.TOO_LARGE, f"HTTP {status}", asked)
        if status in {httpx.codes.TOO_MANY_REQUESTS, httpx.codes.SERVICE_UNAVAILABLE}:
            return Delivery(Outcome.THROTTLED, f"HTTP {status}", asked)
        return Delivery(Outcome.REFUSED, f"HTTP {status}", asked)


async def open_event_endpoint(settings: EventSinkSettings, clock: Clock) -> HttpEventEndpoint:
    """Return the configured endpoint after its secrets and certificates were read once.

    Raises:
        SettingsError: a file cannot be read, is readable by others, or holds no fitting secret.
    """
    return await asyncio.to_thread(_opened, settings, clock)


def _opened(settings: EventSinkSettings, clock: Clock) -> HttpEventEndpoint:
    if settings.signing_key_file:
        _secret(settings.signing_key_file, MIN_KEY_CHARS)
    if settings.bearer_token_file:
        _secret(settings.bearer_token_file, 1)
    try:
        return HttpEventEndpoint(settings, clock)
    except OSError as error:  # ssl.SSLError is one
        text = f"GROUNDTRAIL_EVENT_SINK__CA_FILE: {settings.ca_file} cannot be used: {error.strerror or error}"
        raise SettingsError([text]) from None


def _secret(path: Path, at_least: int) -> str:
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


async def _drained(answer: httpx.Response) -> None:
    """Read what fits into the bound, so that the connection can be used again; a longer answer costs the connection."""
    size = 0
    async for part in answer.aiter_raw():
        size += len(part)
        if size > _MAX_ANSWER_BYTES:
            return


def _named(error: httpx.HTTPError) -> str:
    """Return what went wrong without the request's particulars."""
    return f"{type(error).__name__}: {str(error)[:200]}" if str(error) else type(error).__name__
