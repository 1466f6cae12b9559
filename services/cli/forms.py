"""The words that ``--format`` takes: known before a command's own module is loaded."""

from enum import StrEnum, unique


@unique
class DagForm(StrEnum):
    """What ``dag --format`` takes."""

    TREE = "tree"
    DOT = "dot"
    MERMAID = "mermaid"
    JSON = "json"


@unique
class ExportForm(StrEnum):
    """What ``export --format`` takes."""

    NDJSON = "ndjson"
    OCSF = "ocsf"
