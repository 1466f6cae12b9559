"""``/metrics``, ``/healthz`` and ``/readyz`` over plain HTTP/1.1, for scrapers and probes that speak no gRPC.

GET only, no keep-alive, no request body, on loopback unless told otherwise. Everything else is the gateway's work.
"""

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from services.common.rpc.readiness import Readiness
from services.common.settings import SettingsError, TelemetrySettings

READ_TIMEOUT_S: Final = 5.0
MAX_REQUEST_BYTES: Final = 8192
_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"

Answer = tuple[HTTPStatus, str, bytes]


class HttpEndpoint:
    """The small HTTP server beside the gRPC server."""

    def __init__(self, settings: TelemetrySettings, registry: CollectorRegistry, readiness: Readiness) -> None:
        self._settings = settings
        self._registry = registry
        self._readiness = readiness
        self._server: asyncio.Server | None = None
        self._pages: dict[str, Callable[[], Answer]] = {
            "/metrics": self._metrics,
            "/healthz": lambda: (HTTPStatus.OK, _TEXT, b"alive\n"),
            "/readyz": self._ready,
        }

    @property
    def port(self) -> int | None:
        """The port that it listens on; ``None`` when it is off."""
        if self._server is None:
            return None
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Listen, if a port is set.

        Raises:
            SettingsError: the port is taken.
        """
        if self._settings.http_port is None:
            return
        host, port = self._settings.http_host, self._settings.http_port
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=MAX_REQUEST_BYTES)
        except OSError as error:
            raise SettingsError(
                [f"GROUNDTRAIL_TELEMETRY__HTTP_PORT: cannot listen on {host}:{port}: {error.strerror}"]
            ) from None

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                status, kind, body = self._answer(head)
                writer.write(_head(status, kind, len(body)) + body)
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a client that does not finish its request gets no answer
        finally:
            writer.close()

    def _answer(self, head: bytes) -> Answer:
        method, _, rest = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")
        page = self._pages.get(rest.split(" ")[0].partition("?")[0])
        if page is None:
            return HTTPStatus.NOT_FOUND, _TEXT, b"try /metrics, /healthz or /readyz\n"
        if method != "GET":
            return HTTPStatus.METHOD_NOT_ALLOWED, _TEXT, b"GET only\n"
        return page()

    def _metrics(self) -> Answer:
        return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(self._registry)

    def _ready(self) -> Answer:
        status = HTTPStatus.OK if self._readiness.ready else HTTPStatus.SERVICE_UNAVAILABLE
        services = {name: problem or "SERVING" for name, problem in sorted(self._readiness.problems.items())}
        details = self._readiness.details()
        body = {"ready": self._readiness.ready, "services": services, **({"details": details} if details else {})}
        return status, _JSON, json.dumps(body).encode() + b"\n"


def _head(status: HTTPStatus, kind: str, length: int) -> bytes:
    lines = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {kind}",
        f"Content-Length: {length}",
        "Cache-Control: no-store",
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
