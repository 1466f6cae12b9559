"""``/metrics``, ``/healthz`` and ``/readyz`` over plain HTTP/1.1, for scrapers and probes that speak no gRPC.

GET only, no keep-alive, no request body, on loopback unless told otherwise. Everything else is the gateway's work.

It runs in a thread of its own, with a loop of its own: that the process lives must not be denied because its event loop
is busy. ``/healthz`` is answered there; it fails only when the event loop has not turned for ``loop_dead_s``. What the
services know is asked of the event loop, and when that does not answer soon, this is the answer.
"""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from http import HTTPStatus
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from services.common.rpc.heartbeat import Heartbeat
from services.common.rpc.readiness import Readiness
from services.common.settings import SettingsError, TelemetrySettings

READ_TIMEOUT_S: Final = 5.0
LOOP_ANSWER_S: Final = 2.0
"""How long the event loop may take to say what the services know, in seconds; less than probes wait."""
BUSY_S: Final = 1.0
"""From when on ``/healthz`` says that the event loop is busy, in seconds."""
MAX_REQUEST_BYTES: Final = 8192
_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"

Answer = tuple[HTTPStatus, str, bytes]


class HttpEndpoint:
    """The small HTTP server beside the gRPC server.

    Args:
        settings: where it listens, and when the event loop counts as dead.
        registry: what ``/metrics`` tells.
        readiness: what ``/readyz`` tells.
        heartbeat: of the event loop.
    """

    def __init__(
        self, settings: TelemetrySettings, registry: CollectorRegistry, readiness: Readiness, heartbeat: Heartbeat
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._readiness = readiness
        self._heartbeat = heartbeat
        self._port: int | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._asked: dict[str, tuple[Callable[[], Answer], Callable[[], Answer]]] = {
            "/metrics": (self._metrics, self._metrics_of_a_busy_loop),
            "/readyz": (self._ready, self._not_answered),
        }

    @property
    def port(self) -> int | None:
        """The port that it listens on; ``None`` when it is off."""
        return self._port

    async def start(self) -> None:
        """Listen, if a port is set.

        Raises:
            SettingsError: the port is taken.
        """
        if self._settings.http_port is None:
            return
        host, port = self._settings.http_host, self._settings.http_port
        self._loop = asyncio.get_running_loop()
        listening: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, args=(listening,), name="telemetry-http", daemon=True)
        self._thread.start()
        try:
            self._port = await asyncio.wrap_future(listening)
        except OSError as error:
            raise SettingsError(
                [f"GROUNDTRAIL_TELEMETRY__HTTP_PORT: cannot listen on {host}:{port}: {error.strerror}"]
            ) from None

    async def close(self) -> None:
        """Stop listening."""
        if self._port is not None and self._own_loop is not None and self._thread is not None:
            self._port = None
            self._own_loop.call_soon_threadsafe(self._stop.set)
            await asyncio.to_thread(self._thread.join)

    def _run(self, listening: "Future[int]") -> None:
        try:
            asyncio.run(self._serving(listening))
        except BaseException as error:  # noqa: BLE001 - told to whoever started it
            if not listening.done():
                listening.set_exception(error)

    async def _serving(self, listening: "Future[int]") -> None:
        self._own_loop = asyncio.get_running_loop()
        host, port = self._settings.http_host, self._settings.http_port
        async with await asyncio.start_server(self._serve, host, port, limit=MAX_REQUEST_BYTES) as server:
            listening.set_result(int(server.sockets[0].getsockname()[1]))
            await self._stop.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                status, kind, body = await self._answer(head)
                writer.write(_head(status, kind, len(body)) + body)
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a client that does not finish its request gets no answer
        finally:
            writer.close()

    async def _answer(self, head: bytes) -> Answer:
        method, _, rest = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")
        path = rest.split(" ")[0].partition("?")[0]
        if path != "/healthz" and path not in self._asked:
            return HTTPStatus.NOT_FOUND, _TEXT, b"try /metrics, /healthz or /readyz\n"
        if method != "GET":
            return HTTPStatus.METHOD_NOT_ALLOWED, _TEXT, b"GET only\n"
        return self._alive() if path == "/healthz" else await self._ask(*self._asked[path])

    async def _ask(self, page: Callable[[], Answer], otherwise: Callable[[], Answer]) -> Answer:
        """Return what the event loop says, or ``otherwise`` when it does not answer."""
        if self._loop is None or self._loop.is_closed():
            return otherwise()
        answer: Future[Answer] = Future()

        def say() -> None:
            if answer.set_running_or_notify_cancel():
                try:
                    answer.set_result(page())
                except Exception as error:  # noqa: BLE001 - raised where it is awaited
                    answer.set_exception(error)

        self._loop.call_soon_threadsafe(say)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), LOOP_ANSWER_S)
        except TimeoutError:
            return otherwise()

    def _alive(self) -> Answer:
        busy_s = self._heartbeat.unresponsive_s()
        if busy_s > self._settings.loop_dead_s:
            text = f"dead: the event loop has not turned for {busy_s:.1f} s\n"
            return HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, text.encode()
        text = f"alive, busy: the event loop has not turned for {busy_s:.1f} s\n" if busy_s > BUSY_S else "alive\n"
        return HTTPStatus.OK, _TEXT, text.encode()

    def _metrics(self) -> Answer:
        return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(self._registry)

    def _metrics_of_a_busy_loop(self) -> Answer:
        alone = CollectorRegistry()
        alone.register(self._heartbeat)
        return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(alone)

    def _ready(self) -> Answer:
        status = HTTPStatus.OK if self._readiness.ready else HTTPStatus.SERVICE_UNAVAILABLE
        services = self._readiness.states()
        details = self._readiness.details()
        body = {"ready": self._readiness.ready, "services": services, **({"details": details} if details else {})}
        return status, _JSON, json.dumps(body).encode() + b"\n"

    def _not_answered(self) -> Answer:
        problem = f"the event loop has not turned for {self._heartbeat.unresponsive_s():.1f} s"
        body = {"ready": False, "services": {}, "details": {"event_loop": problem}}
        return HTTPStatus.SERVICE_UNAVAILABLE, _JSON, json.dumps(body).encode() + b"\n"


def _head(status: HTTPStatus, kind: str, length: int) -> bytes:
    lines = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {kind}",
        f"Content-Length: {length}",
        "Cache-Control: no-store",
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
