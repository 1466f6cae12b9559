"""Sets that are packed until the run that they judge: opened when it is said, and only as the README has them."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

from evaluation.data import EvaluationDataError, read_rows


def is_there(folder: Path, name: str, *, open_test: bool) -> bool:
    """Say whether a set can be read: it lies there open, or packed and may be opened."""
    return (folder / f"{name}.jsonl").is_file() or (open_test and (folder / f"{name}.jsonl.gz").is_file())


def rows_of(folder: Path, name: str, *, open_test: bool) -> list[dict[str, Any]]:
    """Return the rows of ``name.jsonl``, or of ``name.jsonl.gz``, which is held back.

    Raises:
        EvaluationDataError: it is held back and ``open_test`` is not said, its SHA-256 is not in the README beside it,
            or there is no such file.
    """
    packed = folder / f"{name}.jsonl.gz"
    if not packed.is_file():
        return read_rows(folder / f"{name}.jsonl")
    if not open_test:
        raise EvaluationDataError(f"{packed} is opened once: say --open-test when this is that once")
    try:
        lines = gzip.decompress(packed.read_bytes())
    except (OSError, EOFError) as error:
        raise EvaluationDataError(f"{packed} cannot be read: {error}") from error
    require_digest(packed, lines)
    return [json.loads(line) for line in lines.decode().splitlines() if line.strip()]


def require_digest(path: Path, lines: bytes) -> None:
    """Refuse a file that is not the one whose SHA-256 the README beside it tells.

    Raises:
        EvaluationDataError: it is another.
    """
    page = path.parent / "README.md"
    known = page.read_text(encoding="utf-8") if page.is_file() else ""
    if hashlib.sha256(lines).hexdigest() not in known:
        raise EvaluationDataError(f"{path} is not the file whose SHA-256 {page} tells")
