"""Ed25519 keys in files that their owner alone can read: 64 hex digits, made at the first start."""

import os
import re
import secrets
import stat
from pathlib import Path
from typing import Final

from services.common.errors import StartupError

SEED_BYTES: Final = 32
_DIGITS: Final = re.compile(r"[0-9a-fA-F]{64}")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def key_file(path: Path) -> bytes:
    """Return the seed in a file, made of random bytes when the file is not there.

    Raises:
        StartupError: the file cannot be read or written, can be read by others, or holds no key.
    """
    try:
        _make(path)
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        with os.fdopen(handle, encoding="ascii", errors="replace") as file:
            if os.fstat(handle).st_mode & _OTHERS:
                raise StartupError(f"{path} can be read by others than its owner; chmod 600 it")
            text = file.read(256).strip()
    except OSError as error:
        raise StartupError(f"{path}: {error.strerror}") from None
    if not _DIGITS.fullmatch(text):
        raise StartupError(f"{path} must hold 64 hex digits and nothing else")
    return bytes.fromhex(text)


def _make(path: Path) -> None:
    """Write a fresh key, whole or not at all, unless there is one."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(SEED_BYTES)}\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(part)
        except FileExistsError:
            return  # of two that start at once the first one's key stays
    finally:
        part.unlink()
