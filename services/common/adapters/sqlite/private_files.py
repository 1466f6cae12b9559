"""Files of data are their owner's alone (mode 0600), whatever the directory allows and whatever the umask is."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
DIRECTORY_MODE: Final = 0o700
_OTHERS: Final = 0o077


def made_private(path: Path) -> None:
    """Make the file, empty, when it is not there.

    A file that is there is not opened: to close it would drop the locks that SQLite holds on it in this process. What
    keeps the file from being made is told by whoever opens it next.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))


def keep_private(*paths: Path) -> None:
    """Take from others what they may do with these files; one of another owner stays as it is, as ``doctor`` says."""
    for path in paths:
        with suppress(OSError):
            if path.stat().st_mode & _OTHERS:
                path.chmod(FILE_MODE)
