"""uvicorn on a Unix socket that its owner, and a group if one is asked for, may talk to."""

import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self

import uvicorn
from fastapi import FastAPI

from services.common.errors import StartupError

_AT_ONCE: Final = 64
_READY_POLL_S: Final = 0.01


class _Server(uvicorn.Server):
    """Leaves signals to the process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class UnixServer:
    """A running server; ``open`` starts it, ``close`` ends it."""

    def __init__(self, server: uvicorn.Server, path: Path, listener: socket.socket) -> None:
        self._server = server
        self._path = path
        self._task = asyncio.ensure_future(server.serve(sockets=[listener]))

    @classmethod
    async def open(cls, app: FastAPI, path: Path, *, for_group: bool) -> Self:
        """Listen and serve.

        Raises:
            StartupError: the path cannot be had, or another process listens there.
        """
        listener = _bound(path, 0o660 if for_group else 0o600)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            http="h11",
            ws="none",
            proxy_headers=False,
            limit_concurrency=_AT_ONCE,
        )
        opened = cls(_Server(config), path, listener)
        while not opened._server.started:
            if opened._task.done():
                await opened._task
            await asyncio.sleep(_READY_POLL_S)
        return opened

    async def close(self) -> None:
        """Let requests in flight finish, then end and take the socket away; idempotent."""
        self._server.should_exit = True
        await self._task
        self._path.unlink(missing_ok=True)


def _bound(path: Path, mode: int) -> socket.socket:
    """Return a socket at the path; one that nobody listens at any more is replaced."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists():
            _remove_dead(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)  # nobody gets in between bind and chmod
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        path.chmod(mode)
    except OSError as error:
        raise StartupError(f"{path}: {error.strerror or error}") from None
    return listener


def _remove_dead(path: Path) -> None:
    if not stat.S_ISSOCK(path.stat().st_mode):
        raise StartupError(f"{path} is there and is no socket")
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise StartupError(f"another process listens at {path}")
