"""One HTTP/1.1 host (httpx), talked to at judged addresses alone (ADR 0057).

No redirect is followed, no proxy of the environment is used, certificates are verified against the host's name though
the connection goes to an address. An answer's body is read up to a bound.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx

from services.common.adapters.http.addresses import refusal

MAX_ANSWER_BYTES: Final = 64 * 1024

Resolve = Callable[[str, int], Awaitable[list[str]]]


class ForbiddenAddressError(Exception):
    """The host must not be talked to; the message says why. Nothing was sent."""


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


@dataclass(frozen=True, slots=True)
class HostTraits:
    """How a host may be talked to.

    Attributes:
        private_allowed: it may have private and loopback addresses.
        ca_file: PEM certificates to trust instead of the system's.
        timeout_s: of each step of a request.
    """

    private_allowed: bool
    ca_file: Path | None
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; ``body`` is cut at the bound."""

    response: httpx.Response
    body: bytes = field(repr=False)


class GuardedHost:
    """The host of a url.

    Args:
        url: ``http`` or ``https``, checked before.
        traits: what is allowed.
        resolver: tells a host's addresses.

    Raises:
        OSError: the certificates cannot be read.
    """

    def __init__(self, url: str, traits: HostTraits, resolver: Resolve = resolve) -> None:
        parts = urlsplit(url)
        self.host = (parts.hostname or "").lower()
        self.path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._scheme = parts.scheme
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._host_header = parts.netloc
        self._private = traits.private_allowed
        self._resolve = resolver
        self._attempt = 0
        context = ssl.create_default_context(cafile=str(traits.ca_file) if traits.ca_file else None)
        self._client = httpx.AsyncClient(
            verify=context,
            trust_env=False,
            follow_redirects=False,
            timeout=traits.timeout_s,
            limits=httpx.Limits(max_connections=2, max_keepalive_connections=1),
        )

    async def addresses(self) -> tuple[list[str], str]:
        """Return the host's addresses of this moment, and why they must not be talked to.

        Raises:
            OSError: it has none.
        """
        addresses = await self._resolve(self.host, self._port)
        problem = refusal(addresses, private_allowed=self._private, plaintext=self._scheme == "http")
        return addresses, problem and f"{self.host}: {problem}"

    async def post(self, path: str, headers: Callable[[], Awaitable[Mapping[str, str]]], body: bytes) -> Answer:
        """Post once, to the next of the host's addresses; after a 2xx answer the next post goes to the same one.

        Args:
            path: with its query.
            headers: made once the address was judged.
            body: of the request.

        Raises:
            ForbiddenAddressError: nothing was sent.
            OSError, httpx.HTTPError: there is no answer.
        """
        addresses, problem = await self.addresses()
        if problem:
            raise ForbiddenAddressError(problem)
        given = await headers()
        address = addresses[self._attempt % len(addresses)]
        self._attempt += 1  # the next attempt tries the next address
        literal = f"[{address}]" if ":" in address else address
        request = self._client.build_request(
            "POST",
            f"{self._scheme}://{literal}:{self._port}{path}",
            headers={"Host": self._host_header, "User-Agent": "groundtrail", "Accept-Encoding": "identity", **given},
            content=body,
            extensions={"sni_hostname": self.host},
        )
        response = await self._client.send(request, stream=True)
        try:
            answer = Answer(response, await _read(response))
        finally:
            await response.aclose()
        if response.is_success:
            self._attempt -= 1  # and the next one takes the one that works
        return answer

    async def close(self) -> None:
        """Close the connection; idempotent."""
        await self._client.aclose()


async def _read(response: httpx.Response) -> bytes:
    """Read what fits into the bound, so that the connection can be used again; a longer answer costs the connection."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            break
    return b"".join(parts)[:MAX_ANSWER_BYTES]


def named(error: httpx.HTTPError) -> str:
    """Return what went wrong without the request's particulars."""
    return f"{type(error).__name__}: {str(error)[:200]}" if str(error) else type(error).__name__
