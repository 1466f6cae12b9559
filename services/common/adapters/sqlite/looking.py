"""How a database is opened by whoever only looks at it, also in a folder that cannot be written."""

import os
from pathlib import Path


def is_read_only(path: Path) -> bool:
    """Say whether SQLite can make none of its own files beside this one."""
    return not os.access(path.parent, os.W_OK | os.X_OK)


def looking_uri(path: Path) -> str:
    """Return the address of the file for reading alone.

    In a folder that cannot be written SQLite has no place for the index of a write-ahead log. Where there is none,
    the file is whole, and is opened as one that nobody changes; where there is one, opening it fails.
    """
    has_log = path.with_name(f"{path.name}-wal").exists()
    return f"{path.resolve().as_uri()}?{'immutable=1' if is_read_only(path) and not has_log else 'mode=ro'}"
