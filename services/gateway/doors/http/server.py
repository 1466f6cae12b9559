"""uvicorn inside the gateway's event loop: bound before anything is served, drained with the process."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Final, Self

import uvicorn
from fastapi import FastAPI

from services.common.clock import Clock, SystemClock
from services.common.rpc.peer_address import PeerAddresses
from services.common.settings import SettingsError
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.connection import connection_class
from services.gateway.doors.http.listener import BoundedListener, ConnectionBook

_KEEP_ALIVE_S: Final = 65
_READY_POLL_S: Final = 0.01
_BACKLOG: Final = 2_048
_PER_CALL: Final = 2
"""Connections that may stand for each call that may run: most of a proxy's are idle."""


class _Server(uvicorn.Server):
    """Leaves signals to the process, which drains gRPC first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class HttpServer:
    """A running server; ``open`` starts it, ``close`` ends it."""

    def __init__(self, server: uvicorn.Server, listener: BoundedListener) -> None:
        self._server = server
        self._listener = listener
        self._task = asyncio.ensure_future(server.serve(sockets=[listener]))

    @classmethod
    async def open(
        cls,
        app: FastAPI,
        settings: HttpSettings,
        clock: Clock | None = None,
        addresses: PeerAddresses | None = None,
    ) -> Self:
        """Listen and serve.

        Args:
            app: what is served.
            settings: where, and with which bounds.
            clock: the time in refusals of what never became a call; the system's by default.
            addresses: which peers are proxies of ours; none by default.

        Raises:
            SettingsError: the port is taken, or the certificate cannot be used.
        """
        listener = _bound(settings, addresses or PeerAddresses())
        clock = clock or SystemClock()
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,  # the services write an access line for each call
            server_header=False,
            date_header=True,
            lifespan="off",
            backlog=_BACKLOG,
            http=connection_class(settings, clock, listener.book),
            ws="none",
            proxy_headers=False,  # X-Forwarded-For is read where it matters, and believed of proxies of ours alone
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=round(settings.drain_grace_s),
            ssl_certfile=settings.tls_cert_file,
            ssl_keyfile=None if settings.tls_key_file is None else str(settings.tls_key_file),
        )
        try:
            config.load()
        except OSError as error:  # ssl.SSLError is one
            listener.close()
            raise SettingsError([f"GROUNDTRAIL_HTTP__TLS_CERT_FILE: cannot be used: {error}"]) from None
        opened = cls(_Server(config), listener)
        while not opened._server.started:
            if opened._task.done():
                await opened._task
            await asyncio.sleep(_READY_POLL_S)
        return opened

    @property
    def port(self) -> int:
        """The TCP port that it listens on."""
        return int(self._listener.getsockname()[1])

    async def close(self) -> None:
        """Let requests in flight finish for a while, then end; idempotent."""
        self._server.should_exit = True
        await self._task


def _bound(settings: HttpSettings, addresses: PeerAddresses) -> BoundedListener:
    book = ConnectionBook(_PER_CALL * settings.max_connections, settings.max_connections_per_address, addresses)
    try:
        return BoundedListener.bound(settings.host, settings.port or 0, book)
    except OSError as error:
        raise SettingsError(
            [f"GROUNDTRAIL_HTTP__PORT: cannot listen on {settings.host}:{settings.port}: {error.strerror}"]
        ) from None
