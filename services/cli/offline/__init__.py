"""Checking an export with no server and no secret: the file, the log's public key, perhaps an earlier checkpoint."""

from services.cli.offline.checking import Checked, Verdict, check_export
from services.cli.offline.lines import BadLineError, Fault, has_record, is_ocsf, read_lines
from services.cli.offline.witnesses import WitnessDemand

__all__ = [
    "BadLineError",
    "Checked",
    "Fault",
    "Verdict",
    "WitnessDemand",
    "check_export",
    "has_record",
    "is_ocsf",
    "read_lines",
]
