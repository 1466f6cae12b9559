"""The protocol over HTTP on the loopback interface, until SIGTERM or Ctrl-C; then calls in flight end first."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator
from typing import Final

import uvicorn
from starlette.applications import Starlette

from services.cli.console import Output
from services.common.errors import StartupError

_DRAIN_S: Final = 10
_HOST: Final = "127.0.0.1"


class _Server(uvicorn.Server):
    """Leaves signals to the command."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


async def listen(app: Starlette, port: int, path: str, output: Output) -> None:
    """Serve until the process is told to end.

    Args:
        app: what is served.
        port: on the loopback interface; 0 = a free one.
        path: of the protocol, for people.
        output: says where it listens, before the first call is taken.

    Raises:
        StartupError: the port is taken.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, port))
        except OSError as error:
            raise StartupError(f"cannot listen on {_HOST}:{port}: {error.strerror}") from None
        listener.listen()
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, ws="none", timeout_graceful_shutdown=_DRAIN_S
        )
        server = _Server(config)
        loop = asyncio.get_running_loop()
        for told in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(told, _end, server)
        url = f"http://{_HOST}:{listener.getsockname()[1]}{path}"
        output.say(f"tools at {url}")
        output.line({"url": url})
        await server.serve(sockets=[listener])


def _end(server: uvicorn.Server) -> None:
    server.should_exit = True
