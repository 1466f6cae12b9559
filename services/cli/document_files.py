"""Reading the files that a caller names as documents: ordinary ones alone, and no more of one than any document has."""

from pathlib import Path
from typing import Final

from services.common.documents.limits import require_at_most

MOST_BYTES: Final = 512 << 20
"""No server takes a document of so many; what is longer, or grows while it is read, is refused without holding it."""


def read_document_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return a file's bytes. Blocks: call it off the event loop.

    Args:
        path: of an ordinary file; ``documents`` passes no other.
        most: bytes; a longer file is refused.

    Raises:
        OSError: it cannot be read.
        LimitExceededError: MESSAGE_TOO_LARGE.
    """
    with path.open("rb") as file:
        content = file.read(most + 1)
    require_at_most("bytes", len(content), most)
    return content
