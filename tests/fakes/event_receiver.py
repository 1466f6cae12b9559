"""A loopback endpoint for audit events that answers as it is told, and remembers what it was sent."""

import asyncio
import contextlib
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.patience import patient

KEY = "a shared key of forty characters, no less".replace(" ", "_")
OK = (200, {})


@dataclass
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def events(self):
        return [json.loads(line) for line in self.body.splitlines()]

    def signed_with(self, key=KEY):
        """Recompute the signature by the page's words."""
        moment, _, mac = self.headers["groundtrail-signature"].partition(",")
        over = moment.removeprefix("t=").encode() + b"." + self.body
        return mac == "v1=" + hmac.new(key.encode(), over, hashlib.sha256).hexdigest()


@dataclass
class Receiver:
    """Listens on loopback; ``answer`` decides, by request, on status and headers, and may wait first."""

    answer: Callable[[Received], Awaitable[tuple[int, dict[str, str]]]] | None = None
    requests: list[Received] = field(default_factory=list)
    accepted: list[Received] = field(default_factory=list)
    port: int = 0
    _server: asyncio.Server | None = None
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def listen(self, port=0, ssl=None):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, ssl=ssl, limit=64 * 1024)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def close(self):
        self._server.close()
        self._server.close_clients() if hasattr(self._server, "close_clients") else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patient(1)):
                await self._server.wait_closed()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/events"

    @property
    def events(self):
        """Accepted events in the order of arrival, duplicates included."""
        return [event for request in self.accepted for event in request.events]

    async def until(self, condition, timeout_s=patient(20)):
        """Wait until what was received fulfils the condition."""
        async with asyncio.timeout(timeout_s), self._changed:
            await self._changed.wait_for(condition)

    async def _serve(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                request = await self._read(reader)
                self.requests.append(request)
                status, headers = await self.answer(request) if self.answer else OK
                if 200 <= status < 300:
                    self.accepted.append(request)
                lines = [f"HTTP/1.1 {status} x", "Content-Length: 2", *(f"{k}: {v}" for k, v in headers.items())]
                writer.write(("\r\n".join(lines) + "\r\n\r\nok").encode())
                await writer.drain()
                async with self._changed:
                    self._changed.notify_all()
        writer.close()

    async def _read(self, reader):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers["content-length"]))
        return Received(head[0].split(" ")[1], headers, body)


def in_turn(*answers, then=OK):
    """Give these answers one after another, and ``then`` ever after."""
    waiting = list(answers)

    async def answer(_request):
        return waiting.pop(0) if waiting else then

    return answer
