"""Who has a data directory: an advisory lock beside each database file, held as long as the store is open (ADR 0090).

A serving process takes the lock alone, unless the operator said that several processes share the store; a command takes
it together with other commands. The system gives the lock back when a process ends, however it ends. What stands in the
lock's file is for the message alone: who holds it, since when, and where it listens.

``flock`` counts for all processes of one machine, containers included. On a network file system it may not hold, but
SQLite's write-ahead log does not work there either: the data directory belongs on a local disk.
"""

import asyncio
import fcntl
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from services.common.adapters.sqlite.failures import unavailable
from services.common.errors import UnavailableError

SUFFIX: Final = ".lock"
SERVER_WAIT_S: Final = 5.0
"""How long a serving process waits at start for commands, or for its predecessor, to let go."""
COMMAND_WAIT_S: Final = 3.0
"""How long a command waits for a serving process to let go."""
_LOOK_EVERY_S: Final = 0.05
_MODE: Final = 0o600
_MAX_BYTES: Final = 4_096
_SHARE: Final = "several processes share a store with GROUNDTRAIL_ENVELOPE__SHARED_STORE=true, set for each of them"


class StoreClaim:
    """A lock that is held.

    Args:
        handle: of the lock's file; closing it gives the lock back.
        exclusive: whether no other process may have the store.
    """

    def __init__(self, handle: int, *, exclusive: bool) -> None:
        self._handle = handle
        self._exclusive = exclusive

    @classmethod
    async def take(cls, path: Path, *, exclusive: bool, serving: bool) -> Self:
        """Take the lock of a database file, waiting a little for whoever holds it.

        Args:
            path: the database file; it need not exist, its directory must.
            exclusive: no other process may have the store; else others that share it may.
            serving: the process serves calls; it waits longer, and is told how to share a store.

        Raises:
            UnavailableError: STORE_UNAVAILABLE: another process holds it; the message says which.
        """
        handle = os.open(path.with_name(path.name + SUFFIX), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
        try:
            loop = asyncio.get_running_loop()
            until = loop.time() + (SERVER_WAIT_S if serving else COMMAND_WAIT_S)
            while not (locked := _locked(handle, exclusive=exclusive)) and loop.time() < until:  # noqa: ASYNC110 - another process
                await asyncio.sleep(_LOOK_EVERY_S)
            note = _note(handle)
        except BaseException:
            os.close(handle)
            raise
        claim = cls(handle, exclusive=exclusive)
        if not locked:
            await claim.close()
            raise _held(path, note, serving=serving)
        claim.tell()
        return claim

    def tell(self, address: str = "") -> None:
        """Write down who holds the lock, for those who wait for it; many holders leave it empty."""
        note = ""
        if self._exclusive:
            since = datetime.now(tz=UTC).isoformat(timespec="seconds")
            note = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since, "address": address})
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, note.encode(), 0)

    async def close(self) -> None:
        """Give the lock back; idempotent."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _locked(handle: int, *, exclusive: bool) -> bool:
    try:
        fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _note(handle: int) -> dict[str, object]:
    try:
        note = json.loads(os.pread(handle, _MAX_BYTES, 0) or b"{}")
    except ValueError:  # read while it was written
        return {}
    return note if isinstance(note, dict) else {}


def _held(path: Path, note: dict[str, object], *, serving: bool) -> UnavailableError:
    who = "other processes (commands, or servers that share it)"
    if note:
        at = f", listening on {note.get('address')}" if note.get("address") else ""
        who = f"a server (process {note.get('pid')} on {note.get('host')}, since {note.get('since')}{at})"
    what_now = _SHARE
    if not serving:
        address = note.get("address") or "its host:port"
        what_now = f"set GROUNDTRAIL_CLIENT__SERVER={address} and GROUNDTRAIL_CLIENT__API_KEY to use it, or stop it"
    return unavailable(path, f"{who} has {path.parent}; {what_now}", retry_after_s=SERVER_WAIT_S)
