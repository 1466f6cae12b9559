"""The last head of each log, one small file each: replaced whole, on the disk before anybody hears of it.

A file that does not hold a head is an error, never an unknown log: whoever damages it gains nothing. One process has
the folder at a time.
"""

import asyncio
import fcntl
import hashlib
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from services.common.errors import StartupError
from services.common.signed_note import Checkpoint

_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
_LOCK: Final = ".lock"
_HEAD: Final = ".head"
_EVIDENCE: Final = ".evidence"


class HeadFolder:
    """Remembers heads.

    Args:
        folder: made with mode 0700 when it is not there.
        lock: handle of the folder's lock.
    """

    def __init__(self, folder: Path, lock: int) -> None:
        self._folder = folder
        self._lock = lock
        self._heads: dict[str, Checkpoint | None] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Take the folder for this process.

        Raises:
            StartupError: another process has it, or it cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
        except OSError as error:
            raise StartupError(f"{folder}: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise StartupError(f"{folder} is used by another process") from None
        return cls(folder, lock)

    def turn(self, origin: str) -> asyncio.Lock:
        """Return the lock under which a log's head is compared and replaced."""
        return self._turns[origin]

    async def known(self, origin: str) -> Checkpoint | None:
        """Return the last head of a log; ``None`` for a log that none is known of.

        Raises:
            ValueError: the file does not hold one.
            OSError: it cannot be read.
        """
        if origin not in self._heads:
            self._heads[origin] = await asyncio.to_thread(self._read, origin)
        return self._heads[origin]

    async def keep(self, head: Checkpoint) -> None:
        """Remember a head; it is on the disk when this returns.

        Raises:
            OSError: it could not be written, and the one before stands.
        """
        await asyncio.to_thread(self._write, self._path(head.origin, _HEAD), str(head))
        self._heads[head.origin] = head

    async def keep_evidence(self, origin: str, body: bytes) -> None:
        """Keep the first submission of a log that does not go on from what is known: it proves what the log did."""
        path = self._path(origin, _EVIDENCE)
        if not path.exists():
            await asyncio.to_thread(self._write, path, body.decode("utf-8", "replace"))

    def close(self) -> None:
        """Give the folder up."""
        os.close(self._lock)

    def _path(self, origin: str, suffix: str) -> Path:
        return self._folder / f"{hashlib.sha256(origin.encode()).hexdigest()}{suffix}"

    def _read(self, origin: str) -> Checkpoint | None:
        path = self._path(origin, _HEAD)
        try:
            head = Checkpoint.parse(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        if head.origin != origin:
            msg = f"{path} holds the head of another log"
            raise ValueError(msg)
        return head

    def _write(self, path: Path, text: str) -> None:
        fresh = path.with_name(f".{path.name}.new")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _MODE)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        _on_folder(self._folder, os.fsync)


def _on_folder(folder: Path, act: Callable[[int], None]) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        act(handle)
    finally:
        os.close(handle)
