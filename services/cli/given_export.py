"""The file that a user names as an export: its lines, or what it is instead."""

from pathlib import Path
from typing import Final

from services.cli.kept_heads import read_text
from services.cli.offline import has_record, is_ocsf
from services.common.errors import FieldViolation, InvalidRequestError

_EXPORT: Final = "an export is what `groundtrail export SESSION FILE` wrote"
_OCSF: Final = "is an OCSF export, which is for a SIEM and proves nothing: export again with `--format ndjson`"


def export_lines(path: Path) -> list[str]:
    """Return the lines of a file that is an export, whatever became of it.

    Raises:
        InvalidRequestError: INVALID_FIELD: it cannot be read, or no line of it ever was one of an export: that is a
            wrong file, and no verdict on an export.
    """
    text = read_text(path, "EXPORT")
    lines = text.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    if not has_record(lines):
        why = _OCSF if is_ocsf(lines) else f"is not an export: {_EXPORT}" if text.strip() else f"is empty: {_EXPORT}"
        raise InvalidRequestError.of(FieldViolation("EXPORT", f"{path} {why}"))
    return lines
